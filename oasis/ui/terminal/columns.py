"""Columns of a table: how wide they are, and lines that stand across them."""

from collections.abc import Sequence

from rich.cells import cell_len
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

Row = tuple[Text, ...]
_LEAST = 6
GAP = 2
"""Blanks between two columns."""


def fitted_widths(widest: Sequence[int], least: Sequence[int], room: int) -> list[int] | None:
    """As wide as the widest cell of each; what is too much is taken from the widest columns, down to `least`.

    None where the columns do not fit side by side.
    """
    widths = list(widest)
    spare = room - GAP * (len(widths) - 1)
    while (excess := sum(widths) - spare) > 0:
        shrinkable = [n for n, width in enumerate(widths) if width > least[n]]
        if not shrinkable:
            return None
        most = max(shrinkable, key=lambda n: widths[n])
        others = [widths[n] for n in shrinkable if n != most]
        down_to = max(least[most], widths[most] - excess, min(widths[most] - 1, max(others, default=0)))
        widths[most] = down_to
    return widths


def in_columns(parts: Sequence[Row | RenderableType], width: int, right: Sequence[int] = ()) -> list[RenderableType]:
    """Rows below each other in the same columns, `right` ones at their right; what is no row stands across them."""
    rows = [part for part in parts if isinstance(part, tuple)]
    widest = [max(cell_len(cell.plain) for cell in column) for column in zip(*rows, strict=True)]
    least = [min(_LEAST, cells) for cells in widest]
    widths = fitted_widths(widest, least, width) or least
    drawn: list[RenderableType] = []
    table: Table | None = None
    for part in parts:
        if not isinstance(part, tuple):
            drawn.append(part)
            table = None
            continue
        if table is None:
            table = Table(box=None, show_header=False, pad_edge=False, padding=(0, GAP, 0, 0))
            for number, cells in enumerate(widths):
                table.add_column(width=cells, justify="right" if number in right else "left", overflow="fold")
            drawn.append(table)
        table.add_row(*part)
    return drawn
