"""What stands behind the screen: the session and its agent, one turn after another."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from oasis.core.events import Event, Recomputed, Said
from oasis.core.items import Notice, User
from oasis.errors import ConfigError, OasisError
from oasis.ui.terminal.equipment import Equipment, Start, agent_over, equip, with_packs, with_servers
from oasis.ui.terminal.model_link import ModelLink
from oasis.ui.terminal.open_session import OpenSession
from oasis.ui.terminal.work import Work

if TYPE_CHECKING:
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
        self,
        start: Start,
        queued: list[str],
        show: Callable[[Event], None],
        ask: "Asker",
        agree: Callable[[str], Awaitable[bool]],
    ) -> None:
        """`queued`: what the person types ahead, oldest first."""
        self.start = start
        self.equipment: Equipment | None = None
        self.queued = queued
        self.attached: list[Notice] = []
        self.broken: list[Recomputed] = []
        self._show_event, self._ask = show, ask
        self._link = ModelLink(start.lane, self._show)
        self._open = OpenSession(self.say, agree)
        self._work = Work()
        self._lost: str | None = None
        self._mode_told: object = None
        self._packs: tuple[str, ...] | None = None
        self._servers = AsyncExitStack()

    @property
    def project(self) -> Path:
        return self.start.project

    @property
    def session(self) -> "Session | None":
        """The session at hand; None before the first message."""
        return self._open.session

    @property
    def is_working(self) -> bool:
        return self._work.is_going_on

    @property
    def packs(self) -> tuple[str, ...]:
        """Those chosen, for the next session where they were changed in this one."""
        if self._packs is not None:
            return self._packs
        return tuple(self.equipment.settings.packs) if self.equipment else ()

    @property
    def equipped(self) -> Equipment:
        """Settings, tools, rules. Raises ConfigError while they are not there yet."""
        if self.equipment is None:
            raise ConfigError("The settings are still being read. Try again in a moment.")
        return self.equipment

    @property
    def connection(self) -> "Connection | None":
        return self._link.connection

    @property
    def model(self) -> "Model":
        """The model. Raises ConfigError where there is none."""
        return self._link.model

    def say(self, text: str) -> None:
        self._show(Said(text))

    async def load(self) -> None:
        """Read the settings and make the tools. Raises ConfigError."""
        self.equipment = await equip(self.start, self.say)
        self._mode_told = self.equipment.permissions.mode

    async def start_servers(self) -> None:
        """Start the MCP servers of the settings."""
        box = await with_servers(self.equipped, self._servers, self.say)
        self.equipment = replace(self.equipped, box=box)  # settings may have been chosen meanwhile

    async def connect(self, settings: "Settings | None" = None) -> "Connection | None":
        """Find the model; the connection before it, still open. Raises ConfigError, EngineFault, ServerFault."""
        wanted = settings or self.equipped.settings
        before = await self._link.connect(wanted)
        self.equipment = replace(self.equipped, settings=wanted)
        return before

    def warm(self) -> None:
        """Have the head in the model's slot while the person still types."""
        if self.session is None:
            self._link.warm(self.equipped.box.prefix)

    async def ready(self) -> bool:
        """Wait until the head is in the slot; False where the person interrupts that wait."""
        warming = self._link.warming
        return warming is None or await self._work.done(asyncio.wait([warming])) is not None

    async def revive(self) -> bool:
        """Start the embedded engine again where it has died; the session goes on. False where that is interrupted.

        Raises EngineFault, SessionFault; the next call tries again.
        """
        if not self._link.is_gone and self._lost is None:
            return True
        if await self._work.done(self._revive()) is None:
            self.say("The engine was not started again; your next message starts it.")
            return False
        return True

    async def _revive(self) -> bool:
        if self._link.is_gone:
            self.say("The engine had ended. It is started again.")
            self._lost = self.session.id if self.session else ""
            await self.end_session()
            with suppress(OasisError):
                await self._link.close()
        await self.connect()
        if self._lost:
            await self._resume(self._lost)
        self._lost = None
        return True

    async def resume(self, name: str) -> "Session":
        """Go on with a session. Raises SessionFault."""
        self._open.safe_end.forget()
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
        await self.end_session()
        self._open.safe_end.forget()
        if self._packs is not None:
            self.equipment, self._packs = with_packs(self.equipped, self.start, self._packs), None
        if self.equipped.box.mcp is not None:
            self.equipped.box.mcp.take_up()

    async def end_session(self) -> None:
        """Leave the plant as it should be left, then close the session's file."""
        await self._open.end()
        self.broken = []

    async def run(self, items: Sequence[User]) -> None:
        """One turn from these items to its end, which may be an interrupt.

        Where the embedded engine died in it, it is started again and the turn goes on, once.
        Raises SessionFault, EngineFault.
        """
        agent = await self._ready()
        if self._open.undo is not None:
            self._open.undo.begin_turn()
        notices = [*self._open.take_opening(), *self.attached, *self._mode_notice()]
        self.attached = []
        finished = await self._work.done(agent.turn([*notices, *items]))
        if finished is not None and finished.reason == "server" and self._link.is_gone and await self.revive():
            await self._work.done((await self._ready()).turn([]))

    async def compact(self) -> bool:
        """Compact now. Raises ServerFault."""
        agent = await self._ready()
        return bool(await self._work.done(agent.compact()))

    def interrupt(self) -> bool:
        """Stop what is at work; False where nothing is."""
        return self._work.interrupt()

    def take_queued(self) -> list[User]:
        """What was typed ahead, for the tail of the prompt."""
        taken, self.queued[:] = [User(text) for text in self.queued], []
        return taken

    async def close(self) -> None:
        """End the turn, leave the plant, close the session, save the model's state, end engine and servers."""
        await self._work.end()
        await self.end_session()
        await self._servers.aclose()
        await self._link.close()

    def undo_turn(self) -> "Undone | None":
        """Put back what the last turn changed in files; the model is told at the tail."""
        done = self._open.undo.undo() if self._open.undo else None
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

    def choose_packs(self, names: Sequence[str]) -> None:
        """Have these packs in the head of the next session. Raises ConfigError for an unknown one."""
        from oasis.packs import chosen_packs  # noqa: PLC0415

        chosen = () if list(names) == ["none"] else tuple(dict.fromkeys(names))
        chosen_packs(chosen)
        self._packs = chosen

    async def change_model(self, name: str) -> None:
        """Go on with the model at this URL, in this file or of this name; the session goes over to a new epoch.

        Where it cannot be reached the present one stays. Raises ConfigError, EngineFault, ServerFault.
        """
        from oasis.agent.other_model import seed_for  # noqa: PLC0415

        session = self.session
        is_url = name.startswith(("http://", "https://"))
        changed = {"server": name if is_url else "", "model": "" if is_url else name}
        before = await self.connect(self.equipped.settings.model_copy(update=changed))
        if before is not None:
            await before.close()
        if self._lost:
            self.say(f"/resume {self._lost} goes on with the session whose engine ended.")
        self._lost = None
        if session is None:
            self.warm()
            return
        self._open.opening = []
        seed = seed_for(session.transcript.items, self.model.context_tokens)
        await session.change_model(self.model, self.equipped.box.prefix, seed)
        self._open.undo, self._open.agent = self._over(session)

    def _show(self, event: Event) -> None:
        if isinstance(event, Recomputed):
            self.broken.append(event)
        self._show_event(event)

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

        if self._open.agent is not None:
            return self._open.agent
        box, now = self.equipped.box, datetime.now().astimezone()
        session = create_session(self.project, box, self.model, now)
        opening = first_items(self.project, box, now, self.equipped.settings.files, is_attended=True)
        return await self._take(session, opening)

    async def _take(self, session: "Session", opening: Sequence[Notice]) -> "Agent":
        """Go over to this session, which begins with `opening`."""

        self.broken = []
        return await self._open.take(session, opening, self.equipped.box, self._over)

    async def decide_end(self) -> None:
        """Ask how the plant is to be left, unless that is decided."""
        await self._open.decide_end(self.equipped.box)

    def _over(self, session: "Session") -> "tuple[Undo, Agent]":
        """The agent over this session."""
        undo, agent = agent_over(
            session, self.model, self.equipped, show=self._show, ask=self._ask, compact_at=self.start.compact_at
        )
        agent.queued = self.take_queued
        agent.is_gone = lambda: self._link.is_gone
        return undo, agent
