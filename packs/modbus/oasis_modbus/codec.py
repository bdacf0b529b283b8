"""Registers as values and back, in each order that devices use."""

import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass

from oasis.errors import ToolFault
from oasis.plant.values import Value

_MOST_FLOAT32 = 3.4e38
ORDERS = ("ABCD", "CDAB", "BADC", "DCBA")
"""How four bytes A (most significant) to D lie in two registers; for eight bytes in the same sense."""


@dataclass(frozen=True, slots=True)
class Type:
    """A type of `registers` words. `code` is struct's, empty for what is not a plain binary number."""

    name: str
    registers: int
    code: str = ""

    @property
    def is_float(self) -> bool:
        return self.code in ("f", "d")


TYPES = {
    t.name: t
    for t in (
        Type("uint16", 1, "H"),
        Type("int16", 1, "h"),
        Type("uint32", 2, "I"),
        Type("int32", 2, "i"),
        Type("float32", 2, "f"),
        Type("uint64", 4, "Q"),
        Type("int64", 4, "q"),
        Type("float64", 4, "d"),
        Type("bcd16", 1),
        Type("bcd32", 2),
        Type("bitmask", 1),
        Type("bool", 1),
        Type("string", 1),
    )
}
"""`bool` is a coil, an input or one bit of a register; a `string` takes as many registers as its range says."""


def ordered(words: Sequence[int], order: str) -> list[int]:
    """The words most significant first, from `order`; and the other way, being its own inverse."""
    swapped = list(reversed(words)) if order in ("CDAB", "DCBA") else list(words)
    return [(w >> 8) | (w & 0xFF) << 8 for w in swapped] if order in ("BADC", "DCBA") else swapped


def packed(words: Sequence[int]) -> bytes:
    return struct.pack(f">{len(words)}H", *words)


def unpacked(data: bytes) -> list[int]:
    return list(struct.unpack(f">{len(data) // 2}H", data))


def decoded(words: Sequence[int], kind: str, order: str = "") -> Value | None:
    """The raw value of these registers; None where they are no value of the type (a BCD digit over 9)."""
    standard = ordered(words, order or "ABCD")
    if kind == "string":
        return _text(packed([(w >> 8) | (w & 0xFF) << 8 for w in words] if order in ("BADC", "DCBA") else words))
    if kind.startswith("bcd"):
        digits = packed(standard).hex()
        return int(digits) if digits.isdecimal() else None
    if kind == "bitmask":
        return standard[0]
    (number,) = struct.unpack(f">{TYPES[kind].code}", packed(standard))
    return number


def told(value: Value, kind: str) -> Value:
    """The raw value as it is told: a float32 in no more digits than it has (12.3, not 12.300000190734863)."""
    if kind != "float32" or not isinstance(value, float) or not math.isfinite(value):
        return value
    data = struct.pack(">f", value)
    for digits in (6, 7, 8):
        short = float(f"{value:.{digits}g}")
        if abs(short) < _MOST_FLOAT32 and struct.pack(">f", short) == data:
            return short
    return float(f"{value:.9g}") if abs(value) < _MOST_FLOAT32 else value


def encoded(value: Value, kind: str, order: str, registers: int) -> list[int]:
    """The registers of a raw value. Raises ToolFault for one that the type cannot hold exactly."""
    if kind == "string":
        return _text_words(value, order, registers)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ToolFault(f"{value!r:.60} is no number, and {kind} holds one; nothing was sent.")
    data = _float(value, kind) if TYPES[kind].is_float else _integer(value, kind)
    return ordered(unpacked(data), order or "ABCD")


def limits(kind: str) -> tuple[int, int]:
    """Least and greatest value of an integer type."""
    if kind.startswith("bcd"):
        return 0, 10 ** (int(kind[3:]) // 4) - 1
    if kind == "bitmask":
        return 0, 0xFFFF
    bits = int(kind.lstrip("uint"))
    return (0, 2**bits - 1) if kind.startswith("u") else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def _integer(value: float, kind: str) -> bytes:
    if not math.isfinite(value) or value != int(value):
        raise ToolFault(f"{value} is no whole number, and {kind} holds only those; nothing was sent.")
    number, (least, most) = int(value), limits(kind)
    if not least <= number <= most:
        raise ToolFault(f"{number} does not fit {kind} ({least} to {most}); nothing was sent.")
    if kind.startswith("bcd"):
        return bytes.fromhex(f"{number:0{int(kind[3:]) // 4}d}")
    return struct.pack(f">{TYPES[kind].code or 'H'}", number)


def _float(value: float, kind: str) -> bytes:
    if not math.isfinite(value):
        raise ToolFault(f"{value} is no number that a device should be given; nothing was sent.")
    try:
        return struct.pack(f">{TYPES[kind].code}", value)
    except OverflowError as fault:
        raise ToolFault(f"{value:g} is too great for {kind}; nothing was sent.") from fault


def _text(data: bytes) -> str:
    """Up to the first NUL, without trailing blanks. Bytes that are no UTF-8 are read as Latin-1."""
    cut = data.split(b"\0", 1)[0]
    try:
        text = cut.decode("utf-8")
    except UnicodeDecodeError:
        text = cut.decode("latin-1")
    return text.rstrip(" ")


def _text_words(value: Value, order: str, registers: int) -> list[int]:
    if not isinstance(value, str):
        raise ToolFault(f"{value!r:.60} is no text, and a string was asked for; nothing was sent.")
    data = value.encode("utf-8")
    if len(data) > registers * 2:
        raise ToolFault(f"The text takes {len(data)} bytes and there is room for {registers * 2}; nothing was sent.")
    words = unpacked(data.ljust(registers * 2, b"\0"))
    return [(w >> 8) | (w & 0xFF) << 8 for w in words] if order in ("BADC", "DCBA") else words
