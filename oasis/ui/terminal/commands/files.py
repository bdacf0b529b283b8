"""/diff and /undo: what this session did to files."""

from typing import TYPE_CHECKING

from rich.text import Text

from oasis.ui.terminal.commands.base import Command
from oasis.ui.terminal.diff import coloured

if TYPE_CHECKING:
    from oasis.ui.terminal.terminal import Terminal


async def _diff(terminal: "Terminal", argument: str) -> None:
    from oasis.ui.terminal.changes import changes  # noqa: PLC0415

    talk = terminal.conversation
    found = changes(talk.session.id, talk.project) if talk.session else []
    found = [(name, diff) for name, diff in found if not argument or name == argument]
    if not found:
        terminal.say("This session's tools have changed no file that is still changed.")
    for name, diff in found:
        terminal.feed.say(Text(name, "bold"), coloured(diff, max_lines=400))


async def _undo(terminal: "Terminal", argument: str) -> None:
    done = terminal.conversation.undo_turn()
    if done is None:
        terminal.say("No turn of this session has changed files that could be put back.")
        return
    terminal.say(f"{done.words}\nThe model is told at the end of the conversation; nothing of it is rewritten.")


COMMANDS = (
    Command("diff", "[FILE]", "what this session's tools changed in files", _diff),
    Command("undo", "", "put back the files that the last turn changed", _undo, is_for_idle=True),
)
