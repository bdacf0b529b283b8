"""What the system tells a session: to end, to stop for a while, to go on."""

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from typing import Any

from prompt_toolkit.application import Application, run_in_terminal
from prompt_toolkit.application.current import set_app

_ENDS = ("SIGTERM", "SIGHUP", "SIGINT")


@contextmanager
def hear_signals(app: Application[Any], end: Callable[[], None]) -> Generator[None]:
    """While inside: signals that ask for the end call `end`; being stopped and going on leave the terminal in order.

    On Windows there is none of them.
    """
    if sys.platform == "win32":
        yield
        return
    loop, paused = asyncio.get_running_loop(), _Paused(app)
    heard: dict[int, Callable[[], None]] = {getattr(signal, name): end for name in _ENDS}
    heard |= {signal.SIGTSTP: paused.stop, signal.SIGCONT: paused.go_on}
    for number, act in heard.items():
        loop.add_signal_handler(number, act)
    try:
        yield
    finally:
        for number in heard:
            loop.remove_signal_handler(number)


def stop_group() -> None:
    """Stop this process and its children, as a terminal's own Ctrl-Z does."""
    os.kill(0, signal.SIGTSTP)


class _Paused:
    """A session that is stopped by its shell or by another process."""

    def __init__(self, app: Application[Any]) -> None:
        self._app = app
        self._is_own = False

    def stop(self) -> None:
        """Give the terminal back as it was, then stop."""
        with set_app(self._app):
            run_in_terminal(self._stop)

    def _stop(self) -> None:
        loop = asyncio.get_running_loop()
        loop.remove_signal_handler(signal.SIGTSTP)
        self._is_own = True
        os.kill(os.getpid(), signal.SIGTSTP)
        loop.add_signal_handler(signal.SIGTSTP, self.stop)

    def go_on(self) -> None:
        """Where the process was stopped without being heard (SIGSTOP), take the terminal again and draw anew."""
        if self._is_own:
            self._is_own = False
            return
        with suppress(OSError):
            self._app.input.raw_mode().__enter__()
        self._app.renderer.reset()
        self._app.invalidate()
