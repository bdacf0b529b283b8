"""Further lines of a reading: what its registers may hold, and what another order would give."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from oasis.plant.values import Form, spelled
from oasis_modbus.codec import ORDERS, TYPES, decoded, told
from oasis_modbus.guess import Guess, Run, candidates, cut, other_order_bits
from oasis_modbus.series import UNMOVED, Series

_SHOWN = 3
_PLAIN = 0x7FFF


def run_hints(
    words: Mapping[str, Mapping[int, int]], series: Mapping[str, Series]
) -> dict[tuple[str, int], tuple[str, ...]]:
    """Lines for registers by table and address: the ranked guesses where a value begins, and what lies within one.

    Small plain numbers need none, unless two of them may well be one; and of a zero, which may be anything, only the
    likeliest is given. `series` is what the tables held before.
    """
    places = [(name, first, run) for name, some in words.items() for first, run in _runs(some)]
    runs = [Run(run, series[name].past(first, len(run)) if name in series else ()) for name, first, run in places]
    done = cut(runs)
    hints: dict[tuple[str, int], tuple[str, ...]] = {}
    for (name, first, _), run, guesses in zip(places, runs, done.runs, strict=True):
        for guess, behind in zip(guesses, (*guesses[1:], None), strict=True):
            others = _others(run, guess, done.order)
            line = _line(guess, others if run.words[guess.at] else ()) or _together(guess, behind, others)
            if line:
                hints[name, first + guess.at] = (line,)
            if guess.registers > 1:
                hints[name, first + guess.at + 1] = (_inside(guess, first + guess.at),)
    return hints


def _others(run: Run, guess: Guess, order: str) -> list[Guess]:
    """What else may begin where the guess does, the likeliest in this device first."""
    found = [g for g in candidates(run, guess.at) if (g.kind, g.order) != (guess.kind, guess.order)]
    return sorted(found, key=lambda g: (g.bits + other_order_bits(g, order)) / g.registers)


def _inside(guess: Guess, begins: int) -> str:
    """What the second register of a value says for itself and those after it."""
    last = begins + guess.registers - 1
    also = f"; so are {begins + 2}-{last}" if guess.registers > 3 else f"; so is {last}" if guess.registers > 2 else ""
    return f"within the {guess.kind} that begins at {begins}{also}"


def number_hints(words: Sequence[int], form: Form) -> tuple[str, ...]:
    """What a number in a form that names no order would be in the others; and the marks for 'no value'."""
    kind = TYPES[form.type]
    if kind.registers == 1 and words[0] not in (0x8000, 0xFFFF):
        return ()
    lines: list[str] = []
    value = decoded(words, form.type, form.order)
    if value in {"uint16": (0xFFFF,), "int16": (-0x8000,), "uint32": (0xFFFFFFFF,), "int32": (-(2**31),)}.get(
        form.type, ()
    ):
        lines.append("this raw value often means 'not fitted' or 'no value'")
    if kind.registers > 1 and not form.order and any(words):
        others = [f"{o} {_spelled(words, form, o)}" for o in ORDERS[1:] if _is_usual(words, form, o)]
        lines.append(f"no order given: ABCD; {', '.join(others) or 'no other order gives a usual value'}")
    return tuple(lines)


def _line(guess: Guess, others: Sequence[Guess]) -> str:
    if guess.registers == 1 and isinstance(guess.value, int) and 0 <= guess.value <= _PLAIN:
        return ""
    near: list[Guess] = []
    for other in others:
        is_near = other.bits / other.registers < guess.bits / guess.registers + 4 and other.kind != "uint16"
        if is_near and all(other.value != told.value for told in (guess, *near)):
            near.append(replace(other, motion=UNMOVED))
    return "may be " + "; or ".join(str(g) for g in (guess, *near[: _SHOWN - 1]))


def _together(guess: Guess, behind: Guess | None, others: Sequence[Guess]) -> str:
    """What two plain numbers may be as one, where that one is told in fewer bits than the two."""
    if behind is None or behind.registers > 1:
        return ""
    apart = guess.bits + behind.bits
    for other in others:
        is_long = isinstance(other.value, float) or (isinstance(other.value, int) and abs(other.value) > _PLAIN)
        if other.registers == 2 and other.bits < apart and is_long and other.value:
            return f"may be {guess.kind} {spelled(guess.value)}; or with the next register {other}"
    return ""


def _spelled(words: Sequence[int], form: Form, order: str) -> str:
    value = decoded(words, form.type, order)
    return spelled(None if value is None else form.engineering(told(value, form.type)))


def _is_usual(words: Sequence[int], form: Form, order: str) -> bool:
    value = decoded(words, form.type, order)
    if isinstance(value, float):
        return not value or (math.isfinite(value) and 1e-6 <= abs(value) < 1e12)
    return isinstance(value, int)


def _runs(words: Mapping[int, int]) -> list[tuple[int, list[int]]]:
    runs: list[tuple[int, list[int]]] = []
    for at in sorted(words):
        if runs and runs[-1][0] + len(runs[-1][1]) == at:
            runs[-1][1].append(words[at])
        else:
            runs.append((at, [words[at]]))
    return runs
