"""What registers were before: a value read in the right form moves smoothly, in a wrong one it jumps."""

import math
from collections import deque
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from oasis_modbus.codec import decoded, ordered

_MOST_ROUNDS = 32
_MOST_CHANGES = 12
_WEIGHT = 0.7
_CHANGE_BITS = 4.0
_SMOOTH, _WILD = 0.05, 0.3
_LEAST_CHANGES = 3


class Motion(NamedTuple):
    """How a value moved: how many changes were seen, what they cost in bits, and how far each went.

    `stride` is the mean of what a change is of the value, from 0 (nothing) to 1 and more (all of it).
    """

    changes: int = 0
    bits: float = 0.0
    stride: float = 0.0

    @property
    def is_smooth(self) -> bool:
        return self.changes >= _LEAST_CHANGES and self.stride < _SMOOTH

    @property
    def is_wild(self) -> bool:
        return self.changes >= _LEAST_CHANGES and self.stride > _WILD


UNMOVED = Motion()


class Series:
    """The last words of one table by address, each round of reading as it was."""

    def __init__(self) -> None:
        self._rounds = deque[dict[int, int]](maxlen=_MOST_ROUNDS)

    def add(self, words: Mapping[int, int]) -> None:
        """Note a round of reading, unless it repeats the one before."""
        if words and (not self._rounds or self._rounds[-1] != words):
            self._rounds.append(dict(words))

    def past(self, first: int, count: int) -> list[tuple[int | None, ...]]:
        """The words of these registers in each round, oldest first; None where they were not read."""
        addresses = range(first, first + count)
        return [tuple(some.get(at) for at in addresses) for some in self._rounds]


def motion(past: Sequence[Sequence[int | None]], at: int, registers: int, kind: str, order: str) -> Motion:
    """How the value in these registers moved; `at` counts from the first register of `past`."""
    if len(past) < 2:
        return UNMOVED
    seen: list[tuple[int, ...]] = []
    for some in past:
        words = tuple(word for word in some[at : at + registers] if word is not None)
        if len(words) == registers and (not seen or seen[-1] != words):
            seen.append(words)
    seen = seen[-_MOST_CHANGES - 1 :]
    if len(seen) < 2:
        return UNMOVED
    steps = [_step_bits(before, after, kind, order) for before, after in pairwise(seen)]
    values = [decoded(words, kind, order) for words in seen]
    strides = [_stride(before, after) for before, after in pairwise(values)]
    return Motion(len(steps), _WEIGHT * sum(steps), sum(strides) / len(strides))


def _step_bits(before: Sequence[int], after: Sequence[int], kind: str, order: str) -> float:
    """What the change costs: the bits of its size, counted in the last place of the number.

    So that a long number is told no cheaper than the two that it may be: the jumps of one of them are seen in it.
    """
    return _CHANGE_BITS + math.log2(1 + abs(_place(after, kind, order) - _place(before, kind, order)))


def _place(words: Sequence[int], kind: str, order: str) -> int:
    """Where the number stands among all of its type, in their order."""
    number = 0
    for word in ordered(words, order):
        number = number << 16 | word
    sign = 1 << 16 * len(words) - 1
    if kind.startswith("uint") or not number & sign:
        return number
    return number - 2 * sign if kind.startswith("int") else sign - number


def _stride(before: object, after: object) -> float:
    """The change as a share of the value."""
    if not isinstance(before, int | float) or not isinstance(after, int | float):
        return 1.0
    greatest = max(abs(before), abs(after))
    if not math.isfinite(greatest):
        return 1.0
    return abs(after - before) / greatest if greatest else 0.0
