"""Values as 16-bit registers and back, in the four orders of bytes and words."""

import struct

FORMATS = {"uint16": ">H", "int16": ">h", "uint32": ">I", "int32": ">i", "float32": ">f"}


def to_words(value: float | str, type_: str, order: str, length: int) -> list[int]:
    """The value in registers, most significant first in order ABCD. `length` in registers is a text's room."""
    if isinstance(value, str):
        data = value.encode("latin-1", "replace")[: 2 * length].ljust(2 * length, b"\0")
    else:
        data = struct.pack(FORMATS[type_], value if type_ == "float32" else _clipped(round(value), type_))
    return _ordered([int.from_bytes(data[at : at + 2], "big") for at in range(0, len(data), 2)], order)


def from_words(words: list[int], type_: str, order: str) -> float | str:
    """The inverse of `to_words`."""
    data = b"".join(word.to_bytes(2, "big") for word in _ordered(words, order))
    if type_ == "string":
        return data.rstrip(b"\0").decode("latin-1")
    return struct.unpack(FORMATS[type_], data)[0]


def _ordered(words: list[int], order: str) -> list[int]:
    """ABCD leaves all as it is; CDAB turns the words, BADC the bytes, DCBA both. Each is its own inverse."""
    if order in ("BADC", "DCBA"):
        words = [(word & 0xFF) << 8 | word >> 8 for word in words]
    return words[::-1] if order in ("CDAB", "DCBA") else words


def _clipped(value: int, type_: str) -> int:
    bits = int(type_.lstrip("uint"))
    low, high = (0, (1 << bits) - 1) if type_.startswith("u") else (-(1 << bits - 1), (1 << bits - 1) - 1)
    return min(high, max(low, value))
