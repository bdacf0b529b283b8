"""Names and what they mean in two columns, and numbers with their word."""

from typing import TYPE_CHECKING

from oasis.ui.terminal.paint import words

if TYPE_CHECKING:
    from rich.table import Table


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
