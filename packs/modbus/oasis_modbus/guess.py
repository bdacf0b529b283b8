"""What registers of unknown type may hold: guesses with reasons, the most plausible first.

All runs of a device are cut into values so that the whole is told in as few bits as possible: a small number costs few,
a float with a usual exponent less than its two words apart, what is like its neighbour less than what is not, and
what moved smoothly less than what jumped. A device nearly always keeps one order of bytes and words.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from oasis.plant.values import Value, spelled
from oasis_modbus import likely
from oasis_modbus.codec import ORDERS, TYPES, decoded
from oasis_modbus.series import UNMOVED, Motion, motion

SWITCH_BITS = 4.5
"""What it costs that a value has another type or order than the one before it."""
OTHER_ORDER_BITS = 4.0
"""What it costs that a value has another order than the device."""
_HOPELESS_BITS = 2 * SWITCH_BITS + OTHER_ORDER_BITS
_ORDER_BITS = {"ABCD": 0.0, "CDAB": 2.0, "BADC": 9.0, "DCBA": 6.0}
"""How rare a device of this order is."""
_CANDIDATES = tuple(
    (kind, order) for kind in likely.TYPE_BITS for order in (ORDERS if TYPES[kind].registers > 1 else ("ABCD",))
)


@dataclass(frozen=True, slots=True)
class Run:
    """Registers that follow each other. `past` are the same before, oldest first; None where they were not read."""

    words: Sequence[int]
    past: Sequence[Sequence[int | None]] = ()


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
    motion: Motion = UNMOVED

    def __str__(self) -> str:
        order = f" {self.order}" if self.registers > 1 and self.kind != "string" else ""
        moved = f"; in {self.motion.changes} changes it moved smoothly" if self.motion.is_smooth else ""
        return f"{self.kind}{order} {spelled(self.value)} ({self.why}{moved})"


@dataclass(frozen=True, slots=True)
class Cut:
    """The runs of a device as guesses, one behind the other, and the order that it seems to have."""

    order: str
    runs: tuple[tuple[Guess, ...], ...]


class _Way(NamedTuple):
    """The cheapest way to a place that ends in `last`: its cost so far, and the kind before."""

    bits: float
    last: Guess | None = None
    before: tuple[str, str] = ("", "")


def cut(runs: Sequence[Run]) -> Cut:
    """The runs cut into values, by least cost over all of them."""
    found = [_without_hopeless([candidates(run, at) for at in range(len(run.words))]) for run in runs]
    ways = [_cut_for(order, found) for order in ORDERS]
    best = min(range(len(ORDERS)), key=lambda n: ways[n][0])
    return Cut(ORDERS[best], ways[best][1])


def candidates(run: Run, at: int) -> list[Guess]:
    """Every guess that begins at `at`, the most plausible of a device of no known order first."""
    found: list[Guess] = []
    if told := likely.text(run.words, at):
        value, size, bits = told
        found.append(Guess(at, "string", "ABCD", value, bits, "printable ASCII", size))
    for kind, order in _CANDIDATES:
        size = TYPES[kind].registers
        words = run.words[at : at + size]
        if len(words) == size and (guess := _number(words, at, kind, order)):
            moved = motion(run.past, at, size, kind, order)
            found.append(replace(guess, bits=guess.bits + moved.bits, motion=moved) if moved.changes else guess)
    return sorted(found, key=lambda g: g.bits / g.registers)


def _without_hopeless(found: Sequence[Sequence[Guess]]) -> list[list[Guess]]:
    """The guesses that can be on the cheapest way: not those that cost far more than their registers one by one."""
    alone = [min((g.bits for g in guesses if g.registers == 1), default=0.0) for guesses in found]
    return [
        [g for g in guesses if g.registers == 1 or g.bits < sum(alone[at : at + g.registers]) + _HOPELESS_BITS]
        for at, guesses in enumerate(found)
    ]


def other_order_bits(guess: Guess, order: str) -> float:
    """What the guess costs more in a device of this order."""
    return OTHER_ORDER_BITS if guess.registers > 1 and guess.kind != "string" and guess.order != order else 0.0


def _number(words: Sequence[int], at: int, kind: str, order: str) -> Guess | None:
    value = decoded(words, kind, order)
    if not isinstance(value, int | float) or not (told := likely.bits_of(value, kind, words)):
        return None
    return Guess(at, kind, order, value, told[0], told[1], len(words))


def _cut_for(order: str, found: Sequence[Sequence[Sequence[Guess]]]) -> tuple[float, tuple[tuple[Guess, ...], ...]]:
    """The cost of all runs for a device of this order, and their guesses."""
    total = _ORDER_BITS[order]
    cuts: list[tuple[Guess, ...]] = []
    before: Guess | None = None
    for run in found:
        bits, guesses = _cheapest(run, order, before)
        total += bits
        cuts.append(guesses)
        before = guesses[-1] if guesses else before
    return total, tuple(cuts)


def _cheapest(found: Sequence[Sequence[Guess]], order: str, before: Guess | None) -> tuple[float, tuple[Guess, ...]]:
    """The guesses of one run that cost least together. `before` is the guess that precedes it."""
    ends: list[dict[tuple[str, str], _Way]] = [{} for _ in range(len(found) + 1)]
    ends[0] = {_kind(before): _Way(0.0, before)}
    for at, guesses in enumerate(found):
        if not ends[at]:
            continue
        cheapest = min(ends[at], key=lambda kind: ends[at][kind].bits)
        for guess in guesses:
            way = _on(ends[at], cheapest, guess, other_order_bits(guess, order))
            place, kind = ends[at + guess.registers], _kind(guess)
            if kind not in place or way.bits < place[kind].bits:
                place[kind] = way
    return _path(ends)


def _on(ways: dict[tuple[str, str], _Way], cheapest: tuple[str, str], guess: Guess, more: float) -> _Way:
    """The way on to the guess: from the cheapest before it, or from one of its own kind."""
    switched = _Way(ways[cheapest].bits + SWITCH_BITS + guess.bits + more, guess, cheapest)
    kind = _kind(guess)
    if kind not in ways:
        return switched
    stayed = _Way(ways[kind].bits + _beside(ways[kind].last, guess) + more, guess, kind)
    return stayed if stayed.bits <= switched.bits else switched


def _beside(before: Guess | None, guess: Guess) -> float:
    numbers = (before.value if before else None), guess.value
    if not isinstance(numbers[0], int | float) or not isinstance(numbers[1], int | float):
        return guess.bits
    moved = guess.motion.bits
    return moved + likely.bits_beside(numbers[0], numbers[1], guess.kind, guess.bits - moved)


def _kind(guess: Guess | None) -> tuple[str, str]:
    return (guess.kind, guess.order) if guess else ("", "")


def _path(ends: Sequence[dict[tuple[str, str], _Way]]) -> tuple[float, tuple[Guess, ...]]:
    at = len(ends) - 1
    kind = min(ends[at], key=lambda k: ends[at][k].bits)
    total = ends[at][kind].bits
    path: list[Guess] = []
    while at > 0:
        way = ends[at][kind]
        if way.last is None:
            break
        path.append(way.last)
        at, kind = way.last.at, way.before
    return total, tuple(path[::-1])
