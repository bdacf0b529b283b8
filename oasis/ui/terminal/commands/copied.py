"""/copy: the model's last answer, or what was shown in brief, into the clipboard."""

from typing import TYPE_CHECKING

from oasis.ui.terminal.commands.base import Command
from oasis.ui.terminal.commands.opened import numbers

if TYPE_CHECKING:
    from oasis.ui.terminal.workplace import Workplace


async def _copy(place: "Workplace", argument: str) -> None:
    from oasis.ui.terminal.clipboard import copying  # noqa: PLC0415

    number = argument.lstrip("#")
    folded = place.drawer.get(int(number)) if number.isdecimal() else None
    text = folded.text if folded else "" if argument else _last_answer(place)
    if not text:
        place.say(f"There is no #{number[:20]}." if argument else "The model has not answered yet.")
        return
    try:
        place.scrollback.raw(copying(text))
    except ValueError as error:
        place.say(f"Not copied: {error}. /export writes the session to a file.")
        return
    place.say(
        f"{len(text):,} characters were sent to the terminal's clipboard. A terminal that does not allow it leaves "
        "the clipboard as it was."
    )


def _last_answer(place: "Workplace") -> str:
    """The model's last message with a text."""
    from oasis.core.items import Assistant  # noqa: PLC0415

    session = place.conversation.session
    items = session.transcript.items if session else ()
    return next((item.text for item in reversed(items) if isinstance(item, Assistant) and item.text.strip()), "")


COMMANDS = (Command("copy", "[N]", "the last answer, or all of #N, into the clipboard", _copy, numbers),)
