"""Putting a session together: tools and packs in their order, the head, the first notice, the rules."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from oasis.agent.calls import CallRunner
from oasis.agent.compaction_policy import CompactAt
from oasis.agent.folders import protected_folders, sessions_folder, spill_folder
from oasis.agent.gate import Asker, allowing, commands_ask, reading_is_free
from oasis.agent.loop import Agent, Limits
from oasis.agent.notices import changes_notice, first_notice
from oasis.agent.prompt import assemble
from oasis.agent.session import Session
from oasis.agent.sessions import find_session
from oasis.core.events import Event
from oasis.core.items import Notice
from oasis.core.prefix import Prefix
from oasis.core.rule import Rule
from oasis.models.base import Model, Sampling
from oasis.packs import chosen_packs, pack_skills, pack_words
from oasis.plant.plant import Plant
from oasis.plant.plant import plant as plant_of
from oasis.resources import skills_folder
from oasis.tools.builtin import builtin
from oasis.tools.isolation import isolation, why_none
from oasis.tools.registry import Registry
from oasis.tools.skill import Skills
from oasis.tools.workspace import Workspace


@dataclass(frozen=True)
class Toolbox:
    """The tools of a project and the skills they can load."""

    registry: Registry
    skills: Skills
    workspace: Workspace
    plant: Plant | None = None
    rules: tuple[Rule, ...] = ()
    """What answers before the user's own rules: what the plant needs."""

    @property
    def prefix(self) -> Prefix:
        return assemble(self.registry.specs)


def toolbox(project: Path, packs: Sequence[str] = ()) -> Toolbox:
    """Built-in tools first, the plant's last. Raises ConfigError for a pack that is not installed.

    With a pack, commands have no network where the system can do that; elsewhere a rule asks for each.
    """
    chosen = chosen_packs(packs)
    skills = Skills(skills_folder(), pack_skills(chosen), project)
    workspace = Workspace(project, spill_folder(), skills.folders(), protected_folders())
    if not chosen:
        return Toolbox(Registry(builtin(workspace, skills)), skills, workspace)
    plant = plant_of(chosen, pack_words(chosen))
    registry = Registry((*builtin(workspace, skills, isolation), *plant.tools))
    return Toolbox(registry, skills, workspace, plant, (commands_ask(why_none),))


def first_items(project: Path, box: Toolbox, now: datetime, files: Sequence[str] = ()) -> list[Notice]:
    """What a new session says once, before the first task. `files`: those the project's oasis.toml wants in it."""
    return [first_notice(project, now.date(), box.skills.lines_project(), files)]


def create_session(project: Path, box: Toolbox, model: Model, now: datetime) -> Session:
    """A new session's file in the user's sessions folder."""
    return Session.create(sessions_folder(), box.prefix, model, project, now)


def resume_session(name: str, project: Path, box: Toolbox, model: Model) -> tuple[Session, list[str]]:
    """The session `name` (an id, or `last` of this project) and what there is to say about it."""
    session, kept = Session.resume(find_session(name, project), model)
    said = [f"Session {session.id} goes on after {kept.steps} steps.", *kept.warnings]
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
    allow: Sequence[str] = (),
    limits: Limits | None = None,
    sampling: Sampling | None = None,
    compact_at: CompactAt | None = None,
) -> Agent:
    """The loop over this session, with the user's rules before anyone is asked."""
    rules = (reading_is_free, *box.rules, allowing(allow))
    calls = CallRunner(box.registry, rules, ask, emit)
    return Agent(
        model,
        session,
        calls,
        emit,
        limits=limits,
        sampling=sampling,
        compact_at=compact_at,
        news=lambda: changes_notice(box.workspace),
    )
