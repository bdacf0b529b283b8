"""What a session works with: settings, tools, rules, hooks, MCP servers, made once the prompt is on the screen."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from oasis.core.items import Notice

if TYPE_CHECKING:
    from oasis.agent.assembly import Toolbox
    from oasis.agent.hooks import Hooks
    from oasis.agent.permissions import Permissions
    from oasis.config import Settings
    from oasis.core.prefix import Prefix
    from oasis.core.tool import Tool
    from oasis.tools.mcp.servers import Mcp
    from oasis.tools.registry import Registry

_HEAVY = (
    "oasis.agent.assembly",
    "oasis.models.connect",
    "oasis.agent.sessions",
    "oasis.agent.undo",
    "oasis.agent.hooks",
)


@dataclass(frozen=True)
class Start:
    """What was asked for on the command line. `flags` are settings; `resume`: a session's id, or `last`."""

    project: Path
    flags: Mapping[str, Any] = field(default_factory=dict[str, Any])
    lane: str = ""
    resume: str | None = None
    compact_at: str = ""
    site: Path | None = None


@dataclass(frozen=True)
class Equipment:
    """All of it. `box` holds the tools without the MCP servers'."""

    settings: "Settings"
    box: "Toolbox"
    permissions: "Permissions"
    hooks: "Hooks | None" = None
    mcp: "Mcp | None" = None

    @property
    def tools(self) -> "tuple[Tool, ...]":
        """Built-in tools, packs' tools, servers' tools, in the order of the head."""
        return (*self.box.registry.tools, *(self.mcp.tools if self.mcp else ()))

    @property
    def whole_box(self) -> "Toolbox":
        """The box with the servers' tools in it, for a session that begins."""
        return replace(self.box, registry=_registry(self.tools))

    def keep(self, prefix: "Prefix") -> None:
        """Go on with the servers' tools as a session's head has them, whatever they offer now."""
        if self.mcp is not None:
            self.mcp.keep(prefix.tools, {tool.spec.name for tool in self.box.registry.tools})

    def news(self) -> list[Notice]:
        """What changed on disk and at the servers since the model was told."""
        from oasis.agent.notices import changes_notice  # noqa: PLC0415

        said = self.mcp.news() if self.mcp else None
        return [*changes_notice(self.box.workspace), *([Notice(said)] if said else [])]


def _registry(tools: "Sequence[Tool]") -> "Registry":
    from oasis.tools.registry import Registry  # noqa: PLC0415

    return Registry(tuple(tools))


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


async def with_servers(equipment: Equipment, stack: AsyncExitStack, say: Callable[[str], None]) -> Equipment:
    """The same with the MCP servers of the settings, which end with `stack`. Those that are down are named."""
    if not equipment.settings.mcp:
        return equipment
    from oasis.agent.folders import spill_folder  # noqa: PLC0415
    from oasis.tools.mcp.server import servers  # noqa: PLC0415
    from oasis.tools.mcp.servers import connected  # noqa: PLC0415

    taken = {tool.spec.name for tool in equipment.box.registry.tools}
    named = servers(equipment.settings.mcp)
    mcp = await stack.enter_async_context(connected(named, spill_folder(), taken))
    for line in mcp.said:
        say(line)
    return replace(equipment, mcp=mcp)
