"""Reads points of one unit: in blocks, past addresses that do not exist, each value from one request."""

import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

from oasis.plant.values import GOOD, Point, Reading
from oasis_modbus import faults, grammar
from oasis_modbus.blocks import Block, Known, Span, blocks
from oasis_modbus.codec import decoded, told
from oasis_modbus.faults import LinkFault
from oasis_modbus.grammar import Place
from oasis_modbus.hints import number_hints, run_hints
from oasis_modbus.series import Series
from oasis_modbus.tables import TABLES, Table
from oasis_modbus.units import Refused, Unit

HALVING_S = 5.0
"""How long a read looks for the addresses that do not exist in its blocks."""

_PAUSES = 2.0
"""While watching, the pause after guessing, as a multiple of what it took."""


@dataclass(frozen=True, slots=True)
class Element:
    """One value to read. `key` finds its words, `where` names its place, `note` is a further line of its reading."""

    table: Table
    span: Span
    point: Point
    key: tuple[str, Span]
    where: str
    bit: int | None = None
    note: tuple[str, ...] = ()


class Got(NamedTuple):
    """What became of one value's registers: words, or shortly why not, and that in full."""

    words: tuple[int, ...] = ()
    why: str = ""
    advice: str = ""


class Reader:
    """Reads one unit, and remembers which addresses read and how much the device gives at once."""

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self.known = {name: Known() for name in TABLES}
        self.most = {name: table.most for name, table in TABLES.items()}
        """How many registers or bits of each table the device gives at once, as far as it is known."""
        self.series = {name: Series() for name in TABLES}
        self._halve_until = 0.0
        self._hints_due = 0.0

    async def read(self, points: Sequence[Point], is_round: bool = False) -> list[Reading]:
        """The readings in order. Raises ToolFault where nothing at all could be read for a fault of the wire.

        In a round of watching, what registers without a type may be is not told each time where that takes long.
        """
        elements = [element for point in points for element in elements_of(point)]
        got = await self.fetch([e.key for e in elements])
        hints = self._hints(elements, got, is_round)
        readings: list[Reading] = []
        for element in elements:
            reading = _reading(element, got[element.key], hints)
            is_first = not readings or readings[-1].status != reading.status
            if not reading.is_good and is_first and got[element.key].advice:
                reading = replace(reading, more=(*reading.more, got[element.key].advice))
            readings.append(reading)
        return readings

    def _hints(
        self, elements: Sequence[Element], got: Mapping[tuple[str, Span], Got], is_round: bool
    ) -> dict[tuple[str, int], tuple[str, ...]]:
        """Guesses for the registers that were asked for without a type, by table and address; they are remembered."""
        untyped: defaultdict[str, dict[int, int]] = defaultdict(dict)
        for element in elements:
            words = got[element.key].words
            if words and not element.table.is_bits and element.bit is None and not element.point.form.type:
                untyped[element.table.name][element.span.first] = words[0]
        for name, some in untyped.items():
            self.series[name].add(some)
        began = time.monotonic()
        if not untyped or (is_round and began < self._hints_due):
            return {}
        hints = run_hints(untyped, self.series)
        self._hints_due = time.monotonic() + _PAUSES * (time.monotonic() - began)
        return hints

    async def fetch(self, wanted: Sequence[tuple[str, Span]]) -> dict[tuple[str, Span], Got]:
        """The words of each span. A fault of the wire ends it: what was not read says so; raised if nothing was.

        A block with an address that does not exist is read in halves, for `HALVING_S`: on a slow device the rest says
        that it was not looked at.
        """
        self._halve_until = 0.0
        spans: defaultdict[str, list[Span]] = defaultdict(list)
        for name, span in wanted:
            spans[name].append(span)
        got: dict[tuple[str, Span], Got] = {}
        fault: LinkFault | None = None
        for name, some in spans.items():
            for block in blocks(some, self.most[name], self.known[name]):
                if fault is None:
                    fault = await self._block(TABLES[name], block, got)
                if fault:
                    for span in block.spans:
                        got.setdefault((name, span), Got(why=f"not read: {fault.short}", advice=str(fault)))
        if fault and not any(g.words for g in got.values()):
            raise fault
        return got

    async def _block(self, table: Table, block: Block, got: dict[tuple[str, Span], Got]) -> LinkFault | None:
        """Read one block into `got`. In halves where an address in it does not exist, or it is too much at once."""
        if block.count > (most := self.most[table.name]) and len(block.spans) > 1:
            return await self._blocks(table, blocks(block.spans, most, self.known[table.name]), got)
        try:
            values = await self.unit.values(table, block.first, block.count)
        except LinkFault as fault:
            return fault
        except Refused as refused:
            if not self._may_halve(refused, block):
                got.update({(table.name, span): self._refused(refused, block) for span in block.spans})
                return None
            if fault := await self._blocks(table, block.halves(), got):
                return fault
            if refused.code == 3 and all(got[table.name, span].words for span in block.spans):
                at_once = max(half.count for half in block.halves())
                self.most[table.name] = min(self.most[table.name], at_once)
            return None
        self.known[table.name].add(block.first, block.count)
        for span in block.spans:
            at = span.first - block.first
            got[table.name, span] = Got(tuple(values[at : at + span.size]))
        return None

    async def _blocks(self, table: Table, some: Iterable[Block], got: dict[tuple[str, Span], Got]) -> LinkFault | None:
        for block in some:
            if fault := await self._block(table, block, got):
                return fault
        return None

    def _may_halve(self, refused: Refused, block: Block) -> bool:
        """Whether a part of the block may read, and there is time to look."""
        if refused.code not in (2, 3, 4) or len(block.spans) == 1:
            return False
        self._halve_until = self._halve_until or time.monotonic() + HALVING_S
        return time.monotonic() < self._halve_until

    def _refused(self, refused: Refused, block: Block) -> Got:
        name = faults.exception_name(refused.code)
        if len(block.spans) == 1 or refused.code not in (2, 3, 4):
            return Got(why=name, advice=str(refused))
        last = block.first + block.count - 1
        return Got(
            why=f"not decided: {name} within {block.first}-{last}",
            advice=f"The device is slow: looking for what does not read was ended after {HALVING_S:g} s. Ask for less.",
        )


