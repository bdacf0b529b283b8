"""Readings and scans as tables."""

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from oasis.plant.driver import Found, Scan
from oasis.plant.values import GOOD, Reading, spelled
from oasis.ui.plant.page import cell, table

_MOST_RAW = 20


def show_readings(out: Console, url: str, readings: Sequence[Reading]) -> None:
    """A table of readings, then what is to be said of some of them."""
    has_tags = any(reading.point.name for reading in readings)
    has_times = any(reading.at for reading in readings)
    columns = [*(["tag"] if has_tags else []), "address", "value", "unit", "raw", "where", *(["time"] * has_times)]
    made = table(*columns, right=("value",))
    for reading in readings:
        row = [reading.point.address, value(reading), reading.point.form.unit, _short(reading.raw), reading.where]
        cells = [*([reading.point.name] if has_tags else []), *row, *([reading.at] * has_times)]
        made.add_row(*(part if isinstance(part, Text) else cell(part) for part in cells))
    out.print(cell(url, "bold"))
    out.print(made)
    for reading in readings:
        status = () if reading.status == GOOD else (reading.status,)
        for said, style in (*((text, "red") for text in status), *((text, "") for text in reading.more)):
            out.print(Text.assemble(cell(str(reading.point)), ": ", cell(said, style)))


def value(reading: Reading) -> Text:
    """The value; red where it is not good."""
    return cell(spelled(reading.value), "" if reading.is_good else "red")


def _short(raw: str) -> str:
    return raw if len(raw) <= _MOST_RAW else f"{raw[: _MOST_RAW - 1]}…"


def show_scan(out: Console, url: str, done: Scan, requests: int) -> None:
    """What was found, a table for each kind, and what the scan says about itself."""
    out.print(cell(url, "bold"))
    for kind in dict.fromkeys(found.kind for found in done.found):
        of_kind = [found for found in done.found if found.kind == kind]
        names = list(dict.fromkeys(name for found in of_kind for name in found.fields))
        made = table(kind, *names)
        for found in of_kind:
            made.add_row(cell(found.item), *(cell(found.fields.get(name, "")) for name in names))
        out.print(made)
        for found in of_kind:
            _more(out, found)
    for note in done.notes:
        out.print(cell(note))
    stopped = f"Stopped before the end: {done.stopped}." if done.stopped else "Whole."
    out.print(cell(f"{len(done.found)} found with {requests} requests. {stopped}", "yellow" if done.stopped else ""))


def _more(out: Console, found: Found) -> None:
    for more in found.more:
        out.print(Text.assemble(cell(found.item), ": ", cell(more)))
