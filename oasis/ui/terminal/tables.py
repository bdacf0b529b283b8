"""The values that a device gave, as a table with units and status.

The tool's output is text (oasis/plant/render.py): `[url]`, a line for each value, and a last line in [ ].
"""

import re

from rich.table import Table
from rich.text import Text

from oasis.ui.clean import clean

MAX_ROWS = 60
_URL = re.compile(r"^\[([a-z][\w.+-]*://[^\]]*)\]$")
_LINE = re.compile(r'^(?P<point>\S.*?): (?P<value>"(?:[^"\\]|\\.)*"|\S+)(?P<rest>.*)$')
_STATUS = re.compile(r"\[([^\]]*)\]")
_RAW = re.compile(r"(?:^| )((?:0x)?(?:[0-9A-Fa-f]{2,}(?: [0-9A-Fa-f]{2,})*|[0-9]))$")
_READ = re.compile(r"^\[(?:\d+|first) values?\b")


def device_table(text: str) -> Table | None:
    """The table for a reading's output; None for any other text."""
    lines = clean(text).strip().split("\n")
    if not (_URL.match(lines[0]) and any(map(_READ.match, lines))):
        return None
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_edge=False, header_style="dim")
    for name in ("point", "value", "unit", "status", "where"):
        table.add_column(name, justify="right" if name == "value" else "left", overflow="fold")
    rows = 0
    for line in lines:
        if _URL.match(line):
            table.add_row(Text(line[1:-1], "dim"), "", "", "", "")
        elif line.startswith("["):
            continue
        elif line.startswith("  "):
            table.add_row(Text(line, "dim"), "", "", "", "")
        elif rows < MAX_ROWS and (row := _row(line)):
            table.add_row(*row)
            rows += 1
    left_out = sum(1 for line in lines if _LINE.match(line)) - rows
    if left_out > 0:
        table.add_row(Text(f"{left_out} more", "dim"), "", "", "", "")
    return table if rows else None


def _row(line: str) -> tuple[Text, ...] | None:
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
