"""/help: commands and keys."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from oasis.ui.terminal.commands.base import Command
from oasis.ui.terminal.listing import rows

if TYPE_CHECKING:
    from oasis.ui.terminal.workplace import Workplace

KEYS = (
    ("Enter", "send; while the model works: queue for the next safe point"),
    ("Alt-Enter, Ctrl-J, \\ Enter", "a new line"),
    ("Esc", "interrupt the step; what came so far is kept"),
    ("Ctrl-C twice, Ctrl-D", "end the session"),
    ("Shift-Tab", "next permission mode"),
    ("Ctrl-R", "search what was typed before"),
    ("Up", "what was typed before; with an empty input, take back what is queued"),
    ("Tab", "complete a /command or an @path"),
    ("Ctrl-X Ctrl-E", "edit the input in $VISUAL or $EDITOR"),
    ("Ctrl-O", "open what was folded last; /open N opens #N"),
    ("Ctrl-T", "show reasoning in full, or fold it"),
    ("!command", "run it yourself; the output goes along with your next message (!! keeps it from the model)"),
)


def help_on(commands: Sequence[Command]) -> Command:
    """The command that lists itself and these."""

    async def run(place: "Workplace", argument: str) -> None:
        from rich.text import Text  # noqa: PLC0415

        listed = [
            (f"/{command.name}", f"{command.arguments}: {command.summary}" if command.arguments else command.summary)
            for command in (about, *commands)
        ]
        place.feed.say(rows(listed), Text(""), rows(KEYS, "cyan"))

    about = Command("help", "", "commands and keys", run)
    return about
