"""What a call shows or gives, as it is drawn: diffs in colours, values of devices as a table, plans in two columns."""

import re
from typing import TYPE_CHECKING

from rich.console import RenderableType

from oasis.core.events import CallFinished
from oasis.core.items import Status
from oasis.ui.terminal import calls
from oasis.ui.terminal.diff import coloured
from oasis.ui.terminal.paint import words

if TYPE_CHECKING:
    from rich.table import Table

MAX_DIFF_LINES = 10_000
_NAME = re.compile(r"[a-z]+ {2,}(?=\S)")


def whole(text: str) -> RenderableType:
    """All of it: a diff with its colours, a plan as two columns, any other text as it is."""
    if calls.is_diff(text):
        return coloured(text, max_lines=MAX_DIFF_LINES)
    return _plan(text) or words(text)


def shown(event: CallFinished, body: str, width: int) -> list[RenderableType]:
    """What stands below the line of a call that went well. `body`: the preview's, empty where it was printed before."""
    found: list[RenderableType] = []
    if event.status is not Status.OK:
        return found
    if calls.is_diff(body):
        found.append(coloured(body))
    if event.text.startswith("["):
        from oasis.ui.terminal.tables import device_table  # noqa: PLC0415

        table = device_table(event.text, width)
        found += [table] if table is not None else []
    return found


def _plan(text: str) -> "Table | None":
    """A plan's lines `name    what`, so that what is long goes on below itself; None for any other text."""
    lines = text.split("\n")
    first = _NAME.match(lines[0])
    at = first.end() if first else 0
    if not at or not all(line[:at].rstrip().isalpha() and line[at - 1] == " " for line in lines):
        return None
    from rich.table import Table  # noqa: PLC0415

    table = Table.grid()
    table.add_column(width=at, no_wrap=True)
    table.add_column(overflow="fold")
    for line in lines:
        table.add_row(words(line[:at]), words(line[at:]))
    return table
