"""Values while they are watched: a table that is drawn anew on a terminal, lines elsewhere."""

import sys
from collections import deque
from dataclasses import dataclass, field
from datetime import datetime
from types import TracebackType
from typing import Protocol, Self

from rich.live import Live
from rich.table import Table
from rich.text import Text

from oasis.plant.values import Reading, Value
from oasis.ui.plant import rows
from oasis.ui.plant.page import cell, console, table
from oasis.ui.plant.record import Key, key
from oasis.ui.plant.spark import bars_for, sparkline
from oasis.ui.plant.tables import joined, value

KEPT = 60
"""Samples of a sparkline that are kept."""
_WIDTH = 30
_MOST_FAULTS = 5


class View(Protocol):
    """Where readings go while they are watched. `tick` comes once in an interval."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def show(self, at: datetime, url: str, reading: Reading) -> None: ...

    def tick(self, at: datetime) -> None: ...


class JsonView:
    """One reading a line."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Nothing is held back."""

    def show(self, at: datetime, url: str, reading: Reading) -> None:
        seen = {"v": rows.VERSION, "seen": at.isoformat(timespec="milliseconds")}
        print(rows.line(seen | rows.reading(url, reading)), flush=True)

    def tick(self, at: datetime) -> None:
        """Lines come when something changes."""


class LineView(JsonView):
    """One change a line, in words."""

    def show(self, at: datetime, url: str, reading: Reading) -> None:
        unit = f" {reading.point.form.unit}".rstrip() if reading.is_good else f" {reading.status}"
        said = f"{at:%H:%M:%S.%f}"[:-3]
        print(cell(f"{said}  {reading.point}: {value(reading).plain}{unit}").plain, flush=True)


@dataclass(slots=True)
class _Watched:
    """A point's latest reading and what it was before."""

    reading: Reading
    samples: deque[float | None] = field(default_factory=lambda: deque[float | None](maxlen=KEPT))
    low: float | None = None
    high: float | None = None
    changes: int = -1

    def take(self, reading: Reading) -> None:
        self.reading = reading
        self.changes += 1
        number = _number(reading.value)
        if number is not None:
            self.low = number if self.low is None else min(self.low, number)
            self.high = number if self.high is None else max(self.high, number)


class LiveView:
    """A table with a sparkline for each number."""

    def __init__(self) -> None:
        self._console = console()
        self._bars = bars_for(sys.stdout.encoding)
        self._watched: dict[Key, _Watched] = {}
        self._live = Live(console=self._console, auto_refresh=False, transient=False)
        self._began: datetime | None = None
        self._last: datetime | None = None

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.update(self.table(), refresh=True)
        self._live.stop()

    def show(self, at: datetime, url: str, reading: Reading) -> None:
        self._began = self._began or at
        self._watched.setdefault(key(url, reading), _Watched(reading)).take(reading)

    def tick(self, at: datetime) -> None:
        for watched in self._watched.values():
            watched.samples.append(_number(watched.reading.value) if watched.reading.is_good else None)
        self._last = at
        self._live.update(self.table(), refresh=True)

    def table(self) -> Table:
        """The table as it is now."""
        made = table("point", "value", "unit", "low", "high", "changes", "", right=("value", "low", "high", "changes"))
        width = max(8, min(_WIDTH, self._console.width - 60))
        for watched in self._watched.values():
            reading = watched.reading
            ends = [cell(short(end)) for end in (watched.low, watched.high)]
            made.add_row(
                cell(reading.point.name or reading.point.address),
                value(reading),
                cell(reading.point.form.unit),
                *ends,
                cell(str(max(0, watched.changes))),
                cell(sparkline(list(watched.samples), width, self._bars)),
            )
        if self._began and self._last:
            watched_s = (self._last - self._began).total_seconds()
            made.caption = cell(f"{watched_s:.0f} s watched, Ctrl-C ends it").append_text(self._faults())
            made.caption_justify = "left"
        return made

    def _faults(self) -> Text:
        """Why values are not good, a line each; points with the same reason together."""
        points: dict[str, list[str]] = {}
        for watched in self._watched.values():
            reading = watched.reading
            if not reading.is_good:
                points.setdefault(reading.status, []).append(reading.point.name or reading.point.address)
        lines = [cell(f"{joined(names)}: {status}", "red") for status, names in points.items()]
        return Text("").join([Text("\n").append_text(line) for line in lines[:_MOST_FAULTS]])


def short(number: float | None) -> str:
    """A number of the table, short."""
    return "" if number is None else f"{number:.6g}"


def _number(value: Value | None) -> float | None:
    return float(value) if isinstance(value, bool | int | float) else None
