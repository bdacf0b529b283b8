"""/open and /drop: whole outputs, reasoning, previews that were shown in one line; what waits to go along."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from oasis.ui.terminal.commands.base import Command

if TYPE_CHECKING:
    from oasis.ui.terminal.terminal import Terminal


async def _open(terminal: "Terminal", argument: str) -> None:
    number = argument.lstrip("#")
    if not argument:
        terminal.open_last()
    elif not number.isdecimal() or not terminal.feed.folded(int(number)):
        terminal.say(f"There is no #{number[:20]} to open; the newest is #{terminal.drawer.last}.")


def _numbers(terminal: "Terminal") -> Sequence[str]:
    return [str(number) for number, _ in terminal.drawer.numbers()[:30]]


async def _drop(terminal: "Terminal", argument: str) -> None:
    from oasis.ui.terminal.shell import drop  # noqa: PLC0415

    await drop(terminal)


COMMANDS = (
    Command("open", "[N]", "print all of #N, or of what was folded last", _open, _numbers),
    Command("drop", "", "keep from the model what !commands gave", _drop),
)
