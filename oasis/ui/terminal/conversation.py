"""What stands behind the screen: the connection, the session and its agent, one turn after another."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from oasis.core.events import Event, Prefill, Recomputed, Said
from oasis.core.items import Notice, User
from oasis.core.rule import Rule
from oasis.core.tool import Preview, Tool
from oasis.core.usage import amplification
from oasis.errors import ConfigError, OasisError, SessionFault

if TYPE_CHECKING:
    from oasis.agent.assembly import Toolbox
    from oasis.agent.compaction_policy import CompactAt
    from oasis.agent.filling import Filling
    from oasis.agent.gate import Asker
    from oasis.agent.loop import Agent
    from oasis.agent.permissions import Permissions
    from oasis.agent.session import Session
    from oasis.agent.undo import Undo
    from oasis.agent.undone import Undone
    from oasis.config import Settings
    from oasis.models.base import Model
    from oasis.models.connect import Connection

_HEAVY = ("oasis.agent.assembly", "oasis.models.connect", "oasis.agent.sessions")


@dataclass(frozen=True)
class Start:
    """What was asked for on the command line. `flags` are settings; `resume`: a session's id, or `last`."""

    project: Path
    flags: Mapping[str, Any] = field(default_factory=dict[str, Any])
    lane: str = ""
    resume: str | None = None
    compact_at: str = ""


@dataclass(frozen=True)
class Loaded:
    """What is known once the settings are read."""

    settings: "Settings"
    box: "Toolbox"
    permissions: "Permissions"