@lru_cache(512)
def elements_of(point: Point) -> tuple[Element, ...]:
    """The values of a point; of both readings of a document number. Raises ToolFault for what has no meaning."""
    place = grammar.place(point)
    if place.other is None:
        return tuple(_elements(point, place, ""))
    kind = place.table.name
    other = replace(place, first=place.other, other=None, number="")
    notes = (
        f"{place.number} read as a document number: {kind} {place.first}",
        f"{place.number} read as a plain number counted from 1: {kind} {place.other}; a document that gives wire "
        f"addresses means '{kind} {place.other + 1}'",
    )
    both = (_elements(point, place, notes[0]), _elements(point, other, notes[1]))
    return tuple(element for some in both for element in some)


def _elements(point: Point, place: Place, note: str) -> list[Element]:
    form = point.form
    size = grammar.registers_each(place, form)
    bit = "" if place.bit is None else f" bit {place.bit}"
    made: list[Element] = []
    for first in grammar.elements_of(place, form):
        is_text = form.type == "string"
        name = f"{place.table.name} {first}-{place.last}" if is_text else f"{place.table.name} {first}{bit}"
        at = Point(name, form, point.name)
        span = Span(first, size)
        key = (place.table.name, span)
        said = (note,) if note and not made else ()
        made.append(Element(place.table, span, at, key, place.table.place(first, size), place.bit, said))
    return made


def _reading(element: Element, got: Got, hints: Mapping[tuple[str, int], tuple[str, ...]]) -> Reading:
    place, note = element.where, element.note
    if got.why:
        return Reading(element.point, None, got.why, where=place, more=note)
    form = element.point.form
    if element.table.is_bits:
        return Reading(element.point, bool(got.words[0]), raw=str(got.words[0]), where=place, more=note)
    raw = " ".join(f"{word:04X}" for word in got.words)
    if element.bit is not None:
        return Reading(element.point, bool(got.words[0] >> element.bit & 1), raw=raw, where=place, more=note)
    if not form.type:
        more = (*note, *hints.get((element.table.name, element.span.first), ()))
        return Reading(element.point, form.engineering(got.words[0]), raw=raw, where=place, more=more)
    return _typed(element, got.words, raw)


def _typed(element: Element, words: Sequence[int], raw: str) -> Reading:
    form, place, note = element.point.form, element.where, element.note
    value = decoded(words, form.type, form.order)
    if value is None:
        return Reading(element.point, None, f"no {form.type}: a digit is over 9", raw, place, more=note)
    if isinstance(value, float) and value != value:  # noqa: PLR0124
        return Reading(element.point, None, "NaN: the device has no value here", raw, place, more=note)
    more = (*note, *number_hints(words, form))
    if form.type == "bitmask":
        bits = ", ".join(str(n) for n in range(16) if words[0] >> n & 1)
        more = (*more, f"bits set: {bits or 'none'}")
    return Reading(element.point, form.engineering(told(value, form.type)), GOOD, raw, place, more=more)
