"""A unit's register map: cells in four tables, with gaps between them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from oasis_modbus.simulator.words import from_words, to_words

ILLEGAL_ADDRESS = 0x02
ILLEGAL_VALUE = 0x03
BIT_TABLES = ("coil", "discrete")


@dataclass(frozen=True, slots=True)
class Cell:
    """One value of a process, `name` being its attribute: value = raw * scale. `length` in registers is for texts.

    `low` and `high` are what the device takes when it is written, in the value's unit. The rest is for the sample site
    file: an empty `tag` is not in it, and what has a `step`, the most that one write may change it, may be written.
    """

    table: str
    address: int
    name: str
    type: str = "uint16"
    scale: float = 1.0
    order: str = "ABCD"
    length: int = 0
    is_writable: bool = False
    low: float = float("-inf")
    high: float = float("inf")
    tag: str = ""
    unit: str = ""
    step: float = 0.0
    safe: float | bool | None = None
    is_unattended: bool = False

    @property
    def registers(self) -> int:
        return self.length or (2 if self.type.endswith("32") else 1)


class Refused(Exception):
    """The device answers with this exception code."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class Map:
    """The cells of one process as a device's tables. `instead` may give another value to show for a name."""

    def __init__(
        self, process: Any, cells: tuple[Cell, ...], instead: Callable[[str], str | None] = lambda _: None
    ) -> None:
        self.cells = cells
        self._process = process
        self._instead = instead
        self._at = {
            (cell.table, cell.address + offset): (cell, offset) for cell in cells for offset in range(cell.registers)
        }

    def read(self, table: str, address: int, count: int) -> list[int]:
        """Registers, or bits as 0 and 1. Raises Refused where a gap is among them."""
        shown: list[int] = []
        last: Cell | None = None
        words: list[int] = []
        for cell, offset in self._cells(table, address, count):
            if cell is not last:
                last, words = cell, self._words(cell)
            shown.append(words[offset])
        return shown

    def write(self, table: str, address: int, words: list[int]) -> None:
        """Write all of them, or none. Raises Refused."""
        written: dict[Cell, list[int]] = {}
        for word, (cell, offset) in zip(words, self._cells(table, address, len(words)), strict=True):
            if not cell.is_writable:
                raise Refused(ILLEGAL_ADDRESS)
            written.setdefault(cell, self._words(cell))[offset] = word
        values = {cell: self._value(cell, new) for cell, new in written.items()}
        for cell, value in values.items():
            setattr(self._process, cell.name, value)

    def _cells(self, table: str, address: int, count: int) -> list[tuple[Cell, int]]:
        found = [self._at.get((table, at)) for at in range(address, address + count)]
        if None in found:
            raise Refused(ILLEGAL_ADDRESS)
        return [cell for cell in found if cell is not None]

    def _words(self, cell: Cell) -> list[int]:
        value = self._instead(cell.name) or getattr(self._process, cell.name)
        if cell.table in BIT_TABLES:
            return [int(bool(value))]
        return to_words(value if isinstance(value, str) else value / cell.scale, cell.type, cell.order, cell.length)

    @staticmethod
    def _value(cell: Cell, words: list[int]) -> bool | float | str:
        if cell.table in BIT_TABLES:
            return bool(words[0])
        raw = from_words(words, cell.type, cell.order)
        if isinstance(raw, str):
            return raw
        value = float(f"{raw * cell.scale:.9g}")
        if not cell.low <= value <= cell.high:
            raise Refused(ILLEGAL_VALUE)
        return value
