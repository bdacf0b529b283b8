"""The values that a device gave, as a table with units and status.

The tool's output is text (oasis/plant/render.py): `[url]`, a line for each value, and a last line in [ ].
"""

import re

from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from oasis.ui.clean import clean

MAX_ROWS = 60
_GAP = 2
_LEAST = 6
_NAMES = tuple(Text(name, "dim") for name in ("point", "value", "unit", "status", "where"))
_VALUE = 1
_URL = re.compile(r"^\[([a-z][\w.+-]*://[^\]]*)\]$")
_LINE = re.compile(r'^(?P<point>\S.*?): (?P<value>"(?:[^"\\]|\\.)*"|\S+)(?P<rest>.*)$')
_STATUS = re.compile(r"\[([^\]]*)\]")
_RAW = re.compile(r"(?:^| )((?:0x)?(?:[0-9A-Fa-f]{2,}(?: [0-9A-Fa-f]{2,})*|[0-9]))$")
_READ = re.compile(r"^\[(?:\d+|first) values?\b")

_Row = tuple[Text, ...]


def device_table(text: str, width: int) -> Group | None:
    """The table for a reading's output, at most `width` columns wide; None for any other text.

    Devices and notes stand across the columns, notes below the value that they are about.
    """
    lines = clean(text).strip().split("\n")
    if not (_URL.match(lines[0]) and any(map(_READ.match, lines))):
        return None
    parts: list[_Row | RenderableType] = [_NAMES]
    rows = left_out = 0
    for line in lines:
        row = None if line.startswith(("[", " ")) else _row(line)
        left_out += row is not None and rows >= MAX_ROWS
        if row is not None and rows < MAX_ROWS:
            parts.append(row)
            rows += 1
        elif (device := _URL.match(line)) or (line.startswith("  ") and not left_out):
            parts.append(Text(device[1], "dim") if device else Padding(Text(line.strip(), "dim"), (0, 0, 0, 2)))
    if left_out:
        parts.append(Text(f"{left_out} more", "dim"))
    return Group(*_drawn(parts, width)) if rows else None


def _drawn(parts: list[_Row | RenderableType], width: int) -> list[RenderableType]:
    """Rows that follow one another as a table; all tables have the same columns."""
    widths = _widths([part for part in parts if isinstance(part, tuple)], width)
    drawn: list[RenderableType] = []
    table: Table | None = None
    for part in parts:
        if not isinstance(part, tuple):
            drawn.append(part)
            table = None
            continue
        if table is None:
            table = _columns(widths)
            drawn.append(table)
        table.add_row(*part)
    return drawn


def _columns(widths: list[int]) -> Table:
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, _GAP, 0, 0))
    for number, width in enumerate(widths):
        table.add_column(width=width, justify="right" if number == _VALUE else "left", overflow="fold")
    return table


def _widths(rows: list[_Row], width: int) -> list[int]:
    """As wide as the widest cell; what is too much is taken from the widest columns."""
    widths = [max(cell_len(cell.plain) for cell in column) for column in zip(*rows, strict=True)]
    while sum(widths) + _GAP * (len(widths) - 1) > width and max(widths) > _LEAST:
        widths[widths.index(max(widths))] -= 1
    return widths


def _row(line: str) -> _Row | None:
    found = _LINE.match(line)
    if found is None:
        return None
    first, _, where = found["rest"].partition(", ")
    status = _STATUS.search(first)
    unit = first[: status.start()] if status else first
    if not status and (raw := _RAW.search(unit)):
        unit = unit[: raw.start()]
    said = status[1] if status else "good"
    style = "" if said == "good" else "bold red"
    return (
        Text(found["point"]),
        Text(found["value"], style or "bold"),
        Text(unit.strip()),
        Text(said, style or "green"),
        Text(where, "dim"),
    )
