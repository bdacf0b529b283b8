"""Readings as they were saved (`oasis plant read --save`, or its JSON), and what has changed since."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from oasis.errors import ConfigError
from oasis.plant.limits import same
from oasis.plant.packed import unpacked
from oasis.plant.values import Form, Reading, Value

MOST_BYTES = 64 << 20
_HUGE = 1e15


@dataclass(frozen=True, slots=True)
class Saved:
    """One saved reading. `address` is an item of the pack; `value` None where there was none."""

    url: str
    address: str
    form: Form
    tag: str
    value: Value | None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """`seen` is when it was read, ISO 8601 with its zone; empty where the file does not say."""

    seen: str
    saved: tuple[Saved, ...]


@dataclass(frozen=True, slots=True)
class Difference:
    """A point that reads otherwise than it was saved, or not any more."""

    saved: Saved
    now: Reading


def load(path: Path) -> Snapshot:
    """The saved readings. Raises ConfigError for what `oasis plant read` did not write."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise _none(path, f"it is larger than {MOST_BYTES >> 20} MiB")
        data: Any = json.loads(path.read_bytes())
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}.") from error
    except (ValueError, RecursionError) as error:
        raise _none(path, "it is no JSON") from error
    rows = cast(dict[str, object], data).get("readings") if isinstance(data, dict) else None
    if not isinstance(rows, list):
        raise _none(path, "it has no readings")
    seen = str(cast(dict[str, object], data).get("seen") or "")
    return Snapshot(seen, tuple(_saved(path, n, row) for n, row in enumerate(cast(list[object], rows), 1)))


def differences(saved: Sequence[Saved], now: Sequence[Reading]) -> list[Difference]:
    """What reads otherwise than it was saved, to the last digit that its type has. `now` are the same points."""
    return [
        Difference(then, reading) for then, reading in zip(saved, now, strict=True) if not _is_as_saved(then, reading)
    ]


def _is_as_saved(then: Saved, now: Reading) -> bool:
    if then.value is None or not now.is_good:
        return then.value is None and not now.is_good
    return same(then.form, then.value, now.value)


def _saved(path: Path, number: int, row: object) -> Saved:
    if not isinstance(row, dict):
        raise _none(path, f"reading {number} is none")
    fields = cast(dict[str, object], row)

    def text(name: str) -> str:
        value = fields.get(name)
        return value if isinstance(value, str) else ""

    if not text("url") or not text("address"):
        raise _none(path, f"reading {number} lacks its url or address")
    try:
        scale, offset = _number(fields, "scale", 1.0) or 1.0, _number(fields, "offset", 0.0)
        form = Form(text("type"), text("order"), scale, offset, text("unit"))
        return Saved(text("url"), text("address"), form, text("tag"), unpacked(fields.get("value")))
    except ValueError as error:
        raise _none(path, f"the value of reading {number} is none, or its scale or offset") from error


def _number(fields: Mapping[str, object], name: str, usual: float) -> float:
    """A scale or offset. Raises ValueError for what is no number that a form has."""
    value = fields.get(name)
    if value is None:
        return usual
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= _HUGE:
        raise ValueError(name)
    return float(value)


def _none(path: Path, why: str) -> ConfigError:
    return ConfigError(f"{path} holds no saved readings: {why}. `oasis plant read ... --save FILE` saves them.")
