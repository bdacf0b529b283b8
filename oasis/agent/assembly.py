"""Putting a session together: tools and packs in their order, the head, the first notice, the rules."""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from oasis.agent.calls import CallRunner
from oasis.agent.compaction_policy import CompactAt
from oasis.agent.folders import (
    audit_folder,
    own_code,
    protected_folders,
    sessions_folder,
    spill_folder,
    undo_folder,
)
from oasis.agent.gate import Asker, commands_ask, reading_is_free
from oasis.agent.hooks import Hooks
from oasis.agent.loop import Agent, Limits
from oasis.agent.missing import missing
from oasis.agent.notices import changes_notice, first_notice
from oasis.agent.permissions import Permissions
from oasis.agent.prompt import assemble
from oasis.agent.session import Session
from oasis.agent.sessions import find_session
from oasis.agent.undo import Undo
from oasis.config import Settings
from oasis.core.events import Event
from oasis.core.items import Notice
from oasis.core.prefix import Prefix
from oasis.core.rule import Rule
from oasis.core.tool import Tool
from oasis.errors import ConfigError, SessionFault
from oasis.models.base import Model, Sampling
from oasis.packs import chosen_packs, pack_skills, pack_words
from oasis.plant.plant import Plant
from oasis.resources import skills_folder
from oasis.tools.builtin import builtin
from oasis.tools.isolation import isolation, why_none
from oasis.tools.registry import Registry
from oasis.tools.skill import Skills
from oasis.tools.workspace import Workspace

if TYPE_CHECKING:
    from oasis.tools.mcp.toolset import Mcp


@dataclass(frozen=True)
class Toolbox:
    """The tools of a project and the skills they can load; `registry` holds all but those of MCP servers."""

    registry: Registry
    skills: Skills
    workspace: Workspace
    plant: Plant | None = None
    rules: tuple[Rule, ...] = ()
    """What answers before the user's own rules: what the plant needs."""
    mcp: "Mcp | None" = None

    @property
    def tools(self) -> tuple[Tool, ...]:
        """Built-in tools, the plant's, then the servers', in the order of the head."""
        return (*self.registry.tools, *(self.mcp.tools if self.mcp else ()))

    @property
    def prefix(self) -> Prefix:
        return assemble([tool.spec for tool in self.tools])

    def news(self) -> list[Notice]:
        """What changed on disk and at the servers since the model was told."""
        said = self.mcp.news() if self.mcp else None
        return [*changes_notice(self.workspace), *([Notice(said)] if said else [])]


def toolbox(project: Path, packs: Sequence[str] = (), site: Path | None = None) -> Toolbox:
    """Built-in tools first, the plant's last. Raises ConfigError for an unknown pack or a faulty site file.

    With a pack, commands have no network where the system can do that; elsewhere a rule asks for each.
    """
    chosen = chosen_packs(packs)
    skills = Skills(skills_folder(), pack_skills(chosen), project)
    own = own_code(project) if chosen else ()
    protected = (*protected_folders(), *own, *((site,) if site else ()))
    workspace = Workspace(project, spill_folder(), skills.folders(), protected)
    if not chosen:
        if site:
            raise ConfigError("A site file is for a plant, and no pack is chosen. Add --pack, such as --pack modbus.")
        return Toolbox(Registry(builtin(workspace, skills)), skills, workspace)
    plant = Plant(chosen, pack_words(chosen), site, audit_folder())
    registry = Registry((*builtin(workspace, skills, isolation), *plant.tools))
    return Toolbox(registry, skills, workspace, plant, (commands_ask(why_none), plant.unattended))


@asynccontextmanager
async def with_servers(box: Toolbox, settings: Settings, say: Callable[[str], None]) -> AsyncGenerator[Toolbox, None]:
    """The toolbox with the MCP servers of the user's settings, which end with this. Those that are down are named."""
    if not settings.mcp:
        yield box
        return
    from oasis.tools.mcp.server import servers  # noqa: PLC0415
    from oasis.tools.mcp.servers import connected  # noqa: PLC0415

    taken = {tool.spec.name for tool in box.tools}
    async with connected(servers(settings.mcp), spill_folder(), taken) as mcp:
        for line in mcp.said:
            say(line)
        yield replace(box, mcp=mcp)


