"""Recording to CSV: one row whenever something changed, a column for each point with its unit, every row on disk."""

import csv
import os
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TextIO

from oasis.errors import ConfigError
from oasis.plant.sheet import harmless
from oasis.plant.values import GOOD, Reading, Value, spelled
from oasis.ui.clean import clean

Key = tuple[str, str, str]
"""URL, tag and address: which point."""


def key(url: str, reading: Reading) -> Key:
    """Which point a reading is of."""
    return url, reading.point.name, reading.point.address


class Recording:
    """A new CSV file. The header names every point; the last column says which values are not good, and why."""

    def __init__(self, path: Path) -> None:
        """Raises ConfigError for a file that is there already or cannot be made."""
        self.path = path
        self.rows = 0
        self._keys: list[Key] = []
        try:
            self._file: TextIO = path.open("x", encoding="utf-8", newline="")
        except FileExistsError as fault:
            raise ConfigError(f"{path} exists and is left as it is. Name another file, or remove it.") from fault
        except OSError as fault:
            raise ConfigError(f"{path} cannot be written: {fault.strerror or fault}. Name another file.") from fault
        self._out = csv.writer(self._file)

    def add(self, at: datetime, latest: Mapping[Key, Reading]) -> None:
        """A row of the latest readings; the first one fixes the columns."""
        if not self._keys:
            self._keys = list(latest)
            names = _names(self._keys, latest)
            self._write(["time", *names, "not good"])
        bad = [f"{self._name(k)}: {clean(r.status)}" for k, r in latest.items() if k in self._keys and r.status != GOOD]
        bad += [f"{self._name(k)}: first seen after the columns were fixed" for k in latest if k not in self._keys]
        values = [plain(latest[k].value) if k in latest and latest[k].is_good else "" for k in self._keys]
        self._write([at.isoformat(timespec="milliseconds"), *values, harmless("; ".join(bad))])
        self.rows += 1

    def close(self) -> None:
        self._file.close()

    @staticmethod
    def _name(of: Key) -> str:
        return of[1] or of[2]

    def _write(self, row: Sequence[str]) -> None:
        self._out.writerow(row)
        self._file.flush()
        os.fsync(self._file.fileno())


def _names(keys: Sequence[Key], latest: Mapping[Key, Reading]) -> list[str]:
    """`water [degC]`; with the URL before it where the same name stands twice."""
    short = [tag or address for _, tag, address in keys]
    named: list[str] = []
    for of, name in zip(keys, short, strict=True):
        unit = latest[of].point.form.unit
        full = name if short.count(name) == 1 else f"{of[0]} {of[2] if name == of[1] else name}"
        named.append(harmless(clean(f"{full} [{unit}]" if unit else full)))
    return named


def plain(value: Value | None) -> str:
    """A value for a spreadsheet: numbers with a point and all digits, texts without quotes and never a formula."""
    match value:
        case bool():
            return "1" if value else "0"
        case int():
            return str(value)
        case float():
            return repr(value)
        case str():
            return harmless(clean(value))
        case _:
            return "" if value is None else spelled(value)
