"""CoE data types: numbers, sizes and how values become bytes, little-endian.

Source: ETG.1000.6, table of basic data types; names as IEC 61131 and ESI files write them.
"""

import struct
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class DataType:
    """One basic type: its CoE number, bits (0 where the length varies) and struct letter ("" where none fits)."""

    name: str
    number: int
    bits: int
    letter: str = ""

    @property
    def is_signed(self) -> bool:
        return self.letter in {"b", "h", "i", "q"}

    @property
    def is_text(self) -> bool:
        return self.name == "string"

    @property
    def is_float(self) -> bool:
        return self.letter in {"f", "d"}


BOOL = DataType("bool", 0x0001, 1)
INT8 = DataType("int8", 0x0002, 8, "b")
INT16 = DataType("int16", 0x0003, 16, "h")
INT32 = DataType("int32", 0x0004, 32, "i")
UINT8 = DataType("uint8", 0x0005, 8, "B")
UINT16 = DataType("uint16", 0x0006, 16, "H")
UINT32 = DataType("uint32", 0x0007, 32, "I")
FLOAT32 = DataType("float32", 0x0008, 32, "f")
STRING = DataType("string", 0x0009, 0)
BYTES = DataType("bytes", 0x000A, 0)
FLOAT64 = DataType("float64", 0x0011, 64, "d")
INT64 = DataType("int64", 0x0015, 64, "q")
UINT64 = DataType("uint64", 0x001B, 64, "Q")
_BITS = tuple(DataType(f"bit{n}", 0x002F + n, n) for n in range(1, 9))

TYPES = (BOOL, INT8, INT16, INT32, UINT8, UINT16, UINT32, FLOAT32, STRING, BYTES, FLOAT64, INT64, UINT64, *_BITS)
BY_NAME = {kind.name: kind for kind in TYPES}
BY_NUMBER = {kind.number: kind for kind in TYPES}

Value: TypeAlias = int | float | str | bytes | bool


def encode(kind: DataType, value: Value) -> bytes:
    """The value's bytes on the wire. Raises ValueError where it does not fit or is of another kind."""
    if kind.is_text:
        if not isinstance(value, str):
            raise ValueError(f"{value!r} is not text")
        return value.encode("utf-8")
    if kind is BYTES:
        if not isinstance(value, bytes):
            raise ValueError(f"{value!r} is not bytes")
        return value
    if isinstance(value, str | bytes):
        raise ValueError(f"{value!r} is not a number, {kind.name} is one")
    if kind.letter:
        number = float(value) if kind.is_float else _whole(value)
        try:
            return struct.pack("<" + kind.letter, number)
        except (struct.error, OverflowError) as fault:
            raise ValueError(f"{value} does not fit {kind.name}, {span(kind)}") from fault
    number = _whole(value)
    if not 0 <= number < 1 << kind.bits:
        raise ValueError(f"{value} does not fit {kind.name}, {span(kind)}")
    return bytes([number])


def decode(kind: DataType, data: bytes) -> Value:
    """The value that the bytes are. Raises ValueError where their number is not the type's."""
    if kind.is_text:
        return data.split(b"\0")[0].decode("utf-8", "replace")
    if kind is BYTES:
        return data
    size = (kind.bits + 7) // 8
    if len(data) != size:
        raise ValueError(f"{len(data)} bytes came, {kind.name} is {size}")
    if kind.letter:
        return struct.unpack("<" + kind.letter, data)[0]
    number = data[0] & (1 << kind.bits) - 1
    return bool(number) if kind is BOOL else number


def span(kind: DataType) -> str:
    """The smallest and largest value in words."""
    if kind.is_float or not kind.bits:
        return "any value"
    low = -(1 << kind.bits - 1) if kind.is_signed else 0
    high = (1 << kind.bits - 1) - 1 if kind.is_signed else (1 << kind.bits) - 1
    return f"{low} to {high}"


def _whole(value: float) -> int:
    if int(value) != value:
        raise ValueError(f"{value} is not a whole number")
    return int(value)
