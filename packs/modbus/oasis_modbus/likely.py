"""How likely values are in the registers of a device: what each costs to tell, in bits; fewer is likelier.

The figures were fitted to published register maps (`oasis bench plant --maps`).
"""

import math
import struct
from collections.abc import Sequence

from oasis_modbus.codec import TYPES, decoded, packed

TYPE_BITS = {
    "uint16": 2.0, "int16": 3.0, "uint32": 3.0, "int32": 4.0, "float32": 3.0, "float64": 6.0, "uint64": 8.0,
    "int64": 9.0,
}  # fmt: skip
"""What the type costs by itself: some are rarer than others."""
MARKS = {
    "uint16": (0xFFFF,), "int16": (-0x8000, 0x7FFF), "uint32": (0xFFFFFFFF,), "int32": (-0x80000000, 0x7FFFFFFF),
    "uint64": ((1 << 64) - 1,), "int64": (-(1 << 63),),
}  # fmt: skip
_NANS = ("7fc00000", "0000c07f", "7ff8000000000000")
_LONGEST = {"int32": 28, "int64": 40}
"""Negative numbers of more bits than this hardly stand in a device."""
_MARK_BITS = 5.0
_ZERO_BITS = 2.0
_LONG_ZERO_BITS = 4.0
_MANTISSA_BITS = {"float32": 22.0, "float64": 50.0}
_DIGIT_BITS = 3.3
_ALIKE_FLOAT_BITS = 3.0
_NEAR_BITS = 4.0
_MOST_GAIN = 6.0


def bits_of(value: float, kind: str, words: Sequence[int]) -> tuple[float, str] | None:
    """What a number costs, and the reason why it is likely; None for one that hardly stands in a device."""
    told = _float_bits(value, kind, packed(words)) if isinstance(value, float) else _integer_bits(value, kind)
    return (told[0] + TYPE_BITS[kind], told[1]) if told else None


def bits_beside(before: float, value: float, kind: str, bits: float) -> float:
    """What a number costs behind another of its type: less where it is like it."""
    if isinstance(value, float):
        return bits - _ALIKE_FLOAT_BITS if before * value > 0 and 0.5 < before / value < 2 else bits
    if value in MARKS[kind]:
        return bits
    return max(bits - _MOST_GAIN, min(bits, _size(value - before) + _NEAR_BITS + TYPE_BITS[kind]))


def _size(value: float) -> float:
    return math.log2(abs(value) + 1)


def _integer_bits(value: int, kind: str) -> tuple[float, str] | None:
    if value in MARKS[kind]:
        return _MARK_BITS, "the mark for 'not fitted' or 'no value'"
    if kind in ("uint16", "int16"):
        return _short_bits(value, kind)
    return _long_bits(value, kind)


def _long_bits(value: int, kind: str) -> tuple[float, str] | None:
    """Of a long number that is not negative, the high words are small."""
    if value == 0:
        return _LONG_ZERO_BITS, "like its neighbour"
    if value < 0:
        return (_size(value) + 4, _negative(value)) if value > -(1 << _LONGEST[kind]) else None
    if value < 1 << 16:
        return _size(value) + 1, "like its neighbour"
    if kind.endswith("64"):
        return (_size(value) + 1, "a counter: its high words are small") if value < 1 << 48 else None
    return 14.0 + 1.3 * _size(value >> 16), "a counter: its high word is small"


def _short_bits(value: int, kind: str) -> tuple[float, str]:
    """Small numbers are usual; those over 0x4000 are rare, over 0x8000 rarer."""
    if value < 0:
        return _size(value) + 1 + 4.0 * (value < -0x4000), _negative(value)
    why = "signed like its neighbour" if kind == "int16" else "a small number" if value < 1000 else "a number"
    rare = 2.0 * (value >= 0x4000) + 5.0 * (value >= 0x8000)
    return (_size(value) + 1 + rare if value else _ZERO_BITS), why


def _negative(value: int) -> str:
    """-1 has all bits set, which is also the mark of an unsigned number."""
    return "a small negative number" + (", or the mark for 'not fitted' or 'no value'" if value == -1 else "")


def _float_bits(value: float, kind: str, data: bytes) -> tuple[float, str] | None:
    """A float of a usual size; one that is short in decimals is cheaper still. Zero is anything."""
    if value != value:  # noqa: PLR0124
        return (4.0, "NaN, no value") if data.hex() in _NANS else None
    if value == 0:
        return (3.0, "zero") if not any(data) else None
    if not 1e-4 <= abs(value) < 1e9:
        return None
    unusual = abs(math.log10(abs(value)) - 1.5)
    digits = _digits(value, kind)
    mantissa = min(_DIGIT_BITS * digits, _MANTISSA_BITS[kind])
    return 4.0 + unusual + mantissa, "a float of usual size" + (" with few digits" if digits < 5 else "")


def _digits(value: float, kind: str) -> int:
    """Decimal digits that say the number; very many where no short decimal does."""
    code = f">{TYPES[kind].code}"
    data = struct.pack(code, value)
    for digits in range(1, 6 if kind == "float32" else 14):
        if struct.pack(code, float(f"{value:.{digits}g}")) == data:
            return digits
    return 99


def text(words: Sequence[int], at: int) -> tuple[str, int, float] | None:
    """A text that begins there, its registers and cost: three or more of printable ASCII, up to NULs that fill it."""
    end = at
    while end < len(words) and all(32 <= b < 127 for b in packed([words[end]])):
        end += 1
    if end < len(words) and 32 <= words[end] >> 8 < 127 and words[end] & 0xFF == 0:
        end += 1
    if end - at < 3:
        return None
    data = packed(words[at:end]).rstrip(b"\0")
    if sum(chr(b).isalnum() or b in b" -_./:" for b in data) < 0.9 * len(data):
        return None
    filled = end - at
    while end < len(words) and words[end] in (0, 0x2020) and end - at < 32:
        end += 1
    return str(decoded(words[at:end], "string")), end - at, 6.0 + 11.0 * filled
