"""A question to the person at the terminal, while connections stay alive."""

import asyncio
import contextlib
import os
import sys
import threading

import typer


def has_person() -> bool:
    """Whether somebody can be asked: standard input is a terminal."""
    return sys.stdin.isatty()


async def answer(question: str) -> str:
    """What the person types from now on, without the line's end; empty at the end of input."""
    _forget_typed_ahead()
    typer.echo(question, err=True, nl=False)
    loop = asyncio.get_running_loop()
    typed: asyncio.Future[str] = loop.create_future()

    def told(text: str) -> None:
        if not typed.done():
            typed.set_result(text)

    def read() -> None:
        data = b""
        while not data.endswith(b"\n"):
            try:
                more = os.read(sys.stdin.fileno(), 1024)
            except (OSError, ValueError):
                break
            if not more:
                break
            data += more
        if not loop.is_closed():
            loop.call_soon_threadsafe(told, data.decode("utf-8", "replace").strip())

    # A thread of the standard library's executor would be waited for at the end, and so would the person.
    threading.Thread(target=read, daemon=True).start()
    try:
        return await typed
    except asyncio.CancelledError:
        typer.echo("\nInterrupted before an answer: nothing was sent.", err=True)
        raise


def _forget_typed_ahead() -> None:
    """Drop what was typed before the question stood there: it is no answer to it."""
    if os.name == "nt":
        import msvcrt

        while msvcrt.kbhit():
            msvcrt.getwch()
        return
    import termios

    with contextlib.suppress(termios.error, OSError, ValueError):
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
