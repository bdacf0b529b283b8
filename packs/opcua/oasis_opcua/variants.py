"""Values of OPC UA: as Oasis holds and spells them, and as a node's type wants them on the wire.

Built-in types: Part 6, 5.1.2.
"""

import dataclasses
import math
import struct
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from functools import lru_cache
from typing import Any

from oasis.errors import ToolFault
from oasis.plant.values import Value, spelled
from oasis_opcua.nodes import from_wire
from oasis_opcua.untyped import pack, status_name, ua

BUILT_IN: dict[int, str] = {kind.value: kind.name for kind in ua.VariantType if kind.value}
RANGES = {
    "SByte": (-(1 << 7), (1 << 7) - 1), "Byte": (0, (1 << 8) - 1),
    "Int16": (-(1 << 15), (1 << 15) - 1), "UInt16": (0, (1 << 16) - 1),
    "Int32": (-(1 << 31), (1 << 31) - 1), "UInt32": (0, (1 << 32) - 1),
    "Int64": (-(1 << 63), (1 << 63) - 1), "UInt64": (0, (1 << 64) - 1),
}  # fmt: skip
FLOATS = ("Float", "Double")
WRITABLE = ("Boolean", *RANGES, *FLOATS, "String", "LocalizedText", "DateTime", "Guid", "ByteString")
"""Types that a single value can be written to."""
MOST_TEXT = 2000


@dataclass(frozen=True, slots=True)
class Structure:
    """A decoded structure: its type's name, and names and values of its fields in order."""

    name: str
    fields: tuple[tuple[str, Any], ...]


def held(value: Any, namespaces: Sequence[str]) -> Value | None:
    """A single value as Oasis holds it; structures as text, since a device's structure has no other form here."""
    if value is None or isinstance(value, bool | float | bytes):
        return value
    if isinstance(value, Enum):
        return int(value.value) if isinstance(value.value, int) else str(value.name)
    if isinstance(value, int):
        return int(value)
    text = value if isinstance(value, str) else _spelled(value, namespaces)
    return text if len(text) <= MOST_TEXT else f"{text[:MOST_TEXT]}… ({len(text)} characters)"


_AS_TEXT: tuple[tuple[Any, Callable[[Any, Sequence[str]], str]], ...] = (
    (datetime, lambda value, _: stamp(value)),
    (uuid.UUID, lambda value, _: str(value)),
    (ua.LocalizedText, lambda value, _: value.Text or ""),
    (ua.XmlElement, lambda value, _: value.Value or ""),
    (ua.QualifiedName, lambda value, _: value.Name or ""),
    (ua.NodeId, lambda value, uris: str(from_wire(value, uris))),
    (ua.StatusCode, lambda value, _: status_name(value.value)),
    (ua.Variant, lambda value, uris: _one(value.Value, uris)),
    (list, lambda value, uris: f"[{', '.join(_one(entry, uris) for entry in value[:50])}]"),
)


_BRIEFLY: dict[str, Callable[[Any], str]] = {
    "Range": lambda value: f"{value.Low:g} to {value.High:g}",
    "EUInformation": lambda value: f"{value.DisplayName.Text or value.UnitId} ({value.Description.Text or ''})",
    "EnumValueType": lambda value: f"{value.Value} {value.DisplayName.Text or ''}",
}
"""Structures that properties of variables hold, by name."""


def _spelled(value: Any, namespaces: Sequence[str]) -> str:
    """A structured value in one line of text."""
    if brief := _BRIEFLY.get(type(value).__name__):
        return brief(value)
    if type(value).__name__ == "Argument":
        return f"{value.Name} {BUILT_IN.get(value.DataType.Identifier, '') or from_wire(value.DataType, namespaces)}"
    for kind, spell in _AS_TEXT:
        if isinstance(value, kind):
            return spell(value, namespaces)
    if type(value) is ua.ExtensionObject:
        return f"a structure of type {from_wire(value.TypeId, namespaces)} that was not decoded" if value else "empty"
    if isinstance(value, Structure) or dataclasses.is_dataclass(value):
        name, fields = _fields(value)
        return f"{name}({', '.join(f'{field} {_one(inner, namespaces)}' for field, inner in fields)})"
    return str(value)


def _fields(value: Any) -> tuple[str, Sequence[tuple[str, Any]]]:
    """A structure's name, and names and values of its fields."""
    if isinstance(value, Structure):
        return value.name, value.fields
    names = [field.name for field in dataclasses.fields(value) if field.name not in ("Encoding", "TypeId")]
    return type(value).__name__, [(name, getattr(value, name)) for name in names]


def _one(value: Any, namespaces: Sequence[str]) -> str:
    inner = held(value, namespaces)
    return inner if isinstance(inner, str) and not isinstance(value, str) else spelled(inner)


def stamp(at: datetime | None) -> str:
    """A time stamp in UTC, to the millisecond; empty where there is none."""
    if at is None:
        return ""
    if at.tzinfo is not None and at.tzinfo is not UTC:
        at = at.astimezone(UTC)
    return f"{_second(at.year, at.month, at.day, at.hour, at.minute, at.second)}{at.microsecond // 1000:03d}Z"


@lru_cache(64)
def _second(*parts: int) -> str:
    """A second of the clock, up to the point; the values of one poll share a few."""
    return "{:04d}-{:02d}-{:02d}T{:02d}:{:02d}:{:02d}.".format(*parts)


def raw(variant: Any) -> str:
    """A single value's wire bytes in hex, at most 64 of them; empty for arrays and structures."""
    value, kind = variant.Value, variant.VariantType
    if value is None or isinstance(value, list) or getattr(kind, "value", 99) > 15:
        return ""
    data: bytes = pack(kind, value)
    return data[:64].hex(" ") + (" …" if len(data) > 64 else "")


def typed(value: Value, kind: str, where: str) -> Any:
    """The value as a variant of the built-in type `kind`. Raises ToolFault, in words, for one that it cannot hold."""
    if kind not in WRITABLE:
        raise ToolFault(f"{where} is of type {kind}, which Oasis does not write. It writes {', '.join(WRITABLE)}.")
    try:
        return ua.Variant(_fitted(value, kind), getattr(ua.VariantType, kind))
    except (ValueError, OverflowError) as fault:
        raise ToolFault(f"{spelled(value)[:80]} cannot be written to {where}, a {kind}: {fault}.") from fault


def _time(text: str) -> datetime:
    at = datetime.fromisoformat(text)
    return at if at.tzinfo else at.replace(tzinfo=UTC)


_FROM_TEXT: dict[str, Callable[[str], Any]] = {
    "String": str,
    "LocalizedText": ua.LocalizedText,
    "DateTime": _time,
    "Guid": uuid.UUID,
    "ByteString": bytes.fromhex,
}


def _fitted(value: Value, kind: str) -> Any:
    """The value as Python holds this type. Raises ValueError or OverflowError."""
    if kind in RANGES:
        return _whole(value, kind)
    if kind in FLOATS:
        return _real(value, kind)
    if kind == "Boolean":
        if isinstance(value, bool):
            return value
        raise ValueError("true or false is needed")
    if kind == "ByteString" and isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return _FROM_TEXT[kind](value)
    raise ValueError("a text is needed")


def _whole(value: Value, kind: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float) or value != int(value):
        raise ValueError("a whole number is needed")
    low, high = RANGES[kind]
    if not low <= value <= high:
        raise ValueError(f"it holds {low} to {high}")
    return int(value)


def _real(value: Value, kind: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError("a number is needed")
    if kind == "Float":
        struct.pack("<f", value)
    return float(value)
