"""SunSpec: a model's points by its definition."""

import dataclasses
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from oasis.errors import ToolFault
from oasis.plant.values import Form, Point, Reading, Value
from oasis_modbus.codec import TYPES, decoded, packed, told
from oasis_modbus.sunspec import Placed
from oasis_modbus.tables import TABLES

# A raw value that stands for "not implemented", by type. The same specification, 4.2.
_ABSENT: Mapping[str, int] = {
    "int16": 0x8000, "uint16": 0xFFFF, "enum16": 0xFFFF, "bitfield16": 0xFFFF, "pad": 0x8000,
    "sunssf": 0x8000, "raw16": 0xFFFF, "int32": 0x80000000, "uint32": 0xFFFFFFFF, "enum32": 0xFFFFFFFF,
    "bitfield32": 0xFFFFFFFF, "bitfield64": (1 << 64) - 1, "ipaddr": 0, "ipv6addr": 0, "eui48": (1 << 64) - 1,
    "int64": 1 << 63, "uint64": (1 << 64) - 1, "count": 0xFFFF,
}  # fmt: skip
_TYPES = {
    "acc16": "uint16", "enum16": "uint16", "bitfield16": "uint16", "pad": "int16", "sunssf": "int16", "raw16": "uint16",
    "count": "uint16", "acc32": "uint32", "enum32": "uint32", "bitfield32": "uint32", "acc64": "uint64",
    "bitfield64": "uint64",
}  # fmt: skip
_MOST_BYTES = 4_000_000
_NO_COUNT = 0xFFFF
_MOST_REPEATED = 1_000


@dataclass(frozen=True, slots=True)
class Field:
    """A point of a model, `at` registers from the model's id; `sf` is an exponent or the point that holds it."""

    name: str
    at: int
    size: int
    kind: str
    unit: str = ""
    sf: str | int = 0
    symbols: Mapping[int, str] | None = None
    label: str = ""

    @property
    def plain(self) -> str:
        """The type in this pack's words."""
        return _TYPES.get(self.kind, self.kind)


@dataclass(frozen=True, slots=True)
class Group:
    """Points that repeat behind those before them; `at` of its fields counts from where each repetition begins.

    `count` is how often: a number, the point that holds it, or 0 for as often as the model's length has room.
    """

    name: str
    count: int | str
    fields: tuple[Field, ...]
    groups: "tuple[Group, ...]" = ()

    @property
    def size(self) -> int:
        """Registers of one repetition without the groups in it."""
        return sum(field.size for field in self.fields)


@dataclass(frozen=True, slots=True)
class Model:
    """A model's definition: the points of its fixed part, and groups of further ones behind it."""

    id: int
    name: str
    fields: tuple[Field, ...]
    groups: tuple[Group, ...] = ()


COMMON = Model(
    1,
    "Common",
    (
        Field("Mn", 2, 16, "string", label="manufacturer"),
        Field("Md", 18, 16, "string", label="model"),
        Field("Opt", 34, 8, "string", label="options"),
        Field("Vr", 42, 8, "string", label="version"),
        Field("SN", 50, 16, "string", label="serial number"),
        Field("DA", 66, 1, "uint16", label="device address"),
    ),
)
"""Model 1, which every SunSpec device has first."""


