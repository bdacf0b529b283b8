"""Writing to the terminal: finished lines go to the scrollback once, the live area below them is redrawn.

Erasing the live area, the new lines and the live area again leave in one write, so nothing flickers.
"""

import os
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import Any

from prompt_toolkit.application import Application
from prompt_toolkit.application.current import set_app
from prompt_toolkit.output import Output, create_output
from prompt_toolkit.output.vt100 import Vt100_Output

MIN_REDRAW_S, MAX_REDRAW_S = 0.02, 2.0


class HeldOutput(Vt100_Output):
    """A terminal that can hold back what is written and send it at once. It is never asked where its cursor is.

    What is written to a terminal that has gone away is lost, and nothing else happens.
    """

    is_held = False
    clock = staticmethod(time.monotonic)
    took_s = 0.0
    """How long the terminal took to take what was written last."""

    def erase_down(self) -> None:
        """To the end of the screen; the first line on its own.

        tmux keeps what is erased from the screen's first cell on in its history, where each redraw would leave a copy.
        """
        self.write_raw("\x1b[K\x1b7\r\x1b[B\x1b[J\x1b8")

    def flush(self) -> None:
        if not self.is_held:
            began_s = self.clock()
            with suppress(OSError):
                super().flush()
            self.took_s = self.clock() - began_s


def terminal_output() -> Output:
    """The output of this process' terminal."""
    if sys.platform == "win32":
        return create_output()
    output = HeldOutput.from_pty(sys.stdout, term=os.environ.get("TERM"))
    output.enable_cpr = False
    return output


@contextmanager
def held(output: Output) -> Generator[None]:
    """What is written inside leaves in one piece at the end, where the terminal can do that."""
    if not isinstance(output, HeldOutput) or output.is_held:
        yield
        return
    output.is_held = True
    try:
        yield
    finally:
        output.is_held = False
        output.flush()


class Scrollback:
    """Lines above the live area of an application. They are written once and never touched again."""

    def __init__(self) -> None:
        self.app: Application[Any] | None = None
        self._is_lent = False
        self._waiting: list[str] = []

    @contextmanager
    def lent(self) -> Generator[None]:
        """While inside, another program has the terminal: lines wait."""
        self._is_lent = True
        try:
            yield
        finally:
            self._is_lent = False
            self.redraw()

    def redraw(self) -> None:
        """Write what waited, and have the live area drawn anew soon."""
        if not self._is_lent:
            self.release()
        if self.app is not None:
            self.app.invalidate()

    def write(self, text: str) -> None:
        """Write whole lines; escape sequences for colour are allowed in `text`."""
        self._waiting.append(text if text.endswith("\n") else text + "\n")
        if not self._is_lent:
            self.release()

    def raw(self, text: str) -> None:
        """Send a sequence that moves nothing on the screen."""
        if self.app is not None and not self._is_lent:
            self.app.output.write_raw(text)
            self.app.output.flush()

    def release(self) -> None:
        """Write what waited."""
        if not self._waiting:
            return
        text, self._waiting = "".join(self._waiting).replace("\n", "\r\n"), []
        app = self.app
        if app is None or not app.is_running:
            with suppress(OSError):
                sys.stdout.write(text.replace("\r\n", "\n"))
                sys.stdout.flush()
            return
        with held(app.output), set_app(app):
            app.renderer.erase(leave_alternate_screen=False)
            app.output.write_raw(text)
            if not app.is_done:
                app.renderer.render(app, app.layout)


def before_render(app: Application[Any]) -> None:
    """Take back the rows that the live area no longer needs; draw seldom where the line to the terminal is slow."""
    app.min_redraw_interval = redraw_interval_s(app.output)
    _shrink(app)


def redraw_interval_s(output: Output) -> float:
    """The least time between two drawings: the terminal has at most a third of it to take one, so keys are heard."""
    took_s = output.took_s if isinstance(output, HeldOutput) else 0.0
    return min(MAX_REDRAW_S, max(MIN_REDRAW_S, 3 * took_s))


def _shrink(app: Application[Any]) -> None:
    last = app.renderer.last_rendered_screen
    if last is None:
        return
    size = app.output.get_size()
    wanted = app.layout.container.preferred_height(size.columns, size.rows).preferred
    if wanted < last.height:
        app.renderer.erase(leave_alternate_screen=False)