@asynccontextmanager
async def at_plant(
    box: Toolbox, session: Session, say: Callable[[str], None], *, is_attended: bool
) -> AsyncGenerator[None, None]:
    """A session's work at the plant: what is left over from earlier is said first, the plant is left safe at the end.

    What no tool may write is there from the beginning, so that a command can be kept from it.

    Raises SessionFault when the session was held to another site file, AuditFault for an audit that cannot be used.
    """
    try:
        for line in _enter_plant(box, session, is_attended=is_attended):
            say(line)
        yield
    finally:
        for line in await box.plant.end() if box.plant else ():
            say(line)


def _enter_plant(box: Toolbox, session: Session, *, is_attended: bool) -> list[str]:
    plant = box.plant
    if plant is None:
        return []
    for folder in protected_folders():
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    if plant.site is None or plant.audit_path is None:
        return []
    audit, digest = plant.audit_path, plant.site.digest
    if session.site_digest and session.site_digest != digest:
        raise SessionFault(
            f"Session {session.id} was held to another content of its site file than {plant.site.path} has now. "
            "Begin a new session with it, or go on without --site: then nothing is written to the plant."
        )
    if not session.site_digest:
        session.note_site(plant.site.path, digest)
    said = plant.begin(session.id, lambda mark: session.note_audit(audit, *mark), is_attended=is_attended)
    return [*said, plant.safe_state] if plant.safe_state else said


def first_items(
    project: Path, box: Toolbox, now: datetime, files: Sequence[str] = (), *, is_attended: bool = False
) -> list[Notice]:
    """What a new session says once, before the first task. `files`: those the project's oasis.toml wants in it."""
    tags = box.plant.tags_notice(is_attended=is_attended) if box.plant else ""
    told = [Notice(tags)] if tags else []
    return [first_notice(project, now.date(), box.skills.lines_project(), files), *told]


def create_session(project: Path, box: Toolbox, model: Model, now: datetime) -> Session:
    """A new session's file in the user's sessions folder."""
    return Session.create(sessions_folder(), box.prefix, model, project, now)


def resume_session(name: str, project: Path, box: Toolbox, model: Model) -> tuple[Session, list[str]]:
    """The session `name` (an id, or `last` of this project) and what there is to say about it."""
    session, kept = Session.resume(find_session(name, project), model)
    said = [f"Session {session.id} goes on after {kept.steps} step{'s' * (kept.steps != 1)}.", *kept.warnings]
    if box.mcp:
        box.mcp.keep(session.transcript.prefix.tools, {tool.spec.name for tool in box.registry.tools})
    if lost := missing(session.transcript.prefix, {tool.spec.name for tool in box.tools}):
        said.append(lost)
    if session.transcript.prefix.digest != box.prefix.digest:
        said.append("Its head is that of the day it began; tools or packs chosen since are not in it.")
    return session, said


def agent(
    model: Model,
    session: Session,
    box: Toolbox,
    emit: Callable[[Event], None],
    ask: Asker,
    *,
    permissions: Permissions | None = None,
    limits: Limits | None = None,
    sampling: Sampling | None = None,
    compact_at: CompactAt | None = None,
    hooks: Hooks | None = None,
    undo: Undo | None = None,
) -> Agent:
    """The loop over this session: what is denied first, then what the plant needs, then what the user allows.

    What its tools change in files is kept in `undo`; without one, so that a session that goes on from it can undo the
    turn.
    """
    mine = permissions or Permissions()
    rules = (mine.denies, reading_is_free, *box.rules, mine.allows)
    kept = undo or Undo(box.workspace, undo_folder() / session.id)
    calls = CallRunner(Registry(kept.watched(box.tools)), rules, ask, emit, hooks)
    loop = Agent(
        model,
        session,
        calls,
        emit,
        limits=limits,
        sampling=sampling,
        compact_at=compact_at,
        news=box.news,
    )

    def next_head() -> Prefix | None:
        if box.mcp is None:
            return None
        box.mcp.take_up()
        calls.registry = Registry(kept.watched(box.tools))
        return box.prefix

    loop.next_head = next_head
    return loop
