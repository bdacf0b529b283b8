"""What a session works with: settings, tools, rules, hooks, MCP servers, made once the prompt is on the screen."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from oasis.agent.assembly import Toolbox
    from oasis.agent.gate import Asker
    from oasis.agent.hooks import Hooks
    from oasis.agent.loop import Agent
    from oasis.agent.permissions import Permissions
    from oasis.agent.session import Session
    from oasis.agent.undo import Undo
    from oasis.config import Settings
    from oasis.core.events import Event
    from oasis.core.tool import Preview, Tool
    from oasis.models.base import Model

_HEAVY = ("oasis.agent.assembly", "oasis.models.connect", "oasis.agent.sessions", "oasis.agent.first_start")


@dataclass(frozen=True)
class Start:
    """What was asked for on the command line. `flags` are settings; `resume`: a session's id, or `last`; `task`: the
    first message."""

    project: Path
    flags: Mapping[str, Any] = field(default_factory=dict[str, Any])
    lane: str = ""
    resume: str | None = None
    compact_at: str = ""
    site: Path | None = None
    task: str = ""


@dataclass(frozen=True)
class Equipment:
    """All of it."""

    settings: "Settings"
    box: "Toolbox"
    permissions: "Permissions"
    hooks: "Hooks | None" = None

    def tool(self, name: str) -> "Tool | None":
        return next((tool for tool in self.box.tools if tool.spec.name == name), None)

    def propose(self, name: str, preview: "Preview") -> tuple[str, ...]:
        """Patterns that would allow calls like this one for the session."""
        from oasis.agent.permissions import propose  # noqa: PLC0415

        tool = self.tool(name)
        return propose(tool, preview) if tool else ()


async def equip(start: Start, say: Callable[[str], None]) -> Equipment:
    """Read the settings and make the tools; heavy imports in a thread, so that keys are heard meanwhile.

    Raises ConfigError.
    """
    for name in _HEAVY:
        await asyncio.to_thread(import_module, name)
    from oasis.agent.assembly import toolbox  # noqa: PLC0415
    from oasis.agent.hooks import hooks_of  # noqa: PLC0415
    from oasis.agent.permissions import Mode, Permissions  # noqa: PLC0415
    from oasis.config import load  # noqa: PLC0415

    settings = load(start.project, start.flags)
    box = await asyncio.to_thread(toolbox, start.project, settings.packs, start.site)
    permissions = Permissions(Mode(settings.mode), settings.allow, settings.deny)
    return Equipment(settings, box, permissions, hooks_of(settings, start.project, say))


async def with_servers(equipment: Equipment, stack: AsyncExitStack, say: Callable[[str], None]) -> "Toolbox":
    """The tools with the MCP servers of the settings, which end with `stack`. Those that are down are named."""
    from oasis.agent.assembly import with_servers  # noqa: PLC0415

    return await stack.enter_async_context(with_servers(equipment.box, equipment.settings, say))


def with_packs(equipment: Equipment, start: Start, names: Sequence[str]) -> Equipment:
    """The same with the tools of these packs."""
    from oasis.agent.assembly import toolbox  # noqa: PLC0415

    box = replace(toolbox(start.project, names, start.site), mcp=equipment.box.mcp)
    return replace(equipment, box=box, settings=equipment.settings.model_copy(update={"packs": list(names)}))


def agent_over(
    session: "Session",
    model: "Model",
    equipment: Equipment,
    *,
    show: "Callable[[Event], None]",
    ask: "Asker",
    compact_at: str,
) -> "tuple[Undo, Agent]":
    """The agent over a session: its tools watched for undoing, its rules as the person sets them while it runs."""
    from oasis.agent.assembly import agent  # noqa: PLC0415
    from oasis.agent.compaction_policy import CompactAt  # noqa: PLC0415
    from oasis.agent.folders import undo_folder  # noqa: PLC0415
    from oasis.agent.loop import Limits  # noqa: PLC0415
    from oasis.agent.undo import Undo  # noqa: PLC0415
    from oasis.models.base import Sampling  # noqa: PLC0415

    settings = equipment.settings
    undo = Undo(equipment.box.workspace, undo_folder() / session.id)
    loop = agent(
        model,
        session,
        equipment.box,
        show,
        ask,
        permissions=equipment.permissions,
        limits=Limits(settings.max_steps, settings.max_minutes),
        sampling=Sampling(temperature=settings.temperature),
        compact_at=CompactAt.parse(compact_at) if compact_at else None,
        hooks=equipment.hooks,
        undo=undo,
    )
    return undo, loop
