"""What an item's text means: `holding 100 float32 CDAB x0.1 +5 °C`."""

import difflib
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from oasis.errors import ToolFault
from oasis.plant.values import Form, Point
from oasis_modbus.codec import ORDERS, TYPES
from oasis_modbus.tables import LAST, TABLES, Table, numbered

FORMS = (
    "Write: holding 0-9 | input 3 | coil 5 | discrete 0-15 | holding 100 float32 CDAB x0.1 +5 °C "
    "(type, order, scale, offset, unit) | holding 5 bit 3 | holding 10-25 string | 40001 (document number). "
    f"Types: {', '.join(TYPES)}. Orders: {', '.join(ORDERS)}. Addresses are wire addresses, from 0."
)
MOST_VALUES = 4_000
_TABLE_WORDS = {
    "holding": "holding", "hold": "holding", "hr": "holding", "input": "input", "inputs": "input", "ir": "input",
    "coil": "coil", "coils": "coil", "co": "coil", "discrete": "discrete", "di": "discrete", "discretes": "discrete",
}  # fmt: skip
_FILLERS = ("register", "registers", "reg", "regs")
_TYPE_WORDS = {
    "u16": "uint16", "i16": "int16", "s16": "int16", "u32": "uint32", "i32": "int32", "s32": "int32",
    "u64": "uint64", "i64": "int64", "s64": "int64", "f32": "float32", "f64": "float64", "float": "float32",
    "real": "float32", "double": "float64", "bcd": "bcd16", "str": "string", "word": "uint16", "dword": "uint32",
}  # fmt: skip
_NUMBER = r"[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?"
_NEARLY_SCALE = re.compile(r"[x*×][\d.,+-]|[x*×](nan|inf)|.*=", re.IGNORECASE)
"""Words that are meant as a number and would be taken for a unit: a decimal comma, a key, no number at all."""


@dataclass(frozen=True, slots=True)
class Place:
    """A canonical address taken apart. `count` is in registers or bits; `is_range` when the text gave a last one.

    `other` is the second reading of a document number (wire address in the same table).
    """

    table: Table
    first: int
    count: int = 1
    is_range: bool = False
    bit: int | None = None
    other: int | None = None
    number: str = field(default="")

    @property
    def last(self) -> int:
        return self.first + self.count - 1


def point(text: str) -> Point:
    """The point that a text means, canonical. Raises ToolFault, with the right form, for what has no meaning."""
    words = re.sub(r"^([A-Za-z]+)\s*[:\[]?\s*(?=[0-9])", r"\1 ", text.strip()).replace("]", " ", 1).split()
    if not words:
        raise ToolFault(f"The item is empty. {FORMS}")
    place, rest = _address(text, words)
    form, place = _form(text, rest, place)
    made = Point(_canonical(place), form)
    elements_of(place, form)
    return made


def is_table(word: str) -> bool:
    """Whether the word alone names a table."""
    return word.strip().lower() in _TABLE_WORDS


def place(of: Point) -> Place:
    """The place of a point that may have been made elsewhere (a site file). Raises ToolFault."""
    words = of.address.split()
    found, rest = _address(of.address, words)
    if rest[:1] == ["bit"]:
        _, found = _form(of.address, rest, found)
    return found


def registers_each(found: Place, form: Form) -> int:
    """Registers (or bits) that one value takes."""
    if found.table.is_bits or found.bit is not None or not form.type:
        return 1
    return found.count if form.type == "string" else TYPES[form.type].registers


def elements_of(found: Place, form: Form) -> list[int]:
    """The wire address of each value. Raises ToolFault where type and range do not go together."""
    kind, table = form.type, found.table
    if kind and kind not in TYPES:
        raise ToolFault(f"{kind[:30]!r} is no type. {_near(kind, TYPES)}{FORMS}")
    if form.order and form.order not in ORDERS:
        raise ToolFault(f"{form.order[:30]!r} is no order of bytes; orders are {', '.join(ORDERS)}.")
    if table.is_bits and kind not in ("", "bool"):
        raise ToolFault(f"{table.words.capitalize()} are bits: they have no type {kind}. Write '{table.name} 5'.")
    if kind == "bool" and not table.is_bits and found.bit is None:
        raise ToolFault(f"A bool in a register is one bit of it: write '{table.name} {found.first} bit 3'.")
    if kind == "string" and not found.is_range:
        raise ToolFault(f"A string needs its length: write '{table.name} {found.first}-{found.first + 15} string'.")
    if kind == "string" and found.count > table.most:
        raise ToolFault(f"A string of {found.count} registers is over the {table.most} of one request; read parts.")
    size = registers_each(found, form)
    if not found.is_range and found.first + size - 1 > LAST:
        raise ToolFault(f"A {kind} at {found.first} goes over the last address, {LAST}.")
    if found.is_range and found.count % size:
        raise ToolFault(
            f"A {kind} takes {size} registers, and {found.first}-{found.last} are {found.count}, no multiple of it."
        )
    count = found.count if found.is_range else size
    if count // size > MOST_VALUES:
        raise ToolFault(f"{count // size:,} values are more than {MOST_VALUES:,} in one item; read it in parts.")
    return list(range(found.first, found.first + count, size))


