"""The interactive session: a prompt at the bottom of the terminal, the conversation in its scrollback."""

import asyncio
from contextlib import suppress
from pathlib import Path

from prompt_toolkit.application import Application
from prompt_toolkit.output import ColorDepth

from oasis.ui.terminal.actions import Actions
from oasis.ui.terminal.complete import completer
from oasis.ui.terminal.editor import Editor
from oasis.ui.terminal.equipment import Start
from oasis.ui.terminal.keys import key_bindings
from oasis.ui.terminal.layout import STYLE, layout
from oasis.ui.terminal.output import MIN_REDRAW_S, before_render, terminal_output
from oasis.ui.terminal.paint import has_colour
from oasis.ui.terminal.signals import hear_signals
from oasis.ui.terminal.turns import count_seconds, send_what_is_queued
from oasis.ui.terminal.workplace import Workplace

INTERRUPTED = 130
ESCAPE_S = 0.05
"""So long an Esc may be the beginning of another key's sequence."""


class Terminal:
    """One interactive session on this process' terminal; `run` returns the exit code."""

    def __init__(self, start: Start) -> None:
        self._place = place = Workplace(start, terminal_output())
        self._editor = Editor(_history, completer(place))
        self._actions = Actions(place, self._editor)
        self._app: Application[int] = Application(
            layout=layout(place, self._editor),
            key_bindings=key_bindings(place, self._editor, self._actions),
            style=STYLE,
            output=place.output,
            include_default_pygments_style=False,
            erase_when_done=True,
            min_redraw_interval=MIN_REDRAW_S,
            color_depth=None if has_colour() else ColorDepth.DEPTH_1_BIT,
            before_render=before_render,
        )
        self._app.timeoutlen = self._app.ttimeoutlen = ESCAPE_S
        place.scrollback.app = self._app

    async def run(self) -> int:
        """Until the person ends it. Raises OasisError where it cannot go on."""
        place = self._place
        asyncio.get_running_loop().set_exception_handler(place.tasks.unforeseen)
        if place.start.task:
            place.live.queued.append(place.start.task)
            place.has_work.set()
        for work in (self._open(), send_what_is_queued(place, self._actions.take_back), count_seconds(place)):
            place.tasks.keep(work)
        with hear_signals(self._app, end=lambda: place.end(INTERRUPTED)):
            try:
                return await self._until_ended()
            finally:
                await self._close()

    async def _until_ended(self) -> int:
        """The exit code; a terminal that has gone away counts as an interrupt."""
        code = INTERRUPTED
        with suppress(EOFError):
            code = await self._app.run_async(handle_sigint=False, set_exception_handler=False)
        if fault := self._place.tasks.fault:
            raise fault
        return code

    async def _open(self) -> None:
        """Load the settings, find the model, resume; the input can be used meanwhile."""
        from oasis.ui.terminal.opening import open_up  # noqa: PLC0415

        place = self._place
        if fault := await open_up(place):
            place.tasks.end_with(fault)
            return
        place.is_ready.set()
        place.redraw()

    async def _close(self) -> None:
        place, talk = self._place, self._place.conversation
        place.tasks.cancel()
        with suppress(Exception):
            place.feed.close()
        session = talk.session.id if talk.session else ""
        if session and talk.connection is not None and talk.connection.kv is not None:
            place.feed.note("Saving what the model computed ...")
        await talk.close()
        await place.tasks.ended()
        if session:
            place.feed.note(f"oasis --resume {session} goes on with this session.")


def _history() -> Path:
    from platformdirs import user_state_path  # noqa: PLC0415

    return user_state_path("oasis") / "history.jsonl"
