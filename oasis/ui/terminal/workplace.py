"""What commands, keys and turns of an interactive session work with: the screen, the conversation, the questions."""

import asyncio
import time
from functools import cached_property
from typing import TYPE_CHECKING, Any

from prompt_toolkit.output import Output

from oasis.ui.terminal.drawer import Drawer
from oasis.ui.terminal.equipment import Start
from oasis.ui.terminal.live import Live
from oasis.ui.terminal.output import Scrollback
from oasis.ui.terminal.paint import Brush
from oasis.ui.terminal.permission import Desk
from oasis.ui.terminal.status import Status, status_of
from oasis.ui.terminal.tasks import Tasks

if TYPE_CHECKING:
    from prompt_toolkit.application import Application

    from oasis.core.events import Event
    from oasis.core.tool import Preview
    from oasis.ui.terminal.conversation import Conversation
    from oasis.ui.terminal.feed import Feed

LONG_S = 20.0
"""After a turn as long as this the person may have turned to something else."""


class Workplace:
    """The parts of one interactive session, before any key or window is bound to them.

    Feed and conversation are made when they are first used: the first prompt needs neither.

    turns      held while a turn, or a command that needs the model idle, is at work
    shells     the commands of the person's own that run, each ended by setting its event
    is_ready   set once settings and model are there
    has_work   set when there is something to send
    """

    def __init__(self, start: Start, output: Output) -> None:
        self.start = start
        self.clock = time.monotonic
        self.output = output
        self.brush = Brush(lambda: output.get_size().columns)
        self.live, self.drawer = Live(), Drawer()
        self.scrollback = Scrollback()
        self.desk = Desk(self._announce, self.redraw, self._call_of, self._propose, self._allow)
        self.tasks = Tasks(self.say, self.end)
        self.turns = asyncio.Lock()
        self.shells: list[asyncio.Event] = []
        self.is_ready, self.has_work = asyncio.Event(), asyncio.Event()
        self.has_settings = False
        self._turn_began_s = 0.0

    @property
    def app(self) -> "Application[int] | None":
        """What hears keys and draws; None before it is made."""
        return self.scrollback.app

    @property
    def rows(self) -> int:
        return self.output.get_size().rows

    @cached_property
    def feed(self) -> "Feed":
        """Where everything is shown."""
        from oasis.ui.terminal.feed import Feed  # noqa: PLC0415

        return Feed(self.brush, self.live, self.drawer, self.scrollback.write, self.redraw)

    @cached_property
    def conversation(self) -> "Conversation":
        """The session and its model."""
        from oasis.ui.terminal.conversation import Conversation  # noqa: PLC0415

        return Conversation(self.start, self.live.queued, self.show, self._ask, self._agree)

    def redraw(self) -> None:
        """Have the live area drawn anew soon."""
        self.scrollback.redraw()

    def show(self, event: "Event") -> None:
        """Show an event of the loop."""
        from oasis.core.events import TurnFinished, TurnStarted  # noqa: PLC0415

        self.feed.show(event)
        if isinstance(event, TurnStarted):
            self._turn_began_s = self.clock()
        elif isinstance(event, TurnFinished):
            self._notify(f"turn {event.turn}: {event.reason}")

    def say(self, text: str) -> None:
        """Print a line of Oasis' own."""
        self.feed.note(text)
        self.redraw()

    def status(self) -> Status:
        """What the bottom line says now."""
        if not self.has_settings:
            return Status(is_connecting=True)
        return status_of(self.conversation, is_connecting=not self.is_ready.is_set())

    def end(self, code: int = 0) -> None:
        """End the session with this exit code."""
        if self.app is not None and self.app.is_running and not self.app.is_done:
            self.app.exit(result=code)

    async def _ask(self, ask: Any) -> Any:
        _, call_id = self.feed.call_of(ask.preview)
        self.feed.asked(call_id, is_waiting=True)
        try:
            return await self.desk.ask(ask)
        finally:
            self.feed.asked(call_id, is_waiting=False)

    async def _agree(self, title: str) -> bool:
        return await self.desk.approve(title)

    def _call_of(self, preview: "Preview") -> tuple[str, str]:
        return self.feed.call_of(preview)

    def _announce(self, preview: "Preview", call_id: str) -> None:
        self.feed.announce(preview.body, call_id)
        self._notify(f"asks: {preview.title}")

    def _notify(self, text: str) -> None:
        """A notification, or a bell, for a person who has turned to something else: nothing after a short turn."""
        how = self.conversation.equipped.settings.notify
        if how == "off" or self.clock() - self._turn_began_s <= LONG_S:
            return
        from oasis.ui.terminal.notify import notification  # noqa: PLC0415

        self.scrollback.raw(notification("Oasis", text) if how == "auto" else "\x07")

    def _propose(self, tool: str, preview: "Preview") -> tuple[str, ...]:
        return self.conversation.equipped.propose(tool, preview)

    def _allow(self, patterns: tuple[str, ...]) -> None:
        self.conversation.equipped.permissions.allow_for_session(patterns)