def load(path: Path) -> Model:
    """The model in a SunSpec JSON file. Raises ToolFault for what is none."""
    try:
        if not path.is_file() or not 0 < path.stat().st_size <= _MOST_BYTES:
            raise ToolFault(f"{path} is no SunSpec model in JSON: it is not there, is empty, or is over 4 MB.")
        return parsed(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as fault:
        raise ToolFault(
            f"{path} is no SunSpec model in JSON ({type(fault).__name__}). SunSpec publishes them as model_NNN.json."
        ) from fault


def parsed(data: Mapping[str, Any]) -> Model:
    """The model that a SunSpec JSON says."""
    group = cast("Mapping[str, Any]", data["group"])
    whole = _group(group)
    return Model(int(data["id"]), str(group.get("label") or group["name"]), whole.fields, whole.groups)


def _group(data: Mapping[str, Any]) -> Group:
    fields: list[Field] = []
    at = 0
    for raw in cast("Sequence[Mapping[str, Any]]", data.get("points", ())):
        fields.append(_field(raw, at))
        at += fields[-1].size
    count = cast("int | str", data.get("count", 1))
    groups = cast("Sequence[Mapping[str, Any]]", data.get("groups", ()))
    return Group(str(data["name"]), count, tuple(fields), tuple(_group(inner) for inner in groups))


def _field(raw: Mapping[str, Any], at: int) -> Field:
    symbols = {int(s["value"]): str(s["name"]) for s in raw.get("symbols", ())} or None
    sf = cast("str | int", raw.get("sf", 0))
    unit, label = str(raw.get("units", "")), str(raw.get("label", ""))
    return Field(str(raw["name"]), at, int(raw["size"]), str(raw["type"]), unit, sf, symbols, label)


def readings(model: Model, placed: Placed, words: Sequence[int]) -> list[Reading]:
    """A reading for each point that the device has room for, scaled by its scale factor, in its unit."""
    walk = _Walk(placed, words)
    walk.over(Group("", 1, model.fields, model.groups), "", 0, {})
    return walk.made


@dataclass(slots=True)
class _Walk:
    """Goes over a model's words, group by group."""

    placed: Placed
    words: Sequence[int]
    made: list[Reading] = dataclasses.field(default_factory=list[Reading])

    def over(self, group: Group, name: str, at: int, outer: Mapping[str, int | None]) -> int:
        """Add the readings of one repetition that begins at `at`, and of the groups in it; gives where it ends.

        `outer` are numbers of the points around it by name: exponents, and how often its groups repeat.
        """
        fields = [replace(f, at=at + f.at, name=f"{name}{f.name}") for f in group.fields]
        numbers = dict(outer)
        numbers |= {f.name: self._number(laid) for f, laid in zip(group.fields, fields, strict=True)}
        hidden = () if name else ("ID", "L")
        shown = [f for f in fields if f.kind not in ("sunssf", "pad") and f.name not in hidden]
        self.made += [_reading(f, self.placed, self.words, numbers) for f in shown if f.at + f.size <= len(self.words)]
        end = at + group.size
        for inner in group.groups:
            count = (inner.count or None) if isinstance(inner.count, int) else numbers.get(inner.count)
            n = 0
            while end + max(1, inner.size) <= len(self.words) and n < (_MOST_REPEATED if count is None else count):
                n += 1
                end = self.over(inner, f"{name}{inner.name}[{n}].", end, numbers)
        return end

    def _number(self, field: Field) -> int | None:
        """An exponent or a count; None for what is neither, or not implemented."""
        if field.kind == "sunssf":
            return _exponent(field, self.words)
        if field.plain != "uint16" or field.at >= len(self.words) or self.words[field.at] == _NO_COUNT:
            return None
        return self.words[field.at]


def _reading(field: Field, placed: Placed, words: Sequence[int], exponents: Mapping[str, int | None]) -> Reading:
    part = words[field.at : field.at + field.size]
    first = placed.at + field.at
    exponent = field.sf if isinstance(field.sf, int) else exponents.get(field.sf)
    scale = float(f"1e{exponent}") if exponent else 1.0
    kind = field.plain
    form = Form(kind, "ABCD" if field.size > 1 else "", scale, 0.0, field.unit)
    span = f"-{first + field.size - 1}" if kind == "string" else ""
    point = Point(f"holding {first}{span}", form, field.name)
    raw = " ".join(f"{word:04X}" for word in part)
    where = TABLES["holding"].place(first, field.size)
    if absent(field, part):
        return Reading(point, None, "not implemented in this device", raw, where)
    if isinstance(field.sf, str) and exponent is None:
        return Reading(point, None, f"its scale factor {field.sf} is not implemented", raw, where)
    if address := _address(field.kind, part):
        return Reading(replace(point, form=Form()), address, raw=raw, where=where)
    if kind not in TYPES:
        return Reading(point, None, f"type {field.kind} is not decoded", raw, where)
    value = decoded(part, kind, "ABCD")
    more = _symbols(field, value)
    return Reading(
        point, None if value is None else form.engineering(told(value, kind)), raw=raw, where=where, more=more
    )


def absent(field: Field, words: Sequence[int]) -> bool:
    """Whether the words are the mark for a point that is not implemented."""
    if field.kind in ("float32", "float64"):
        value = decoded(words, field.kind)
        return value != value  # noqa: PLR0124
    if field.kind == "string":
        return not any(words)
    number = 0
    for word in words:
        number = number << 16 | word
    return number == _ABSENT.get(field.kind)


def _address(kind: str, words: Sequence[int]) -> str:
    """An address of a network as it is written; empty for other kinds."""
    data = packed(words)
    if kind == "ipaddr":
        return ".".join(str(byte) for byte in data)
    if kind == "ipv6addr":
        return ":".join(f"{word:x}" for word in words)
    return "-".join(f"{byte:02X}" for byte in data[-6:]) if kind == "eui48" else ""


def _exponent(field: Field, words: Sequence[int]) -> int | None:
    if field.at >= len(words) or words[field.at] == 0x8000:
        return None
    value = decoded(words[field.at : field.at + 1], "int16")
    return value if isinstance(value, int) and -10 <= value <= 10 else None


def _symbols(field: Field, value: Value | None) -> tuple[str, ...]:
    if field.kind.startswith("acc") and value == 0:
        return ("0 in an accumulator may mean that it is not implemented",)
    if not field.symbols or not isinstance(value, int):
        return ()
    if field.kind.startswith("bitfield"):
        names = [field.symbols.get(n, f"bit {n}") for n in range(64) if value >> n & 1]
        return (f"set: {', '.join(names) or 'none'}",)
    return (f"is {field.symbols[value]}" if value in field.symbols else f"{value} is not in the model's list",)
