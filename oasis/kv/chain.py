"""Keys of token sequences: a hash that runs along the ids, read off at boundaries.

The key at a boundary depends on every id before it and on nothing else, so that two sessions with the same beginning
have the same keys there, however each of them was cut into segments.
"""

import hashlib
import sys
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Source:
    """A file whose text is in a segment, as it was when the segment was made (sha256 of its bytes)."""

    path: str
    sha256: str


@dataclass(frozen=True, slots=True)
class Segment:
    """The ids from the end of the segment before it up to `end`, and the file they came from, if any."""

    end: int
    source: Source | None = None


def packed(ids: Sequence[int]) -> bytes:
    """The ids as 32-bit little-endian integers."""
    words = array("i", ids)
    if sys.byteorder == "big":
        words.byteswap()
    return words.tobytes()


def unpacked(data: bytes) -> list[int]:
    """The ids of such bytes."""
    words = array("i")
    words.frombytes(data)
    if sys.byteorder == "big":
        words.byteswap()
    return words.tolist()


def keys_at(ids: Sequence[int], ends: Iterable[int]) -> dict[int, str]:
    """The key at each of `ends` that lies within the ids; one pass over them."""
    data, running, at = packed(ids), hashlib.sha256(), 0
    keys: dict[int, str] = {}
    for end in sorted({e for e in ends if 0 < e <= len(ids)}):
        running.update(data[at * 4 : end * 4])
        keys[end], at = running.hexdigest(), end
    return keys


def key_of(ids: Sequence[int]) -> str:
    """The key at the end of the ids."""
    return key_of_packed(packed(ids))


def key_of_packed(data: bytes) -> str:
    """The key at the end of packed ids."""
    return hashlib.sha256(data).hexdigest()


def ids_of(wire: bytes) -> list[int]:
    """The ids of a prompt as a Transcript writes it: decimal, with commas between."""
    return list(map(int, wire.split(b","))) if wire else []


class Grown:
    """A prompt that mostly grows: what was read of it before is not read again."""

    def __init__(self) -> None:
        self.ids: list[int] = []
        self.data = b""
        self._wire = b""

    def follow(self, wire: bytes) -> list[int]:
        """The ids of a prompt; `data` is then the same, packed."""
        if self._wire and wire.startswith(self._wire) and wire[len(self._wire) : len(self._wire) + 1] in (b"", b","):
            new = ids_of(wire[len(self._wire) + 1 :])
            self.ids, self.data = self.ids + new, self.data + packed(new)
        else:
            self.ids = ids_of(wire)
            self.data = packed(self.ids)
        self._wire = wire
        return self.ids
