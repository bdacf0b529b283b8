"""What registers of unknown type may hold: guesses with reasons, the most plausible first.

A run of registers is cut into values so that the whole is told in as few bits as possible: a small number costs few, a
float with a usual exponent less than its two words apart, and what is like its neighbour less than what is not.
"""

import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field

from oasis.plant.values import Value, spelled
from oasis_modbus.codec import ORDERS, TYPES, decoded, packed

SWITCH_BITS = 4.0
"""What it costs that a value has another type or order than the one before it."""
_ORDER_BITS = {"ABCD": 0.0, "CDAB": 1.0, "BADC": 7.0, "DCBA": 5.0}
_BASE_BITS = {"uint16": 2.0, "int16": 3.0, "uint32": 3.0, "int32": 4.0, "float32": 3.0, "float64": 8.0}
_MARKERS = {
    "uint16": (0xFFFF,), "int16": (-0x8000, 0x7FFF), "uint32": (0xFFFFFFFF,), "int32": (-0x80000000, 0x7FFFFFFF),
}  # fmt: skip
_CANDIDATES = (
    ("uint16", "ABCD"), ("int16", "ABCD"),
    *((kind, order) for kind in ("float32", "uint32", "int32") for order in ORDERS),
    ("float64", "ABCD"), ("float64", "CDAB"), ("float64", "DCBA"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Guess:
    """A value of `registers` words from offset `at` in the run. `bits` is its cost: fewer is more plausible."""

    at: int
    kind: str
    order: str
    value: Value
    bits: float
    why: str
    registers: int = field(default=1)

    def __str__(self) -> str:
        order = f" {self.order}" if self.registers > 1 and self.kind != "string" else ""
        return f"{self.kind}{order} {spelled(self.value)} ({self.why})"


def candidates(words: Sequence[int], at: int) -> list[Guess]:
    """Every guess that begins at `at`, the most plausible first."""
    found: list[Guess] = []
    if text := _text(words, at):
        found.append(text)
    for kind, order in _CANDIDATES:
        size = TYPES[kind].registers
        some = words[at : at + size]
        if len(some) == size and (guess := _number(some, at, kind, order)):
            found.append(guess)
    return sorted(found, key=lambda g: g.bits / g.registers)


def segments(words: Sequence[int], before: tuple[str, str] = ("", "")) -> list[Guess]:
    """The run cut into values, by least cost. `before` is type and order of the value that precedes it, if any."""
    ends: list[dict[tuple[str, str], tuple[float, Guess | None, tuple[str, str] | None]]]
    ends = [{} for _ in range(len(words) + 1)]
    ends[0] = {before: (0.0, None, None)}
    for at in range(len(words)):
        if not ends[at]:
            continue
        best = min(ends[at], key=lambda k: ends[at][k][0])
        for guess in candidates(words, at):
            kind = (guess.kind, guess.order)
            ways = [(ends[at][best][0] + SWITCH_BITS, best)]
            ways += [(ends[at][kind][0], kind)] if kind in ends[at] else []
            cost, before = min(ways)
            place = ends[at + guess.registers]
            if kind not in place or cost + guess.bits < place[kind][0]:
                place[kind] = (cost + guess.bits, guess, before)
    return _path(ends)


def _path(
    ends: Sequence[dict[tuple[str, str], tuple[float, Guess | None, tuple[str, str] | None]]],
) -> list[Guess]:
    at = len(ends) - 1
    if at == 0:
        return []
    kind = min(ends[at], key=lambda k: ends[at][k][0])
    path: list[Guess] = []
    while at > 0:
        _, guess, before = ends[at][kind]
        if guess is None or before is None:
            break
        path.append(guess)
        at, kind = guess.at, before
    return path[::-1]


def _number(words: Sequence[int], at: int, kind: str, order: str) -> Guess | None:
    value = decoded(words, kind, order)
    size = len(words)
    extra = _ORDER_BITS[order] if size > 1 else 0.0
    if isinstance(value, float):
        cost, why = _float_bits(value, kind, packed(words))
    elif isinstance(value, int):
        cost, why = _integer_bits(value, kind)
    else:
        return None
    if cost is None:
        return None
    return Guess(at, kind, order, value, cost + extra + _BASE_BITS[kind], why, size)


def _integer_bits(value: int, kind: str) -> tuple[float | None, str]:
    """Small numbers are usual; of a 32-bit one the high word, and its low word may be anything."""
    if value in _MARKERS[kind]:
        return (2.0 if kind.endswith("16") else 4.0), "the mark for 'not fitted' or 'no value'"
    if kind == "uint16":
        rare = 2.0 * (value >= 0x4000) + 5.0 * (value >= 0x8000)
        return math.log2(value + 1) + rare, "a small number" if value < 1000 else "a number"
    if kind == "int16":
        if value >= 0:
            return math.log2(value + 1) + 1 + 2.0 * (value >= 0x4000), "signed like its neighbour"
        return math.log2(-value) + 1 + 4.0 * (value < -0x4000), "a small negative number"
    if value < 0:
        return (math.log2(-value) + 4, "a small negative number") if value > -(2**28) else (None, "")
    high = value >> 16
    rare = 2.0 * (value >= 0x4000)
    bits = math.log2(value + 1) + 1 + rare if not high else 14.0 + 1.3 * math.log2(high + 1)
    return bits, "like its neighbour" if not high else "a counter: its high word is small"


def _float_bits(value: float, kind: str, data: bytes) -> tuple[float | None, str]:
    """A float of a usual size; one that is short in decimals is cheaper still. Zero is anything."""
    if value != value:  # noqa: PLR0124
        return (3.0, "NaN, no value") if data.hex() in ("7fc00000", "0000c07f", "7ff8000000000000") else (None, "")
    if value == 0:
        return (2.0, "zero") if data.count(0) == len(data) else (None, "")
    if not 1e-4 <= abs(value) < 1e8:
        return None, ""
    unusual = abs(math.log10(abs(value)) - 1.5)
    most = 7 if kind == "float32" else 15
    digits = _digits(value, kind, most)
    mantissa = 3.3 * digits if digits < most - 1 else 52.0 if kind == "float64" else 22.0
    return 4.0 + 1.5 * unusual + mantissa, "a float of usual size" + (" with few digits" if digits < 5 else "")


def _digits(value: float, kind: str, most: int) -> int:
    """Decimal digits that say the number; `most` where that many do not."""
    code = f">{TYPES[kind].code}"
    data = struct.pack(code, value)
    for digits in range(1, most):
        if struct.pack(code, float(f"{value:.{digits}g}")) == data:
            return digits
    return most


def _text(words: Sequence[int], at: int) -> Guess | None:
    """A text: at least three registers of printable ASCII, up to NULs that fill it."""
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
    value = decoded(words[at:end], "string")
    return Guess(at, "string", "ABCD", value or "", 6.0 + 11.0 * filled, "printable ASCII", end - at)
