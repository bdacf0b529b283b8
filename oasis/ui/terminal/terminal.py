"""The interactive session: a prompt at the bottom of the terminal, the conversation in its scrollback."""

import asyncio
import re
import signal
import sys
import time
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any

from platformdirs import user_state_path
from prompt_toolkit.application import Application
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.completion import ThreadedCompleter
from prompt_toolkit.output import ColorDepth
from rich.text import Text

from oasis.core.events import Event, Said, TurnFinished, TurnStarted
from oasis.core.items import User
from oasis.core.tool import Preview
from oasis.errors import OasisError
from oasis.ui.terminal.commands import COMMANDS, arguments_of, run_command
from oasis.ui.terminal.complete import Files, InputCompleter
from oasis.ui.terminal.conversation import Conversation
from oasis.ui.terminal.drawer import Drawer
from oasis.ui.terminal.editor import Editor
from oasis.ui.terminal.equipment import Start
from oasis.ui.terminal.feed import Feed
from oasis.ui.terminal.keys import key_bindings
from oasis.ui.terminal.layout import STYLE, layout
from oasis.ui.terminal.live import Live
from oasis.ui.terminal.notify import LONG_S, notification
from oasis.ui.terminal.output import Scrollback, shrink, terminal_output
from oasis.ui.terminal.paint import Brush, has_colour
from oasis.ui.terminal.permission import Desk
from oasis.ui.terminal.status import Status, status_of

INTERRUPTED = 130
AGAIN_S = 2.0
TYPING_S = 0.6
_PATH = re.compile(r'(?<!\S)@(?:"([^"]+)"|(\S+))')


