"""Tables of texts as CSV or Markdown: shown where they are opened, never run, whoever they come from."""

import csv
import io
from collections.abc import Sequence

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "|")
"""What spreadsheets take for the beginning of a formula, or of a command."""


def as_markdown(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [_line(headings), _line(["---"] * len(headings)), *(_line(row) for row in rows)]
    return "\n".join(lines) + "\n"


def as_csv(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """CSV (RFC 4180); what a spreadsheet would take for a formula begins with an apostrophe."""
    text = io.StringIO()
    out = csv.writer(text)
    out.writerow(headings)
    out.writerows([[harmless(cell) for cell in row] for row in rows])
    return text.getvalue()


def harmless(cell: str) -> str:
    """The text, with an apostrophe before what a spreadsheet would take for a formula; a number stays one."""
    if not cell.lstrip(" ").startswith(_FORMULA):
        return cell
    try:
        float(cell)
    except ValueError:
        return f"'{cell}"
    return cell


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(_escaped(cell) for cell in cells)} |"


def _escaped(cell: str) -> str:
    shown = "".join(char if char.isprintable() else " " for char in cell)
    for mark in "\\|<>`*_[":
        shown = shown.replace(mark, f"\\{mark}")
    return shown
