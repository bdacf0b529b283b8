"""A user's password: from the environment, or typed by the person at the terminal. It is kept nowhere but in memory."""

import os
import signal
import sys
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager

from oasis.errors import ToolFault
from oasis_opcua.address import Address
from oasis_opcua.texts import plain

ANYWHERE = "OASIS_OPCUA_PASSWORD"
"""The variable with the password for all servers that have none of their own."""
PATIENCE_S = 120.0
"""How long a person may take to type."""
_LOOK_S = 0.2
_MOST = 512


def known(address: Address) -> str | None:
    """The password of the address's user as the environment has it; None where it has none."""
    return next((os.environ[name] for name in (address.variable, ANYWHERE) if name in os.environ), None)


def asked(address: Address) -> str:
    """What the person at the terminal types, without it being shown. Raises ToolFault where there is none.

    The caller waits, and so does its event loop: nothing else may draw on the terminal meanwhile.
    """
    typed = ""
    if _has_person():
        question = f"Password of {plain(address.user, 60)} on {plain(address.host)}:{address.port} (not shown): "
        with _interruptible():
            typed = _typed_on_windows(question) if os.name == "nt" else _typed(question)
    if typed:
        return typed
    raise ToolFault(
        f"There is no password for {address.user!r} on {address.host}:{address.port}. Set {address.variable} (or "
        f"{ANYWHERE} for all servers) in the environment and start Oasis again; `oasis plant` asks for it at a "
        "terminal. Never write it into a URL."
    )


def _has_person() -> bool:
    """Can somebody be asked here? Not where standard input is no terminal, belongs to another job, or is drawn on."""
    try:
        if (
            not (sys.stdin.isatty() and sys.stderr.isatty())
            or threading.current_thread() is not threading.main_thread()
        ):
            return False
        if os.name == "nt":
            return True
        import termios  # noqa: PLC0415

        here = sys.stdin.fileno()
        modes = termios.tcgetattr(here)[3]
        is_ours = bool(modes & termios.ICANON and modes & termios.ECHO)
        return is_ours and os.tcgetpgrp(here) == os.getpgrp()
    except (OSError, ValueError, AttributeError):
        return False


@contextmanager
def _interruptible() -> Generator[None]:
    """Ctrl-C ends the question at once; an event loop's own handler would wait for the loop, which waits for us."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _typed(question: str) -> str:
    """A line of standard input, typed from now on. The echo is off before the question stands there."""
    import select  # noqa: PLC0415
    import termios  # noqa: PLC0415

    here = sys.stdin.fileno()
    before = termios.tcgetattr(here)
    silent = [*before]
    silent[3] &= ~termios.ECHO
    data = b""
    ends = time.monotonic() + PATIENCE_S
    termios.tcsetattr(here, termios.TCSAFLUSH, silent)
    try:
        _show(f"\r\x1b[K{question}")
        while not data.endswith(b"\n") and len(data) < _MOST and time.monotonic() < ends:
            if select.select([here], [], [], _LOOK_S)[0]:
                more = os.read(here, _MOST)
                if not more:
                    return ""
                data += more
    finally:
        termios.tcsetattr(here, termios.TCSADRAIN, before)
        _show("\n")
    return data.decode("utf-8", "replace").rstrip("\r\n") if data.endswith(b"\n") else ""


def _typed_on_windows(question: str) -> str:
    import msvcrt  # noqa: PLC0415

    keys: list[str] = []
    ends = time.monotonic() + PATIENCE_S
    _show(f"\r{question}")
    try:
        while time.monotonic() < ends:
            if not msvcrt.kbhit():  # type: ignore[attr-defined,unused-ignore]
                time.sleep(_LOOK_S / 4)
                continue
            key = str(msvcrt.getwch())  # type: ignore[attr-defined,unused-ignore]
            if key in "\r\n":
                return "".join(keys)
            if key == "\x03":
                raise KeyboardInterrupt
            keys = keys[:-1] if key == "\b" else [*keys, key]
    finally:
        _show("\n")
    return ""


def _show(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()
