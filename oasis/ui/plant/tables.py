"""Readings and scans as tables."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from oasis.plant.driver import Found, Scan
from oasis.plant.limits import shown
from oasis.plant.site import Site
from oasis.plant.snapshot import Difference, Snapshot
from oasis.plant.values import GOOD, Reading, spelled
from oasis.ui.plant.page import cell, table

_MOST_RAW = 20
_MOST_RAW_OF_LONG = 10
_MOST_POINTS = 8
_MOST_VALUE = 24
"""Characters in a cell; what is longer stands below the table."""


def show_readings(out: Console, url: str, readings: Sequence[Reading]) -> None:
    """A table of readings, then what is too long for it or to be said of some of them."""
    has_tags = any(reading.point.name for reading in readings)
    has_times = any(reading.at for reading in readings)
    columns = [*(["tag"] if has_tags else []), "address", "value", "unit", "raw", "where", *(["time"] * has_times)]
    made = table(*columns, right=("value",))
    for reading in readings:
        row = [reading.point.address, _value(reading), reading.point.form.unit, _raw(reading), reading.where]
        cells = [*([reading.point.name] if has_tags else []), *row, *([reading.at] * has_times)]
        made.add_row(*(part if isinstance(part, Text) else cell(part) for part in cells))
    out.print(cell(url, "bold"))
    out.print(made)
    below: dict[tuple[str, str], list[str]] = {}
    for reading in readings:
        for said in _said(reading):
            below.setdefault(said, []).append(str(reading.point))
    for (said, style), points in below.items():
        out.print(Text.assemble(cell(joined(points)), ": ", cell(said, style)))


def value(reading: Reading) -> Text:
    """The value; red where it is not good."""
    return cell(spelled(reading.value), "" if reading.is_good else "red")


def _value(reading: Reading) -> Text:
    return cell("below") if _is_long(reading) else value(reading)


def _raw(reading: Reading) -> str:
    most = _MOST_RAW_OF_LONG if _is_long(reading) else _MOST_RAW
    return reading.raw if len(reading.raw) <= most else f"{reading.raw[: most - 1]}…"


def joined(points: Sequence[str]) -> str:
    """Who has the same said of it."""
    shown = ", ".join(points[:_MOST_POINTS])
    return shown if len(points) <= _MOST_POINTS else f"{shown} and {len(points) - _MOST_POINTS} more"


def _is_long(reading: Reading) -> bool:
    return len(spelled(reading.value)) > _MOST_VALUE


def _said(reading: Reading) -> list[tuple[str, str]]:
    """What stands below the table, with its style."""
    said = [(spelled(reading.value), "")] if _is_long(reading) else []
    said += [(reading.status, "red")] if reading.status != GOOD else []
    return said + [(more, "") for more in reading.more]


def show_scan(out: Console, url: str, done: Scan, requests: int) -> None:
    """What was found, a table for each kind, and what the scan says about itself."""
    out.print(cell(url, "bold"))
    for kind in dict.fromkeys(found.kind for found in done.found):
        of_kind = [found for found in done.found if found.kind == kind]
        out.print(_single(kind, of_kind[0]) if len(of_kind) == 1 else _several(kind, of_kind))
        for found in of_kind:
            for more in found.more:
                out.print(Text.assemble(cell(found.item), ": ", cell(more)))
    for note in done.notes:
        out.print(cell(note))
    stopped = f"Stopped before the end: {done.stopped}." if done.stopped else "Whole."
    out.print(
        cell(
            f"{len(done.found)} found with {requests} request{'s' * (requests != 1)}. {stopped}",
            "yellow" if done.stopped else "",
        )
    )


def _single(kind: str, found: Found) -> Table:
    """The only thing of its kind: a field a line."""
    made = table(kind, found.item)
    for name, text in found.fields.items():
        made.add_row(cell(name), cell(text))
    return made


def _several(kind: str, of_kind: Sequence[Found]) -> Table:
    """Things of one kind: one a line, a field a column."""
    names = list(dict.fromkeys(name for found in of_kind for name in found.fields))
    made = table(kind, *names)
    for found in of_kind:
        made.add_row(cell(found.item), *(cell(found.fields.get(name, "")) for name in names))
    return made


def show_differences(out: Console, snapshot: Snapshot, found: Sequence[Difference]) -> None:
    """What reads otherwise than it was saved, a table for each endpoint, and how much does not."""
    for url in dict.fromkeys(difference.saved.url for difference in found):
        made = table("point", "was", "now", "unit", "", right=("was", "now"))
        for difference in found:
            then, now = difference.saved, difference.now
            if then.url == url:
                status = "" if now.is_good else now.status
                values = (shown(then.form, then.value), shown(then.form, now.value))
                made.add_row(*(cell(text) for text in (then.tag or then.address, *values, then.form.unit, status)))
        out.print(cell(url, "bold"))
        out.print(made)
    seen = f" at {snapshot.seen}" if snapshot.seen else ""
    alike = len(snapshot.saved) - len(found)
    out.print(cell(f"{len(found)} of {len(snapshot.saved)} read otherwise than saved{seen}; {alike} as saved."))


def show_tags(out: Console, site: Site) -> None:
    """The tags of a site file, a table for each endpoint."""
    for name, url in site.endpoints.items():
        made = table("tag", "address", "type", "unit", "to be written")
        for tag in site.tags.values():
            if tag.url == url:
                form = tag.point.form
                scale = "" if form.scale == 1.0 else f"x{form.scale:g}"
                kind = " ".join(part for part in (form.type, form.order, scale) if part)
                limits = tag.limits if tag.is_writable else ""
                made.add_row(*(cell(text) for text in (tag.name, tag.point.address, kind, form.unit, limits)))
        out.print(cell(f"{name}: {url}", "bold"))
        if made.row_count:
            out.print(made)
