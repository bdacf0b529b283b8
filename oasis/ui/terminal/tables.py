"""The values that a device gave, as a table with units and status.

The tool's output is text (oasis/plant/render.py): `[url]`, a line for each value, and a last line in [ ].
"""

import re

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from oasis.ui.clean import clean
from oasis.ui.terminal.columns import Row, in_columns

MAX_ROWS = 60
_NAMES = tuple(Text(name, "dim") for name in ("point", "value", "unit", "status", "where"))
_VALUE = 1
_URL = re.compile(r"^\[([a-z][\w.+-]*://[^\]]*)\]$")
_LINE = re.compile(r'^(?P<point>\S.*?): (?P<value>"(?:[^"\\]|\\.)*"|\S+)(?P<rest>.*)$')
_STATUS = re.compile(r"\[([^\]]*)\]")
_RAW = re.compile(r"(?:^| )((?:0x)?(?:[0-9A-Fa-f]{2,}(?: [0-9A-Fa-f]{2,})*|[0-9]))$")
_READ = re.compile(r"^\[(?:\d+|first) values?\b")


def device_table(text: str, width: int) -> Group | None:
    """The table for a reading's output, at most `width` columns wide; None for any other text.

    Devices and notes stand across the columns, notes below the value that they are about.
    """
    lines = clean(text).strip().split("\n")
    if not (_URL.match(lines[0]) and any(map(_READ.match, lines))):
        return None
    parts: list[Row | RenderableType] = [_NAMES]
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
    return Group(*in_columns(parts, width, right=(_VALUE,))) if rows else None


def _row(line: str) -> Row | None:
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