class Conversation:
    """One session at a time. `show` gets every event, `ask` answers what the gate asks."""

    def __init__(self, start: Start, show: Callable[[Event], None], ask: "Asker") -> None:
        self.start = start
        self.settings: Settings | None = None
        self.box: Toolbox | None = None
        self.connection: Connection | None = None
        self.session: Session | None = None
        self.permissions: Permissions | None = None
        self.undo: Undo | None = None
        self.queued: list[str] = []
        self.attached: list[Notice] = []
        self.broken: list[Recomputed] = []
        self._next_box: Toolbox | None = None
        self._mode_told: object = None
        self._mode_notice: Notice | None = None
        self._show_event, self._ask = show, ask
        self._agent: Agent | None = None
        self._turn: asyncio.Task[Any] | None = None
        self._opening: list[Notice] = []
        self._warming: asyncio.Task[None] | None = None

    @property
    def project(self) -> Path:
        return self.start.project

    @property
    def has_model(self) -> bool:
        return self.connection is not None

    @property
    def is_working(self) -> bool:
        return self._turn is not None and not self._turn.done()

    @property
    def context_used(self) -> int | None:
        """Tokens of the prompt as it stands with the model's last message; None where nothing was sent yet."""
        last = self.session.last_usage if self.session else None
        return (last.prompt_tokens + last.decoded_tokens or None) if last else None

    @property
    def amplification(self) -> float | None:
        """Of the session so far; None where it is not known."""
        session = self.session
        if session is None or not session.new_tokens or not session.usage.is_cache_known:
            return None
        return amplification(session.usage.computed_tokens, session.new_tokens)

    async def load(self) -> None:
        """Read the settings and make the tools. Raises ConfigError."""
        for name in _HEAVY:
            await asyncio.to_thread(import_module, name)
        from oasis.agent.assembly import toolbox  # noqa: PLC0415
        from oasis.agent.permissions import Permissions  # noqa: PLC0415
        from oasis.config import load  # noqa: PLC0415

        self.settings = load(self.project, self.start.flags)
        self.box = toolbox(self.project, self.settings.packs)
        self.permissions = Permissions(allow=self.settings.allow, deny=getattr(self.settings, "deny", ()))
        self._mode_told = self.permissions.mode

    def _loaded(self) -> Loaded:
        if self.settings is None or self.box is None or self.permissions is None:
            raise ConfigError("The settings are still being read. Try again in a moment.")
        return Loaded(self.settings, self.box, self.permissions)

    def _model(self) -> "Model":
        if self.connection is None:
            raise ConfigError("There is no model yet. /model FILE.gguf, /model URL or /model NAME connects one.")
        return self.connection.model

    async def connect(self, settings: "Settings | None" = None) -> None:
        """Find the model. Raises ConfigError, EngineFault, ServerFault."""
        from oasis.models.base import Lane  # noqa: PLC0415
        from oasis.models.connect import connect  # noqa: PLC0415

        lane = Lane(self.start.lane) if self.start.lane else None
        self.connection = await connect(settings or self._loaded().settings, lane, self.say, with_kv=True)
        if self.connection.kv is not None:
            self.connection.kv.tell_progress(lambda *counts: self._show(Prefill(*counts)))
            self._warming = asyncio.ensure_future(self._warm(self.connection))

    async def _warm(self, connection: "Connection") -> None:
        """Have the head in the slot while the person still types; a fault comes again, and is told, with the turn."""
        from oasis.kv.chain import ids_of  # noqa: PLC0415

        if connection.kv is None or self.start.resume is not None:
            return
        with suppress(OasisError):
            head = await connection.model.encoder.head(self._loaded().box.prefix)
            await connection.kv.open_head(ids_of(head.wire))

    async def revive(self) -> None:
        """Start the embedded engine again where it has died; the session goes on. Raises EngineFault, SessionFault."""
        connection, session = self.connection, self.session
        if connection is None or connection.engine is None or connection.engine.is_running:
            return
        self.say("The engine had ended. It is started again.")
        self.end_session()
        with suppress(OasisError):
            await connection.close()
        self.connection = None
        await self.connect()
        if session is not None:
            self.resume(session.id)

    def say(self, text: str) -> None:
        self._show(Said(text))

    def _show(self, event: Event) -> None:
        if isinstance(event, Recomputed):
            self.broken.append(event)
        self._show_event(event)

    def resume(self, name: str) -> "Session":
        """Go on with a session. Raises SessionFault."""
        from oasis.agent.assembly import resume_session  # noqa: PLC0415

        session, said = resume_session(name, self.project, self._loaded().box, self._model())
        self._take(session, [])
        for line in said:
            self.say(line)
        return session

    def begin(self) -> None:
        """Begin with an empty session; its file is made with the first message."""
        self.end_session()
        if self._next_box is not None:
            self.box, self._next_box = self._next_box, None

    def end_session(self) -> None:
        """Close the session's file."""
        if self.session is not None:
            self.session.close()
        self.session = self.undo = self._agent = None
        self._opening, self.broken = [], []

    async def run(self, items: Sequence[User | Notice]) -> None:
        """One turn from these items to its end, which may be an interrupt. Raises SessionFault."""
        agent = self._ready()
        if self.undo is not None:
            self.undo.begin_turn()
        opening, self._opening = self._opening, []
        attached, self.attached = self.attached, []
        if self._mode_notice is not None and self.permissions is not None:
            attached.append(self._mode_notice)
            self._mode_told, self._mode_notice = self.permissions.mode, None
        self._turn = asyncio.ensure_future(agent.turn([*opening, *attached, *items]))
        try:
            await asyncio.wait([self._turn])
        except asyncio.CancelledError:
            self._turn.cancel()
            await asyncio.wait([self._turn])
            raise
        if not self._turn.cancelled():
            self._turn.result()

    async def ready(self) -> bool:
        """Wait until the head is in the slot; False where the person interrupts that wait."""
        if self._warming is None or self._warming.done():
            return True
        self._turn = asyncio.ensure_future(asyncio.wait([self._warming]))
        await asyncio.wait([self._turn])
        return not self._turn.cancelled()

    async def compact(self) -> bool:
        """Compact now. Raises ServerFault."""
        self._turn = asyncio.ensure_future(self._ready().compact())
        await asyncio.wait([self._turn])
        return not self._turn.cancelled() and bool(self._turn.result())

    def interrupt(self) -> bool:
        """Stop the step that is at work; False where none is."""
        if not self.is_working or self._turn is None:
            return False
        self._turn.cancel()
        return True

    def take_queued(self) -> list[User]:
        """What was typed ahead, for the tail of the prompt."""
        taken, self.queued[:] = [User(text) for text in self.queued], []
        return taken

    async def close(self) -> None:
        """End the turn, close the session, save the model's state, end the engine."""
        if self.is_working and self._turn is not None:
            self._turn.cancel()
            await asyncio.wait([self._turn])
        if self._warming is not None and not self._warming.done():
            self._warming.cancel()
            await asyncio.wait([self._warming])
        self.end_session()
        if self.box is not None and self.box.plant is not None:
            await self.box.plant.close()
        if self.connection is not None:
            connection, self.connection = self.connection, None
            await connection.close()

    async def filling(self) -> "Filling | None":
        """What fills the context; of a session not begun yet, what it would begin with. None without a model."""
        from oasis.agent.context import fill  # noqa: PLC0415
        from oasis.core.transcript import Transcript  # noqa: PLC0415

        if self.connection is None or self.box is None:
            return None
        model, session = self.connection.model, self.session
        transcript = session.transcript if session else Transcript(self.box.prefix, model.encoder)
        return await fill(transcript, model, session.last_usage if session else None)

    def undo_turn(self) -> "Undone | None":
        """Put back what the last turn changed in files; the model is told at the tail."""
        done = self.undo.undo() if self.undo else None
        if done:
            self._tell(done.notice)
        return done

    def mode_changed(self) -> None:
        """The model is told of the mode with the next message, once, however often it was switched."""
        permissions = self._loaded().permissions
        self._mode_notice = permissions.notice() if permissions.mode != self._mode_told else None

    def export(self, name: str) -> Path:
        """Write the session as a document. Raises SessionFault."""
        from oasis.agent.export import as_json, as_markdown, save  # noqa: PLC0415

        if self.session is None:
            raise SessionFault("There is nothing to export yet: the session begins with your first message.")
        target = self.project / (name or f"{self.session.id}.md")
        key = self._loaded().settings.api_key
        secrets = [key] if key else []
        made = as_json if target.suffix == ".json" else as_markdown
        save(target, made(self.session.path, secrets))
        return target

    def broken_prefixes(self) -> str:
        """Where the prefix broke in this session, in words."""
        if not self.broken:
            return "The prefix has not been broken in this session: every token was computed once."
        return "\n".join(f"step {event.step}: {event.words()}" for event in self.broken)

    @property
    def packs(self) -> tuple[str, ...]:
        return tuple(self.settings.packs) if self.settings else ()

    async def choose_packs(self, names: Sequence[str]) -> None:
        """Have these packs in the head of the next session. Raises ConfigError for an unknown one."""
        from oasis.agent.assembly import toolbox  # noqa: PLC0415

        settings = self._loaded().settings
        chosen = [] if list(names) == ["none"] else list(dict.fromkeys(names))
        box = toolbox(self.project, chosen)
        self.settings = settings.model_copy(update={"packs": chosen})
        if self.session is None:
            self.box = box
        else:
            self._next_box = box

    def price_of_change(self) -> str:
        """What going on with another model costs, in words; empty where nothing was said yet."""
        from oasis.agent.other_model import price, seed_for  # noqa: PLC0415

        session = self.session
        if session is None or not session.transcript.items:
            return ""
        usage = session.usage
        rate = usage.prefill_ms / usage.computed_tokens if usage.computed_tokens and usage.prefill_ms else None
        seed = seed_for(session.transcript.items, None)
        return price(session.transcript.prefix, seed, rate).words()

    async def change_model(self, name: str) -> None:
        """Go on with the model at this URL, in this file or of this name; the session goes over to a new epoch.

        Where it cannot be reached the present one stays. Raises ConfigError, EngineFault, ServerFault.
        """
        from oasis.agent.other_model import seed_for  # noqa: PLC0415

        loaded, before = self._loaded(), self.connection
        is_url = name.startswith(("http://", "https://"))
        changed = loaded.settings.model_copy(update={"server": name if is_url else "", "model": "" if is_url else name})
        await self.connect(changed)
        self.settings = changed
        if before is not None:
            await before.close()
        session = self.session
        if session is None:
            return
        model = self._model()
        self._opening = []
        await session.change_model(model, loaded.box.prefix, seed_for(session.transcript.items, model.context_tokens))
        self._over(session)

    def _tell(self, notice: Notice) -> None:
        """At the tail now where the transcript allows it, else with the next message."""
        session = self.session
        if session is not None and not session.transcript.is_unanswered and not self.is_working:
            session.append(notice)
        else:
            self.attached.append(notice)

    def _ready(self) -> "Agent":
        """The agent of the open session, both made where there is none yet."""
        from oasis.agent.assembly import create_session, first_items  # noqa: PLC0415

        if self._agent is not None:
            return self._agent
        loaded, now = self._loaded(), datetime.now().astimezone()
        session = create_session(self.project, loaded.box, self._model(), now)
        return self._take(session, first_items(self.project, loaded.box, now, loaded.settings.files))

    def _take(self, session: "Session", opening: Sequence[Notice]) -> "Agent":
        """Go over to this session, which begins with `opening`."""
        self.end_session()
        self.session, self._opening = session, list(opening)
        return self._over(session)

    def _over(self, session: "Session") -> "Agent":
        """The agent over this session: its tools watched for undoing, its rules as the person sets them."""
        from oasis.agent.calls import CallRunner  # noqa: PLC0415
        from oasis.agent.folders import undo_folder  # noqa: PLC0415
        from oasis.agent.loop import Agent, Limits  # noqa: PLC0415
        from oasis.agent.notices import changes_notice  # noqa: PLC0415
        from oasis.agent.undo import Undo  # noqa: PLC0415
        from oasis.models.base import Sampling  # noqa: PLC0415
        from oasis.tools.registry import Registry  # noqa: PLC0415

        box, settings = self._loaded().box, self._loaded().settings
        self.undo = Undo(box.workspace, undo_folder() / session.id)
        registry = Registry(self.undo.watched(box.registry.tools))
        self._agent = Agent(
            self._model(),
            session,
            CallRunner(registry, self._rules(), self._ask, self._show),
            self._show,
            limits=Limits(settings.max_steps, settings.max_minutes),
            sampling=Sampling(temperature=settings.temperature),
            compact_at=self._compact_at(),
            news=lambda: changes_notice(box.workspace),
        )
        self._agent.queued = self.take_queued
        return self._agent

    def _rules(self) -> tuple[Rule, ...]:
        """What the user denies first, what they allow last."""
        from oasis.agent.gate import reading_is_free  # noqa: PLC0415

        loaded = self._loaded()
        return (loaded.permissions.denies, reading_is_free, *loaded.box.rules, loaded.permissions.allows)

    def propose(self, name: str, preview: Preview) -> tuple[str, ...]:
        """Patterns that would allow calls like this one for the session."""
        from oasis.agent.permissions import propose  # noqa: PLC0415

        tool = self.tool(name)
        return propose(tool, preview) if tool else ()

    def tool(self, name: str) -> Tool | None:
        tools = self.box.registry.tools if self.box else ()
        return next((tool for tool in tools if tool.spec.name == name), None)

    def _compact_at(self) -> "CompactAt | None":
        from oasis.agent.compaction_policy import CompactAt  # noqa: PLC0415

        return CompactAt.parse(self.start.compact_at) if self.start.compact_at else None