def _address(text: str, words: list[str]) -> tuple[Place, list[str]]:
    first = words[0].lower()
    if match := re.fullmatch(r"(?!0x)([0134])x?([0-9]{4,5})(?:-([0134])?x?([0-9]{4,5}))?", first):
        return _numbered(text, match), words[1:]
    if first not in _TABLE_WORDS:
        known = _near(first, _TABLE_WORDS)
        raise ToolFault(f"{text[:60]!r} names no table. {known}{FORMS}")
    rest = words[1:]
    while (rest and rest[0].lower() in _FILLERS) or (first.startswith("d") and rest[:1] in (["input"], ["inputs"])):
        rest = rest[1:]
    match = (
        re.fullmatch(r"(0x[0-9a-f]{1,6}|[0-9]{1,6})(?:-(0x[0-9a-f]{1,6}|[0-9]{1,6}))?", rest[0].lower())
        if rest
        else None
    )
    if not match:
        raise ToolFault(f"{text[:60]!r} gives no address after the table. {FORMS}")
    return _wire(TABLES[_TABLE_WORDS[first]], match[1], match[2]), rest[1:]


def _wire(table: Table, low: str, high: str | None) -> Place:
    first = int(low, 0) if low.startswith("0x") else int(low)
    last = first if high is None else int(high, 0) if high.startswith("0x") else int(high)
    if first > LAST or last > LAST:
        hint = numbered(low)
        meant = f" As a document number, {low} is '{hint.table.name} {hint.wire}'." if hint else ""
        raise ToolFault(f"{max(first, last)} is over {LAST}, the last wire address.{meant}")
    if last < first:
        raise ToolFault(f"The range {first}-{last} ends before it begins.")
    return Place(table, first, last - first + 1, high is not None)


def _numbered(text: str, match: "re.Match[str]") -> Place:
    is_certain = "x" in match[0]
    low = numbered(match[1] + match[2])
    if not low:
        raise ToolFault(f"{text[:60]!r} is no document number: those count from 1. {FORMS}")
    other = None if is_certain else low.other
    if match[4] is None:
        return Place(low.table, low.wire, other=other, number=match[1] + match[2])
    high = numbered((match[3] or match[1]) + match[4])
    if not high or high.table is not low.table or high.wire < low.wire:
        raise ToolFault(f"{text[:60]!r} is no range of one table. {FORMS}")
    number = f"{match[1]}{match[2]}-{match[3] or match[1]}{match[4]}"
    return Place(low.table, low.wire, high.wire - low.wire + 1, True, None, other, number)


def _canonical(found: Place) -> str:
    if found.other is not None:
        text = found.number
    else:
        text = f"{found.table.name} {found.first}" + (f"-{found.last}" if found.is_range else "")
    return text if found.bit is None else f"{text} bit {found.bit}"


def _form(text: str, rest: list[str], found: Place) -> tuple[Form, Place]:
    """Type, order, scale, offset and unit, each at most once, in any order but the unit, which is last."""
    said: dict[str, str] = {}
    bit: int | None = None
    words = list(rest)
    while words:
        word = words.pop(0)
        key, value = _meaning(text, word, is_last=not words)
        if key == "bit":
            bit = _bit(text, words.pop(0) if words else "", found)
            key, value = "type", "bool"
        if key in said:
            raise ToolFault(f"{text[:60]!r} gives its {key} twice. {FORMS}")
        said[key] = value
    kind = said.get("type", "bool" if found.table.is_bits else "")
    scale, offset = float(said.get("scale", 1)), float(said.get("offset", 0))
    if scale == 0 or not math.isfinite(scale) or not math.isfinite(offset):
        raise ToolFault(f"{text[:60]!r}: a scale is not 0, and scale and offset are finite. {FORMS}")
    if (scale, offset) != (1, 0) and kind in ("string", "bool", "bitmask"):
        raise ToolFault(f"{text[:60]!r}: a {kind} is not scaled. {FORMS}")
    placed = found if bit is None else Place(found.table, found.first, bit=bit, other=found.other, number=found.number)
    return Form(kind, said.get("order", ""), scale, offset, said.get("unit", "")), placed


def _meaning(text: str, word: str, is_last: bool) -> tuple[str, str]:
    low = word.lower()
    if low == "bit":
        return "bit", ""
    if kind := _TYPE_WORDS.get(low, low if low in TYPES else ""):
        return "type", kind
    if low.upper() in ORDERS:
        return "order", low.upper()
    if match := re.fullmatch(rf"[x*×](-?{_NUMBER})", low):
        return "scale", match[1]
    if re.fullmatch(rf"[+-]{_NUMBER}", low):
        return "offset", low
    if is_last and _is_unit(word):
        return "unit", word
    if _NEARLY_SCALE.match(word):
        raise ToolFault(
            f"{word[:30]!r} in {text[:60]!r} is no scale, offset or unit. A scale is x and a number with a decimal "
            f"point, such as x0.1. {FORMS}"
        )
    known = (*TYPES, *ORDERS)
    raise ToolFault(f"{word[:30]!r} in {text[:60]!r} has no meaning. {_near(word, known)}{FORMS}")


def _is_unit(word: str) -> bool:
    """A unit begins with no digit or sign, is short, and does not look like a mistyped scale, type or order."""
    if _NEARLY_SCALE.match(word) or len(word) > 12 or not re.match(r"[^\W\d]|[%°‰Ωµ]", word) or not word.isprintable():
        return False
    looks = difflib.get_close_matches(word.lower(), TYPES, 1, 0.7) or sorted(word.upper()) == ["A", "B", "C", "D"]
    return not looks


def _bit(text: str, word: str, found: Place) -> int:
    if found.table.is_bits or found.is_range:
        raise ToolFault(f"{text[:60]!r}: 'bit N' is for one register, such as 'holding 5 bit 3'.")
    if not (word.isascii() and word.isdigit() and len(word) <= 2 and int(word) <= 15):
        raise ToolFault(f"{text[:60]!r}: a register has bits 0 (least significant) to 15. Write 'holding 5 bit 3'.")
    return int(word)


def _near(word: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(word.lower(), list(known), 1, 0.6)
    return f"Did you mean {near[0]}? " if near else ""
