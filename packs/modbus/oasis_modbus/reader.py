"""Reads points of one unit: in blocks, past addresses that do not exist, each value from one request."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from oasis.plant.values import GOOD, Point, Reading
from oasis_modbus import grammar
from oasis_modbus.blocks import Block, Known, Span, blocks
from oasis_modbus.codec import decoded
from oasis_modbus.endpoint import Endpoint
from oasis_modbus.faults import LinkFault
from oasis_modbus.grammar import Place
from oasis_modbus.hints import number_hints, run_hints
from oasis_modbus.tables import TABLES, Table
from oasis_modbus.units import BUSY, Refused, Unit


@dataclass(frozen=True, slots=True)
class Element:
    """One value to read. `note` is a further line of its reading."""

    table: Table
    span: Span
    point: Point
    bit: int | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Got:
    """What became of one value's registers: words, or why not."""

    words: tuple[int, ...] = ()
    why: str = ""


class Reader:
    """Reads one unit, and remembers which addresses read and how much the device gives at once."""

    def __init__(self, endpoint: Endpoint, unit: Unit) -> None:
        self._endpoint = endpoint
        self.unit = unit
        self.known = {name: Known() for name in TABLES}
        self._most = {name: table.most for name, table in TABLES.items()}

    async def read(self, points: Sequence[Point]) -> list[Reading]:
        """The readings in order. Raises ToolFault where nothing at all could be read for a fault of the wire."""
        elements = [element for point in points for element in elements_of(point)]
        got = await self.fetch([(e.table, e.span) for e in elements])
        hints = _hints(elements, got)
        return [_reading(e, got[e.table.name, e.span], hints) for e in elements]

    async def fetch(self, wanted: Sequence[tuple[Table, Span]]) -> dict[tuple[str, Span], Got]:
        """The words of each span. A fault of the wire ends it: what was not read says so; raised if nothing was."""
        spans: defaultdict[str, list[Span]] = defaultdict(list)
        for table, span in wanted:
            spans[table.name].append(span)
        got: dict[tuple[str, Span], Got] = {}
        fault: LinkFault | None = None
        for name, some in spans.items():
            for block in blocks(some, self._most[name], self.known[name]):
                if fault is None:
                    fault = await self._block(TABLES[name], block, got)
                for span in block.spans:
                    got.setdefault((name, span), Got(why=f"not read: {fault}"))
        if fault and not any(g.words for g in got.values()):
            raise fault
        return got

    async def _block(self, table: Table, block: Block, got: dict[tuple[str, Span], Got]) -> LinkFault | None:
        """Read one block into `got`. In halves where an address in it does not exist, or it is too much at once."""
        try:
            values = await self.unit.values(table, block.first, block.count)
        except LinkFault as fault:
            return fault
        except Refused as refused:
            if refused.code in BUSY or refused.code not in (2, 3, 4) or len(block.spans) == 1:
                got.update({(table.name, span): Got(why=str(refused)) for span in block.spans})
                return None
            for half in block.halves():
                if fault := await self._block(table, half, got):
                    return fault
            if refused.code == 3 and all(got[table.name, span].words for span in block.spans):
                at_once = max(half.count for half in block.halves())
                self._most[table.name] = min(self._most[table.name], at_once)
            return None
        self.known[table.name].add(block.first, block.count)
        for span in block.spans:
            at = span.first - block.first
            got[table.name, span] = Got(tuple(values[at : at + span.count]))
        return None


def elements_of(point: Point) -> list[Element]:
    """The values of a point; of both readings of a document number. Raises ToolFault for what has no meaning."""
    place = grammar.place(point)
    first = _elements(point, place, "")
    if place.other is None:
        return first
    kind = place.table.name
    other = replace(place, first=place.other, other=None, number="")
    notes = (
        f"{place.number} read as a document number: {kind} {place.first}",
        f"{place.number} read as a plain number counted from 1: {kind} {place.other}; a document that gives wire "
        f"addresses means '{kind} {place.other + 1}'",
    )
    both = (_elements(point, place, notes[0]), _elements(point, other, notes[1]))
    return [element for some in both for element in some]


def _elements(point: Point, place: Place, note: str) -> list[Element]:
    form = point.form
    size = grammar.registers_each(place, form)
    bit = "" if place.bit is None else f" bit {place.bit}"
    made: list[Element] = []
    for first in grammar.elements_of(place, form):
        is_text = form.type == "string"
        name = f"{place.table.name} {first}-{place.last}" if is_text else f"{place.table.name} {first}{bit}"
        at = Point(name, form, point.name)
        made.append(Element(place.table, Span(first, size), at, place.bit, note if not made else ""))
    return made


def _hints(elements: Sequence[Element], got: Mapping[tuple[str, Span], Got]) -> dict[tuple[str, int], tuple[str, ...]]:
    """Guesses for the registers that were asked for without a type, by table and address."""
    untyped: defaultdict[str, dict[int, int]] = defaultdict(dict)
    for element in elements:
        words = got[element.table.name, element.span].words
        if words and not element.table.is_bits and element.bit is None and not element.point.form.type:
            untyped[element.table.name][element.span.first] = words[0]
    return {(name, at): lines for name, words in untyped.items() for at, lines in run_hints(words).items()}


def _reading(element: Element, got: Got, hints: Mapping[tuple[str, int], tuple[str, ...]]) -> Reading:
    place = element.table.place(element.span.first, element.span.count)
    note = (element.note,) if element.note else ()
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
    return _typed(element, got.words, raw, place, note)


def _typed(element: Element, words: Sequence[int], raw: str, place: str, note: tuple[str, ...]) -> Reading:
    form = element.point.form
    value = decoded(words, form.type, form.order)
    if value is None:
        return Reading(element.point, None, f"no {form.type}: a digit is over 9", raw, place, more=note)
    if isinstance(value, float) and value != value:  # noqa: PLR0124
        return Reading(element.point, None, "NaN: the device has no value here", raw, place, more=note)
    more = (*note, *number_hints(words, form))
    if form.type == "bitmask":
        bits = ", ".join(str(n) for n in range(16) if words[0] >> n & 1)
        more = (*more, f"bits set: {bits or 'none'}")
    return Reading(element.point, form.engineering(value), GOOD, raw, place, more=more)
