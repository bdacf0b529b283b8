"""Where tables go: a console that prints what devices say as text, never as markup or control characters."""

from collections.abc import Sequence

from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from oasis.ui.clean import clean

_SHORT = 12
"""Characters of a word that is never broken."""
_WHOLE = 28
"""Characters of an address or a tag up to which it stands on one line."""
_NAMES = ("tag", "address", "point", "")
"""Columns that are kept on one line where they can be; the one without a heading is a drawing."""
_BETWEEN = 3
"""Characters that a column takes besides its text: padding, and a divider before each but the first."""


def console(is_error: bool = False) -> Console:
    """The console of this process. Colours only where the terminal has them and NO_COLOR is not set."""
    return Console(stderr=is_error, highlight=False, markup=False, emoji=False, soft_wrap=False)


class FittedTable(Table):
    """A table whose columns are made as wide as a short word in them, or a name, before others get what is left."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        room = options.max_width - _BETWEEN * len(self.columns) + 1
        texts = [[str(column.header), *(str(part) for part in column.cells)] for column in self.columns]
        natural = [max(cell_len(text) for text in some) for some in texts]
        if sum(natural) > room:
            least = [_least(some, n == 0 or some[0] in _NAMES) for n, some in enumerate(texts)]
            for column, width, whole in zip(self.columns, _widths(natural, least, room), natural, strict=True):
                column.width, column.no_wrap = width, width >= whole
        yield from super().__rich_console__(console, options)


def _least(texts: Sequence[str], is_name: bool) -> int:
    """How narrow a column of these texts may become."""
    if is_name:
        return min(_WHOLE, max(cell_len(text) for text in texts))
    return max([1, *(cell_len(word) for text in texts for word in text.split() if cell_len(word) <= _SHORT)])


def _widths(natural: Sequence[int], least: Sequence[int], room: int) -> list[int]:
    """The columns' widths. What is left above the least goes to those that it makes whole, then to the longest texts.

    Where there is no room for the least, the widest become narrower.
    """
    widths = list(least)
    for _ in range(min(sum(widths) - room, sum(widths) - len(widths))):
        widths[widths.index(max(widths))] -= 1
    waiting = sorted(range(len(widths)), key=lambda n: natural[n] - widths[n])
    for place, n in enumerate(waiting):
        if natural[n] - widths[n] > (room - sum(widths)) // (len(waiting) - place):
            break
        widths[n] = natural[n]
    for _ in range(room - sum(widths)):
        lines = [whole / width if width < whole else 0.0 for whole, width in zip(natural, widths, strict=True)]
        widths[lines.index(max(lines))] += 1
    return widths


def table(*columns: str, right: Sequence[str] = ()) -> Table:
    """An empty table; columns in `right` are right-aligned."""
    made = FittedTable(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for name in columns:
        made.add_column(cell(name), justify="right" if name in right else "left", overflow="fold")
    return made


def cell(text: str, style: str = "") -> Text:
    """A cell's text, on one line, without control characters."""
    return Text(" ".join(clean(text).split("\n")).replace("\t", " "), style)