class Terminal:
    """One interactive session on this process' terminal; `run` returns the exit code."""

    def __init__(self, start: Start) -> None:
        self.start = start
        self.clock = time.monotonic
        self._output = terminal_output()
        self.brush = Brush(lambda: self._output.get_size().columns)
        self.live, self.drawer = Live(), Drawer()
        self.scrollback = Scrollback(lambda: self._is_lent)
        self.feed = Feed(self.brush, self.live, self.drawer, self.scrollback.write, self.redraw)
        self.conversation = Conversation(start, self.show, self._ask, self._agree)
        self.desk = Desk(self._announce, self.redraw, self.feed.call_of, self._propose, self._allow)
        commands = {command.name: command.summary for command in COMMANDS.values()}
        self.files = Files(start.project)
        completer = InputCompleter(commands, lambda name: arguments_of(self, name), self.files)
        self.editor = Editor(user_state_path("oasis") / "history.jsonl", ThreadedCompleter(completer))
        self.live.queued = self.conversation.queued
        self.app: Application[int] = Application(
            layout=layout(self),
            key_bindings=key_bindings(self),
            style=STYLE,
            output=self._output,
            include_default_pygments_style=False,
            erase_when_done=True,
            min_redraw_interval=0.02,
            color_depth=None if has_colour() else ColorDepth.DEPTH_1_BIT,
            before_render=shrink,
        )
        self.app.timeoutlen = 0.05
        self.app.ttimeoutlen = 0.05
        self.scrollback.app = self.app
        self._is_lent = False
        self.turns = asyncio.Lock()
        self.shells: list[asyncio.Event] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_ready = asyncio.Event()
        self._has_work = asyncio.Event()
        self._ended_before_s = -AGAIN_S
        self._typed_s = -TYPING_S
        self._turn_began_s = 0.0
        self._fault: BaseException | None = None
        self.editor.buffer.on_text_insert += self._note_typing

    @property
    def rows(self) -> int:
        return self._output.get_size().rows

    async def run(self) -> int:
        """Until the person ends it. Raises OasisError where it cannot go on."""
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, context: self._unforeseen(context))
        for name in ("SIGTERM", "SIGHUP", "SIGINT"):
            if hasattr(signal, name) and sys.platform != "win32":
                loop.add_signal_handler(getattr(signal, name), self._leave, INTERRUPTED)
        if self.start.task:
            self.conversation.queued.append(self.start.task)
            self.wake()
        self.keep(self._open())
        self.keep(self._work())
        self.keep(self._tick())
        try:
            with suppress(EOFError):
                code = await self.app.run_async(handle_sigint=False, set_exception_handler=False)
                if self._fault:
                    raise self._fault
                return code
            return INTERRUPTED
        finally:
            await self._close()

    def keep(self, work: Coroutine[Any, Any, None]) -> None:
        """Run something beside the input; a fault in it is told, or ends the session where it is unforeseen."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def redraw(self) -> None:
        """Have the live area drawn anew soon."""
        if not self._is_lent:
            self.scrollback.release()
        self.app.invalidate()

    def show(self, event: Event) -> None:
        """Show an event of the loop."""
        self.feed.show(event)
        if isinstance(event, TurnStarted):
            self._turn_began_s = self.clock()
        elif isinstance(event, TurnFinished) and self.clock() - self._turn_began_s > LONG_S:
            self._notify(f"turn {event.turn}: {event.reason}")

    def say(self, text: str) -> None:
        """Print a line of Oasis' own."""
        self.feed.show(Said(text))

    def status(self) -> Status:
        """What the bottom line says now."""
        return status_of(self.conversation, is_connecting=not self._is_ready.is_set())

    def enter(self) -> None:
        """Enter was pressed: an answer, a line break after a backslash, or what was typed is sent."""
        question = self.desk.question
        if question is not None and question.wants_words:
            self.desk.explain(self.editor.take())
            self._typed_s = -TYPING_S
        elif question is not None and self.editor.is_empty:
            self.answer("")
        elif self.editor.close_menu() and not self.editor.text.startswith("/"):
            self.redraw()
        elif not self.editor.continue_line():
            self.submit(self.editor.take())

    def answer(self, key: str) -> None:
        """Answer the question, unless the person was just typing something else."""
        if self.clock() - self._typed_s > TYPING_S:
            self.desk.choose(key)

    def submit(self, text: str) -> None:
        """What was typed: a command, a shell command, or a message."""
        self._typed_s = -TYPING_S
        text = text.strip()
        if not text:
            return
        if text.startswith("!"):
            from oasis.ui.terminal.shell import run_shell  # noqa: PLC0415

            self.keep(run_shell(self, text[1:]))
        elif text.startswith("/") and "/" not in text.split(maxsplit=1)[0][1:]:
            self.feed.say(Text(f"{self.brush.signs.prompt} {text}", "dim"))
            self.keep(run_command(self, text))
        else:
            self.conversation.queued.append(self._with_paths(text))
            self._has_work.set()
        self.redraw()

    def escape(self) -> None:
        """Close what is open, else end the person's own command, else interrupt what is at work."""
        if self.editor.buffer.complete_state is not None:
            self.editor.buffer.cancel_completion()
        elif not self.desk.escape():
            self._interrupt()

    def control_c(self) -> None:
        """Empty the input, else interrupt; twice within two seconds ends."""
        now = self.clock()
        if now - self._ended_before_s < AGAIN_S:
            self._leave(0)
            return
        self._ended_before_s = now
        if not self.editor.is_empty:
            self.editor.buffer.reset()
        elif not self.desk.escape() and not self._interrupt():
            self.feed.note("Ctrl-C again ends the session.")
        self.redraw()

    def _interrupt(self) -> bool:
        from oasis.ui.terminal.shell import end_shell  # noqa: PLC0415

        return end_shell(self) or self.conversation.interrupt()

    def end(self) -> None:
        """End the session as the person asked."""
        self._leave(0)

    def next_mode(self) -> None:
        """Switch to the next permission mode."""
        from oasis.ui.terminal.commands.permissions import switch  # noqa: PLC0415

        switch(self)

    def toggle_reasoning(self) -> None:
        """Show reasoning in full from now on, or fold it again."""
        self.feed.shows_reasoning = not self.feed.shows_reasoning
        self.say(
            "Reasoning is shown in full." if self.feed.shows_reasoning else "Reasoning is folded; /open N opens it."
        )

    def open_last(self) -> None:
        """Print what was folded last."""
        if not self.feed.folded(self.drawer.last):
            self.say("Nothing was folded yet.")

    def take_back(self) -> None:
        """Have the message that was queued last in the input again."""
        if self.conversation.queued:
            self.editor.put_back(self.conversation.queued.pop())
            self.redraw()

    def edit_outside(self) -> None:
        """Edit the input in $VISUAL or $EDITOR."""
        self.keep(self._edit_outside())

    def wake(self) -> None:
        """There is something to send."""
        self._has_work.set()

    async def _edit_outside(self) -> None:
        self._is_lent = True
        try:
            await self.editor.buffer.open_in_editor()
        finally:
            self._is_lent = False
            self.redraw()

    async def _open(self) -> None:
        """Load the settings, find the model, resume; the input can be used meanwhile."""
        from oasis.ui.terminal.opening import open_up  # noqa: PLC0415

        if fault := await open_up(self):
            self._end_with(fault)
            return
        self._is_ready.set()
        self.redraw()

    async def _work(self) -> None:
        """Send what was typed, one turn after another."""
        await self._is_ready.wait()
        talk = self.conversation
        while True:
            await self._has_work.wait()
            self._has_work.clear()
            while talk.queued and not talk.is_working:
                try:
                    async with self.turns:
                        is_sent = await self._send()
                    if not is_sent:
                        self.take_back()
                        break
                except OasisError as fault:
                    self.say(str(fault))
                    break

    async def _send(self) -> bool:
        """One turn with what was typed; False where it could not be begun."""
        talk = self.conversation
        if not talk.queued:
            return True
        await talk.revive()
        if talk.connection is None:
            self.say("There is no model yet. /model FILE.gguf, /model NAME or /model URL connects one.")
            return False
        if not await talk.ready():
            return False
        items: list[User] = talk.take_queued()
        for item in items:
            self.feed.person(item.text)
        self.live.attached.clear()
        await talk.run(items)
        return True

    async def _tick(self) -> None:
        """While something goes on, its seconds are counted on the screen."""
        while True:
            await asyncio.sleep(1.0)
            if self.live.is_busy or self.live.running:
                self.redraw()

    async def _ask(self, ask: Any) -> Any:
        return await self.desk.ask(ask)

    async def _agree(self, title: str) -> bool:
        return await self.desk.approve(title)

    def _notify(self, text: str) -> None:
        """A notification, or a bell, for a person who has turned to something else."""
        how = self.conversation.equipped.settings.notify
        if how != "off":
            self.scrollback.raw(notification("Oasis", text) if how == "auto" else "\x07")

    def _announce(self, preview: Preview, call_id: str) -> None:
        self.feed.announce(preview.body, call_id)
        if self.clock() - self._turn_began_s > LONG_S:
            self._notify(f"asks: {preview.title}")

    def _propose(self, tool: str, preview: Preview) -> tuple[str, ...]:
        return self.conversation.propose(tool, preview)

    def _allow(self, patterns: tuple[str, ...]) -> None:
        self.conversation.equipped.permissions.allow_for_session(patterns)

    def _note_typing(self, buffer: Buffer) -> None:
        self._typed_s = self.clock()

    def _with_paths(self, text: str) -> str:
        """`@path` as the path itself where there is such a file."""

        def path(match: re.Match[str]) -> str:
            name = match[1] or match[2]
            return name if (self.start.project / name).exists() else match[0]

        return _PATH.sub(path, text)

    def _leave(self, code: int) -> None:
        if self.app.is_running and not self.app.is_done:
            self.app.exit(result=code)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        fault = None if task.cancelled() else task.exception()
        if isinstance(fault, OasisError):
            self.say(str(fault))
        elif fault is not None:
            self._end_with(fault)

    def _end_with(self, fault: BaseException) -> None:
        self._fault = self._fault or fault
        self._leave(1)

    def _unforeseen(self, context: dict[str, Any]) -> None:
        fault = context.get("exception")
        if isinstance(fault, BaseException):
            self._end_with(fault)

    async def _close(self) -> None:
        for task in [*self._tasks]:
            task.remove_done_callback(self._done)
            task.cancel()
        with suppress(Exception):
            self.feed.close()
        session = self.conversation.session
        told = session.id if session else ""
        if self.conversation.connection is not None and self.conversation.connection.kv is not None and session:
            self.feed.note("Saving what the model computed ...")
        await self.conversation.close()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if told:
            self.feed.note(f"oasis --resume {told} goes on with this session.")
