"""Registers as values, in each order that devices use."""

import json
import struct
from collections.abc import Sequence

# struct code and registers for one value
NUMBERS = {
    "uint16": ("H", 1),
    "int16": ("h", 1),
    "uint32": ("I", 2),
    "int32": ("i", 2),
    "float32": ("f", 2),
    "uint64": ("Q", 4),
    "int64": ("q", 4),
    "float64": ("d", 4),
}
TYPES = (*NUMBERS, "string")
ORDERS = ("ABCD", "CDAB", "BADC", "DCBA")


def registers_of(kind: str) -> int:
    """Registers that one value of this type takes."""
    return NUMBERS[kind][1] if kind in NUMBERS else 1


def table(first: int, registers: Sequence[int], kind: str) -> list[str]:
    """One line for each value, beginning with its wire address.

    Values of several registers are shown in four orders, since devices differ: ABCD is the standard's (high word and
    high byte first), CDAB has the low word first, BADC swaps the bytes of each word, DCBA is both.
    """
    if kind == "string":
        return _strings(first, registers)
    code, size = NUMBERS[kind]
    if size == 1:
        rows = [f"{first + n}: {_number(code, [word])} 0x{word:04X}" for n, word in enumerate(registers)]
        return [f"address: {kind} hex", *rows]
    rows = [
        f"{first + n}: " + "  ".join(_number(code, _ordered(registers[n : n + size], order)) for order in ORDERS)
        for n in range(0, len(registers), size)
    ]
    return [f"address: {kind} as {'  '.join(ORDERS)}", *rows]


def _ordered(words: Sequence[int], order: str) -> list[int]:
    words = list(reversed(words)) if order in ("CDAB", "DCBA") else list(words)
    return [(w >> 8) | (w & 0xFF) << 8 for w in words] if order in ("BADC", "DCBA") else words


def _number(code: str, words: Sequence[int]) -> str:
    (value,) = struct.unpack(f">{code}", struct.pack(f">{len(words)}H", *words))
    if code == "f":
        return f"{value:.7g}"
    return repr(value)


def _strings(first: int, registers: Sequence[int]) -> list[str]:
    """The registers' bytes as text up to the first NUL, quoted, in both orders of bytes."""
    rows: list[str] = []
    for order in ("ABCD", "BADC"):
        data = struct.pack(f">{len(registers)}H", *_ordered(registers, order)).split(b"\0", 1)[0]
        rows.append(f"{first}: {json.dumps(data.decode('latin-1'))} as {order}")
    return rows
