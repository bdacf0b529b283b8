"""/diff and /undo: what this session did to files."""

from typing import TYPE_CHECKING

from rich.text import Text

from oasis.ui.terminal.commands.base import Command
from oasis.ui.terminal.diff import coloured

if TYPE_CHECKING:
    from oasis.ui.terminal.workplace import Workplace


async def _diff(place: "Workplace", argument: str) -> None:
    from oasis.ui.terminal.changes import changes  # noqa: PLC0415

    talk = place.conversation
    found = changes(talk.session.id, talk.project) if talk.session else []
    found = [(name, diff) for name, diff in found if not argument or name == argument]
    if not found:
        place.say("This session's tools have changed no file that is still changed.")
    for name, diff in found:
        place.feed.say(Text(name, "bold"), coloured(diff, max_lines=400))


async def _undo(place: "Workplace", argument: str) -> None:
    done = place.conversation.undo_turn()
    if done is None:
        place.say("No turn of this session has changed files that could be put back.")
        return
    place.say(f"{done.words}\nThe model is told at the end of the conversation; nothing of it is rewritten.")


COMMANDS = (
    Command("diff", "[FILE]", "what this session's tools changed in files", _diff),
    Command("undo", "", "put back the files that the last turn changed", _undo, is_for_idle=True),
)
