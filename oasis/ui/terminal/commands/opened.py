"""/open and /drop: whole outputs, reasoning, previews that were shown in one line; what waits to go along."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from oasis.ui.terminal.commands.base import Command

if TYPE_CHECKING:
    from oasis.ui.terminal.workplace import Workplace


def open_last(place: "Workplace") -> None:
    """Print what was folded last."""
    if not place.feed.folded(place.drawer.last):
        place.say("Nothing was folded yet.")


async def _open(place: "Workplace", argument: str) -> None:
    number = argument.lstrip("#")
    if not argument:
        open_last(place)
    elif not number.isdecimal() or not place.feed.folded(int(number)):
        there = f"the newest is #{place.drawer.last}" if place.drawer.last else "nothing was folded yet"
        place.say(f"There is no #{number[:20]} to open; {there}.")


def numbers(place: "Workplace") -> Sequence[str]:
    """What can be opened, newest first."""
    return [str(number) for number, _ in place.drawer.numbers()[:30]]


async def _drop(place: "Workplace", argument: str) -> None:
    from oasis.ui.terminal.shell import drop  # noqa: PLC0415

    await drop(place)


COMMANDS = (
    Command("open", "[N]", "print all of #N, or of what was folded last", _open, numbers),
    Command("drop", "", "keep from the model what !commands gave", _drop),
)
