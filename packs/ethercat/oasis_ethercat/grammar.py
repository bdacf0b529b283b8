"""Item texts: what they name, and how they are written.

2 0x6041:0 uint16      an object of slave 2 by SDO; `:0` and the type may be left out
2 0x1018:all           all its subindexes
2 state                the AL state of slave 2
2 in, 2 out            its process data; `2 in 0x6041:0` one entry of them
in, out                the process data of all slaves
bus state              the state of all slaves together
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from oasis.errors import ToolFault
from oasis.plant.limits import plain_type
from oasis.plant.values import Form, Point, spelled
from oasis_ethercat.coe_types import BY_NAME, DataType

HELP = 'Items: "2 0x6041:0 uint16", "2 state", "2 in", "2 out 0x7000:1", "in", "out", "bus state".'


class Kind(StrEnum):
    """What an item names."""

    OBJECT = "object"
    STATE = "state"
    INPUT = "in"
    OUTPUT = "out"
    BUS = "bus state"
    INIT = "bus init"


@dataclass(frozen=True, slots=True)
class Target:
    """A place in a segment. Slave 0 stands for all, index 0 for all entries; `is_whole` for all subindexes."""

    kind: Kind
    slave: int = 0
    index: int = 0
    subindex: int = 0
    is_whole: bool = False

    @property
    def address(self) -> str:
        """The canonical text."""
        if self.kind in {Kind.BUS, Kind.INIT}:
            return self.kind.value
        slave = [str(self.slave)] if self.slave else []
        place = [f"0x{self.index:04X}:{'all' if self.is_whole else self.subindex}"] if self.index else []
        word = [] if self.kind is Kind.OBJECT else [self.kind.value]
        return " ".join([*slave, *word, *place])


_SLAVE = r"(?:slave\s+)?(?P<slave>\d{1,5})"
_OBJECT = r"(?P<index>(?:0x)?[0-9a-f]{4})(?::(?P<subindex>0x[0-9a-f]{1,2}|\d{1,3}))?"
_WHOLE = r"(?P<index>(?:0x)?[0-9a-f]{4}):(?P<whole>all)"
_TYPE = r"(?:\s+(?P<type>[a-z]\w*))?"
_FORMS: tuple[tuple[re.Pattern[str], Kind | None], ...] = (
    (re.compile(r"bus\s+state"), Kind.BUS),
    (re.compile(r"bus\s+init"), Kind.INIT),
    (re.compile(rf"{_SLAVE}\s+state"), Kind.STATE),
    (re.compile(rf"(?:{_SLAVE}\s+)?(?P<way>in|out)(?:puts?)?(?:\s+{_OBJECT}{_TYPE})?"), None),
    (re.compile(rf"{_SLAVE}\s+(?:sdo\s+)?{_OBJECT}{_TYPE}"), Kind.OBJECT),
    (re.compile(rf"{_SLAVE}\s+(?:sdo\s+)?{_WHOLE}"), Kind.OBJECT),
)
_STATE_FORM = Form("string")


def point(text: str) -> Point:
    """The point that an item's text means. Raises ToolFault for one that means none."""
    wanted = " ".join(text.strip().lower().split())
    for form, kind in _FORMS:
        if found := form.fullmatch(wanted):
            return _made(found.groupdict(), kind, text)
    raise ToolFault(f"{spelled(text[:80])} is no EtherCAT item. {HELP}")


def _made(parts: dict[str, str | None], kind: Kind | None, text: str) -> Point:
    place = _target(parts, kind)
    if parts.get("index") and not place.index:
        raise ToolFault(f"{spelled(text[:80])}: index 0 is padding and holds nothing. {HELP}")
    if parts.get("slave") and not 1 <= place.slave <= 65535:
        raise ToolFault(f"{spelled(text[:80])}: slaves are counted from 1.")
    if place.subindex > 255:
        raise ToolFault(f"{spelled(text[:80])}: a subindex is 0 to 255.")
    if place.kind in {Kind.BUS, Kind.STATE}:
        return Point(place.address, _STATE_FORM)
    if place.kind is Kind.INIT:
        return Point(place.address, Form("bool"))
    return Point(place.address, Form(_type_name(parts.get("type"))))


def _target(parts: dict[str, str | None], kind: Kind | None) -> Target:
    """The place that the parts of a text name; without a kind it is the way of process data."""
    return Target(
        kind or Kind(str(parts["way"])),
        int(parts.get("slave") or 0),
        int(parts.get("index") or "0", 16),
        int(parts.get("subindex") or "0", 0),
        bool(parts.get("whole")),
    )


def _type_name(word: str | None) -> str:
    if not word:
        return ""
    plain = {"real": "float32", "real32": "float32", "lreal": "float64", "sint": "int8", "int": "int16"}.get(word, word)
    plain = {"dint": "int32", "usint": "uint8", "uint": "uint16", "udint": "uint32"}.get(plain, plain_type(plain))
    if plain not in BY_NAME:
        raise ToolFault(f"There is no type {spelled(word[:40])}. There are: {', '.join(BY_NAME)}.")
    return plain


def target(of: Point) -> Target:
    """The place that a point made here names. Raises ToolFault for one that was not."""
    return _place(of.address)


@lru_cache(maxsize=4096)
def _place(address: str) -> Target:
    for form, kind in _FORMS:
        if found := form.fullmatch(address.lower()):
            return _target(found.groupdict(), kind)
    raise ToolFault(f"{spelled(address[:80])} is no EtherCAT address. {HELP}")


def data_type(of: Point) -> DataType | None:
    """The CoE type that a point is to be read as, None where the text does not say."""
    return BY_NAME.get(plain_type(of.form.type)) if of.form.type else None
