"""Where tables go: a console that prints what devices say as text, never as markup or control characters."""

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from oasis.ui.clean import clean


def console(is_error: bool = False) -> Console:
    """The console of this process. Colours only where the terminal has them and NO_COLOR is not set."""
    return Console(stderr=is_error, highlight=False, markup=False, emoji=False, soft_wrap=False)


def table(*columns: str, right: Sequence[str] = ()) -> Table:
    """An empty table; columns in `right` are right-aligned. The first does not wrap."""
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for number, name in enumerate(columns):
        made.add_column(cell(name), justify="right" if name in right else "left", overflow="fold", no_wrap=number == 0)
    return made


def cell(text: str, style: str = "") -> Text:
    """A cell's text, on one line, without control characters."""
    return Text(" ".join(clean(text).split("\n")).replace("\t", " "), style)
