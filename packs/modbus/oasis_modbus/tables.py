"""The four tables of a Modbus device, and how documents number what is in them."""

import re
from dataclasses import dataclass

MOST_REGISTERS = 125
MOST_BITS = 2000
LAST = 65_535


@dataclass(frozen=True, slots=True)
class Table:
    """A kind of data in a device. `most` is how many one request may ask for; `digit` begins its document numbers."""

    name: str
    function: int
    words: str
    most: int
    digit: int
    is_bits: bool

    def number(self, wire: int) -> str:
        """The document number of a wire address: 40003 for holding 2, six digits from wire 9999 on."""
        digits = 4 if wire < 9_999 else 5
        return f"{self.digit}{wire + 1:0{digits}d}"

    def counted(self, count: int) -> str:
        """`1 holding register`, `3 coils`."""
        return f"{count} {self.words if count != 1 else self.words[:-1]}"

    def place(self, wire: int, count: int = 1) -> str:
        """Function, wire address and document number: `FC03 wire 2, 40003`."""
        if count == 1:
            return f"FC{self.function:02d} wire {wire}, {self.number(wire)}"
        last = wire + count - 1
        return f"FC{self.function:02d} wire {wire}-{last}, {self.number(wire)}-{self.number(last)}"


# Modbus Application Protocol V1.1b3, 4.3 and 6.1 to 6.4.
TABLES = {
    "coil": Table("coil", 1, "coils", MOST_BITS, 0, True),
    "discrete": Table("discrete", 2, "discrete inputs", MOST_BITS, 1, True),
    "holding": Table("holding", 3, "holding registers", MOST_REGISTERS, 4, False),
    "input": Table("input", 4, "input registers", MOST_REGISTERS, 3, False),
}
_BY_DIGIT = {table.digit: table for table in TABLES.values()}


@dataclass(frozen=True, slots=True)
class Numbered:
    """What a document number can mean. `other` is the second reading's wire address, None where there is none."""

    table: Table
    wire: int
    other: int | None = None


def numbered(text: str) -> Numbered | None:
    """The readings of a document number; None for what is none.

    Five digits (40001) count from 1 behind a digit for the table, or are the plain number of a register counted from
    1, thus wire 40000. Six digits (400001) and a leading 0 (coils) have one reading.
    """
    if not re.fullmatch(r"[0134][0-9]{4,5}", text):
        return None
    table, rest = _BY_DIGIT[int(text[0])], int(text[1:])
    if not 1 <= rest <= LAST + 1:
        return None
    is_plain = len(text) == 5 and table.digit
    return Numbered(table, rest - 1, int(text) - 1 if is_plain else None)
