"""/help, /status, /quit."""

from typing import TYPE_CHECKING

from rich.text import Text

from oasis.ui.terminal.commands.base import Command
from oasis.ui.terminal.paint import words

if TYPE_CHECKING:
    from rich.table import Table

    from oasis.ui.terminal.terminal import Terminal

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


def rows(pairs: list[tuple[str, str]] | tuple[tuple[str, str], ...], style: str = "bold") -> "Table":
    """Two columns: a name and what it means."""
    from rich.table import Table  # noqa: PLC0415

    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for name, text in pairs:
        table.add_row(words(name, style), words(text))
    return table


def counted(number: int, what: str) -> str:
    """`1 turn`, `2 turns`."""
    return f"{number:,} {what}{'s' * (number != 1)}"


async def _help(terminal: "Terminal", argument: str) -> None:
    from oasis.ui.terminal.commands import COMMANDS  # noqa: PLC0415

    listed = [
        (f"/{command.name}", f"{command.arguments}: {command.summary}" if command.arguments else command.summary)
        for command in COMMANDS.values()
    ]
    terminal.feed.say(rows(listed), Text(""), rows(KEYS, "cyan"))


async def _status(terminal: "Terminal", argument: str) -> None:
    talk, status = terminal.conversation, terminal.status()
    session = talk.session
    told = [
        ("model", f"{status.model or 'none'}{f', {status.lane} lane' if status.lane else ''}"),
        ("project", str(talk.project)),
        ("session", session.id if session else "not begun; its file is made with the first message"),
        ("permissions", status.mode),
    ]
    if session is not None:
        usage = session.usage
        so_far = f"{counted(session.turns, 'turn')}, {counted(session.steps, 'step')}, epoch {session.transcript.epoch}"
        told.append(("so far", so_far))
        if usage.is_cache_known:
            cost = f"{usage.prompt_tokens:,} presented, {usage.computed_tokens:,} computed, {session.new_tokens:,} new"
            told.append(("prompt tokens", cost))
        if status.amplification is not None:
            told.append(("amplification", f"{status.amplification:.3f} (1.00 is the limit)"))
    if status.used is not None:
        told.append(("context", f"{status.used:,} of {status.limit:,} tokens" if status.limit else f"{status.used:,}"))
    told.append(("packs", ", ".join(status.packs) or "none"))
    told.append(("site file", f"{status.site or 'none'}, {'WRITING POSSIBLE' if status.can_write else 'no writing'}"))
    told.append(("state saved", "yes" if talk.connection and talk.connection.kv else "no"))
    terminal.feed.say(rows(told))


async def _quit(terminal: "Terminal", argument: str) -> None:
    terminal.end()


COMMANDS = (
    Command("help", "", "commands and keys", _help),
    Command("status", "", "model, session, figures, permissions, plant (/cost too)", _status),
    Command("quit", "", "end the session; it can be resumed (/exit too)", _quit),
)
