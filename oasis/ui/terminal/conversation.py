"""What stands behind the screen: the connection, the session and its agent, one turn after another."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from oasis.core.events import Event, Prefill, Recomputed, Said
from oasis.core.items import Notice, User
from oasis.core.tool import Preview, Tool
from oasis.core.usage import amplification
from oasis.errors import ConfigError, OasisError, SessionFault
from oasis.ui.terminal.equipment import Equipment, Start, agent_over, equip, with_servers
from oasis.ui.terminal.safe_end import SafeEnd

if TYPE_CHECKING:
    from oasis.agent.filling import Filling
    from oasis.agent.gate import Asker
    from oasis.agent.loop import Agent
    from oasis.agent.session import Session
    from oasis.agent.undo import Undo
    from oasis.agent.undone import Undone
    from oasis.config import Settings
    from oasis.models.base import Model
    from oasis.models.connect import Connection


class Conversation:
    """One session at a time. `show` gets every event, `ask` answers what the gate asks, `agree` a plain question."""

    def __init__(
        self, start: Start, show: Callable[[Event], None], ask: "Asker", agree: Callable[[str], Awaitable[bool]]
    ) -> None:
        self.start = start
        self.equipment: Equipment | None = None
        self.connection: Connection | None = None
        self.session: Session | None = None
        self.undo: Undo | None = None
        self.queued: list[str] = []
        self.attached: list[Notice] = []
        self.broken: list[Recomputed] = []
        self._show_event, self._ask = show, ask
        self._agent: Agent | None = None
        self._turn: asyncio.Task[Any] | None = None
        self._warming: asyncio.Task[None] | None = None
        self._opening: list[Notice] = []
        self._mode_told: object = None
        self._safe_end = SafeEnd(self.say, agree)
        self._packs: tuple[str, ...] | None = None
        self._servers, self._at_plant = AsyncExitStack(), AsyncExitStack()

    @property
    def project(self) -> Path:
        return self.start.project

    @property
    def is_working(self) -> bool:
        return self._turn is not None and not self._turn.done()

    @property
    def context_used(self) -> int | None:
        """Tokens of the prompt as it stands with the model's last message; None where they are not known."""
        if self.session is None:
            return None
        counts = [chunk.tokens for chunk in self.session.transcript.chunks]
        if counts and None not in counts:
            return sum(count or 0 for count in counts)
        last = self.session.last_usage
        return (last.prompt_tokens + last.decoded_tokens or None) if last else None

    @property
    def amplification(self) -> float | None:
        """Of the session so far; None where it is not known."""
        session = self.session
        if session is None or not session.new_tokens or not session.usage.is_cache_known:
            return None
        return amplification(session.usage.computed_tokens, session.new_tokens)

    @property
    def packs(self) -> tuple[str, ...]:
        """Those chosen, for the next session where they were changed in this one."""
        return (
            self._packs if self._packs is not None else tuple(self.equipment.settings.packs if self.equipment else ())
        )

    @property
    def equipped(self) -> Equipment:
        """Settings, tools, rules. Raises ConfigError while they are not there yet."""
        if self.equipment is None:
            raise ConfigError("The settings are still being read. Try again in a moment.")
        return self.equipment

    @property
    def model(self) -> "Model":
        """The model. Raises ConfigError where there is none."""
        if self.connection is None:
            raise ConfigError("There is no model yet. /model FILE.gguf, /model NAME or /model URL connects one.")
        return self.connection.model

    def tool(self, name: str) -> Tool | None:
        tools = self.equipment.box.tools if self.equipment else ()
        return next((tool for tool in tools if tool.spec.name == name), None)

    async def load(self) -> None:
        """Read the settings and make the tools. Raises ConfigError."""
        self.equipment = await equip(self.start, self.say)
        self._mode_told = self.equipment.permissions.mode

    async def start_servers(self) -> None:
        """Start the MCP servers of the settings."""
        self.equipment = await with_servers(self.equipped, self._servers, self.say)

    async def connect(self, settings: "Settings | None" = None) -> None:
        """Find the model. Raises ConfigError, EngineFault, ServerFault."""
        from oasis.models.base import Lane  # noqa: PLC0415
        from oasis.models.connect import connect  # noqa: PLC0415

        lane = Lane(self.start.lane) if self.start.lane else None
        wanted = settings or self.equipped.settings
        self.connection = await connect(wanted, lane, self.say, with_kv=True)
        self.equipment = replace(self.equipped, settings=wanted)
        if self.connection.kv is not None:
            self.connection.kv.tell_progress(self._show_prefill)

    def warm(self) -> None:
        """Have the head in the model's slot while the person still types."""
        if self.connection is not None and self.connection.kv is not None and self.session is None:
            self._warming = asyncio.ensure_future(self._warm(self.connection))

    async def ready(self) -> bool:
        """Wait until the head is in the slot; False where the person interrupts that wait."""
        if self._warming is None or self._warming.done():
            return True
        self._turn = asyncio.ensure_future(asyncio.wait([self._warming]))
        await asyncio.wait([self._turn])
        return not self._turn.cancelled()

    async def revive(self) -> None:
        """Start the embedded engine again where it has died; the session goes on. Raises EngineFault, SessionFault."""
        connection, session = self.connection, self.session
        if connection is None or not connection.is_gone():
            return
        self.say("The engine had ended. It is started again.")
        await self.end_session()
        with suppress(OasisError):
            await connection.close()
        self.connection = None
        await self.connect()
        if session is not None:
            await self._resume(session.id)

    def say(self, text: str) -> None:
        self._show(Said(text))

    async def resume(self, name: str) -> "Session":
        """Go on with a session. Raises SessionFault."""
        self._safe_end.forget()
        return await self._resume(name)

    async def _resume(self, name: str) -> "Session":
        from oasis.agent.assembly import resume_session  # noqa: PLC0415

        session, said = resume_session(name, self.project, self.equipped.box, self.model)
        for line in said:
            self.say(line)
        await self._take(session, [])
        return session

    async def begin(self) -> None:
        """Begin with an empty session; its file is made with the first message."""
        from oasis.agent.assembly import toolbox  # noqa: PLC0415

        await self.end_session()
        self._safe_end.forget()
        equipment = self.equipped
        if self._packs is not None:
            box = replace(toolbox(self.project, self._packs, self.start.site), mcp=equipment.box.mcp)
            settings = equipment.settings.model_copy(update={"packs": list(self._packs)})
            self.equipment, self._packs = replace(equipment, box=box, settings=settings), None
        if equipment.box.mcp is not None:
            equipment.box.mcp.take_up()

    async def end_session(self) -> None:
        """Leave the plant as it should be left, then close the session's file."""
        await self._at_plant.aclose()
        if self.session is not None:
            self.session.close()
        self.session = self.undo = self._agent = None
        self._opening, self.broken = [], []

    async def run(self, items: Sequence[User]) -> None:
        """One turn from these items to its end, which may be an interrupt.

        Where the embedded engine died in it, it is started again and the turn goes on, once.
        Raises SessionFault, EngineFault.
        """
        agent = await self._ready()
        if self.undo is not None:
            self.undo.begin_turn()
        notices = [*self._opening, *self.attached, *self._mode_notice()]
        self._opening, self.attached = [], []
        ended = await self._turned(agent, [*notices, *items])
        if ended == "server" and self.connection is not None and self.connection.is_gone():
            await self.revive()
            await self._turned(await self._ready(), [])

    async def _turned(self, agent: "Agent", items: "Sequence[User | Notice]") -> str:
        """Why the turn ended."""
        self._turn = asyncio.ensure_future(agent.turn(items))
        try:
            await asyncio.wait([self._turn])
        except asyncio.CancelledError:
            self._turn.cancel()
            await asyncio.wait([self._turn])
            raise
        return "cancelled" if self._turn.cancelled() else self._turn.result().reason

    async def compact(self) -> bool:
        """Compact now. Raises ServerFault."""
        agent = await self._ready()
        self._turn = asyncio.ensure_future(agent.compact())
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
        """End the turn, leave the plant, close the session, save the model's state, end engine and servers."""
        for task in (self._turn, self._warming):
            if task is not None and not task.done():
                task.cancel()
                await asyncio.wait([task])
        await self.end_session()
        await self._servers.aclose()
        if self.connection is not None:
            connection, self.connection = self.connection, None
            await connection.close()

    async def filling(self) -> "Filling":
        """What fills the context; of a session not begun yet, what it would begin with. Raises ConfigError."""
        from oasis.agent.context import fill  # noqa: PLC0415
        from oasis.core.transcript import Transcript  # noqa: PLC0415

        model, session = self.model, self.session
        transcript = session.transcript if session else Transcript(self.equipped.box.prefix, model.encoder)
        return await fill(transcript, model, session.last_usage if session else None)

    def undo_turn(self) -> "Undone | None":
        """Put back what the last turn changed in files; the model is told at the tail."""
        done = self.undo.undo() if self.undo else None
        if done:
            self.tell(done.notice.text)
        return done

    def tell(self, text: str) -> None:
        """Tell the model at the tail: now where the transcript allows it, else with the next message."""
        notice, session = Notice(text), self.session
        if session is None or session.transcript.is_unanswered or self.is_working:
            self.attached.append(notice)
        else:
            session.append(notice)

    async def open_session(self) -> None:
        """Have a session, so that what is done has a place to be written down. Raises ConfigError, SessionFault."""
        await self._ready()

    def export(self, name: str) -> Path:
        """Write the session as a document. Raises SessionFault."""
        from oasis.agent.export import as_json, as_markdown, save  # noqa: PLC0415
        from oasis.agent.masking import known_secrets  # noqa: PLC0415

        if self.session is None:
            raise SessionFault("There is nothing to export yet: the session begins with your first message.")
        target = self.project / (name or f"{self.session.id}.md")
        key = self.equipped.settings.api_key
        secrets = [*known_secrets(os.environ), *([key] if key else [])]
        made = as_json if target.suffix == ".json" else as_markdown
        save(target, made(self.session.path, secrets))
        return target

    def choose_packs(self, names: Sequence[str]) -> None:
        """Have these packs in the head of the next session. Raises ConfigError for an unknown one."""
        from oasis.packs import chosen_packs  # noqa: PLC0415

        chosen = () if list(names) == ["none"] else tuple(dict.fromkeys(names))
        chosen_packs(chosen)
        self._packs = chosen

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

        before, session = self.connection, self.session
        is_url = name.startswith(("http://", "https://"))
        changed = {"server": name if is_url else "", "model": "" if is_url else name}
        await self.connect(self.equipped.settings.model_copy(update=changed))
        if before is not None:
            await before.close()
        if session is None:
            self.warm()
            return
        self._opening = []
        seed = seed_for(session.transcript.items, self.model.context_tokens)
        await session.change_model(self.model, self.equipped.box.prefix, seed)
        self._over(session)

    async def _warm(self, connection: "Connection") -> None:
        """A fault comes again, and is told, with the turn."""
        from oasis.kv.chain import ids_of  # noqa: PLC0415

        with suppress(OasisError):
            head = await connection.model.encoder.head(self.equipped.box.prefix)
            if connection.kv is not None:
                await connection.kv.open_head(ids_of(head.wire))

    def _show(self, event: Event) -> None:
        if isinstance(event, Recomputed):
            self.broken.append(event)
        self._show_event(event)

    def _show_prefill(self, total_tokens: int, cached_tokens: int, done_tokens: int) -> None:
        self._show(Prefill(total_tokens, cached_tokens, done_tokens))

    def _mode_notice(self) -> list[Notice]:
        """What the model is told of the mode, once, however often it was switched since it was last told."""
        permissions = self.equipped.permissions
        if permissions.mode == self._mode_told:
            return []
        self._mode_told = permissions.mode
        return [permissions.notice()]

    async def _ready(self) -> "Agent":
        """The agent of the open session, both made where there is none yet."""
        from oasis.agent.assembly import create_session, first_items  # noqa: PLC0415

        if self._agent is not None:
            return self._agent
        box, now = self.equipped.box, datetime.now().astimezone()
        session = create_session(self.project, box, self.model, now)
        opening = first_items(self.project, box, now, self.equipped.settings.files, is_attended=True)
        return await self._take(session, opening)

    async def _take(self, session: "Session", opening: Sequence[Notice]) -> "Agent":
        """Go over to this session, which begins with `opening`."""
        from oasis.agent.assembly import at_plant  # noqa: PLC0415

        await self.end_session()
        box = self.equipped.box
        try:
            await self._at_plant.enter_async_context(
                at_plant(box, session, partial(self._safe_end.say, box.plant), is_attended=True)
            )
        except OasisError:
            session.close()
            raise
        self.session, self._opening = session, list(opening)
        await self.decide_end()
        self._safe_end.hold(box.plant)
        return self._over(session)

    async def decide_end(self) -> None:
        """Ask how the plant is to be left, unless that is decided."""
        await self._safe_end.decide(self.equipped.box.plant, is_said=self.session is not None)

    def _over(self, session: "Session") -> "Agent":
        """The agent over this session."""
        undo, agent = agent_over(
            session, self.model, self.equipped, show=self._show, ask=self._ask, compact_at=self.start.compact_at
        )
        agent.queued = self.take_queued
        agent.is_gone = lambda: self.connection is not None and self.connection.is_gone()
        self.undo, self._agent = undo, agent
        return agent

    def propose(self, name: str, preview: Preview) -> tuple[str, ...]:
        """Patterns that would allow calls like this one for the session."""
        from oasis.agent.permissions import propose  # noqa: PLC0415

        tool = self.tool(name)
        return propose(tool, preview) if tool else ()
