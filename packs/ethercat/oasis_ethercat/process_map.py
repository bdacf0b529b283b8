"""Which object is which bit of a slave's process data.

Source: ETG.1000.6, PDO mapping: a mapping entry is index (16 bits), subindex (8), length in bits (8).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from oasis_ethercat.coe_types import BOOL, BY_NUMBER, BYTES, INT8, INT16, INT32, UINT8, UINT16, UINT32, UINT64, DataType
from oasis_ethercat.sii import Contents, Entry, Pdo

SYNC_MANAGER_TYPES, FIRST_ASSIGN = 0x1C00, 0x1C10
MOST_MANAGERS = 8
_OUTPUTS, _INPUTS = 3, 4
_BY_BITS = {1: BOOL, 8: UINT8, 16: UINT16, 32: UINT32, 64: UINT64}
_KNOWN = {
    0x603F: UINT16,
    0x6040: UINT16,
    0x6041: UINT16,
    0x6060: INT8,
    0x6061: INT8,
    0x607A: INT32,
    0x60FF: INT32,
    0x6064: INT32,
    0x606C: INT32,
    0x6071: INT16,
    0x6077: INT16,
}
"""Objects of CiA 402."""

ReadRecord = Callable[[int], list[bytes]]
"""The subindexes of an object from 1 on; none where there is no such object."""


@dataclass(frozen=True, slots=True)
class Place:
    """An entry in a slave's process data: `at` counts bits from the start of the slave's bytes."""

    index: int
    subindex: int
    name: str
    kind: DataType
    bits: int
    at: int
    pdo: int
    is_guessed: bool = False
    """Nobody said the type: it is taken by its length."""

    @property
    def address(self) -> str:
        return f"0x{self.index:04X}:{self.subindex}"

    def take(self, data: bytes) -> bytes:
        """The entry's bytes out of the slave's."""
        number = int.from_bytes(data, "little") >> self.at & (1 << self.bits) - 1
        return number.to_bytes((self.bits + 7) // 8, "little")

    def put(self, data: bytes, value: bytes) -> bytes:
        """The slave's bytes with the entry's in them."""
        mask = (1 << self.bits) - 1
        number = int.from_bytes(data, "little") & ~(mask << self.at)
        number |= (int.from_bytes(value, "little") & mask) << self.at
        return number.to_bytes(len(data), "little")


@dataclass(frozen=True, slots=True)
class ProcessMap:
    """A slave's outputs and inputs, padding left out. `source` says where the map was read: CoE or SII."""

    outputs: tuple[Place, ...]
    inputs: tuple[Place, ...]
    output_bits: int
    input_bits: int
    source: str


def is_mapping(index: int) -> bool:
    """Does an object choose what is mapped: PDO mapping and assignment?"""
    return 0x1600 <= index < 0x1800 or 0x1A00 <= index < 0x1C00 or FIRST_ASSIGN <= index < FIRST_ASSIGN + 0x20


def explained(index: int, subindex: int, value: object) -> str:
    """What a subindex of PDO mapping or assignment says; empty for other objects."""
    if not is_mapping(index) or not subindex or not isinstance(value, int) or isinstance(value, bool):
        return ""
    if index >= FIRST_ASSIGN:
        return f"assigns PDO 0x{value:04X}" if value else "assigns nothing"
    if not value >> 16:
        return f"{value & 0xFF} bits of padding"
    return f"maps 0x{value >> 16:04X}:{value >> 8 & 0xFF}, {value & 0xFF} bits"


def value_bytes(index: int) -> int:
    """How long each subindex of a mapping object is: types of sync managers, assigned PDOs, mapped objects."""
    if index == SYNC_MANAGER_TYPES:
        return 1
    return 2 if FIRST_ASSIGN <= index < FIRST_ASSIGN + 0x20 else 4


def from_sii(contents: Contents) -> ProcessMap:
    """The map as the SII has it: the PDOs that are assigned to a sync manager."""
    receive = [pdo for pdo in contents.receive if pdo.sync_manager < MOST_MANAGERS]
    transmit = [pdo for pdo in contents.transmit if pdo.sync_manager < MOST_MANAGERS]
    return _mapped(receive, transmit, "SII")


def from_objects(contents: Contents, record: ReadRecord) -> ProcessMap:
    """The map as objects 0x1C00, 0x1C12, 0x1C13 and their like have it now; names and types from the SII.

    It is read as SOEM reads it, which configures the slave: without process data by CoE it is the SII's.
    """
    known = {(e.index, e.subindex): e for pdo in (*contents.receive, *contents.transmit) for e in pdo.entries}
    names = {pdo.index: pdo.name for pdo in (*contents.receive, *contents.transmit)}
    found: dict[int, list[Pdo]] = {_OUTPUTS: [], _INPUTS: []}
    for manager, use in _uses(record):
        found[use] += _assigned(FIRST_ASSIGN + manager, record, known, names)
    mapped = _mapped(found[_OUTPUTS], found[_INPUTS], "CoE")
    return mapped if mapped.output_bits or mapped.input_bits else from_sii(contents)


def _uses(record: ReadRecord) -> Iterator[tuple[int, int]]:
    """Sync managers of process data and whether they are for outputs or inputs.

    Some slaves count the types from 0, some leave those of managers 2 and 3 at 0: what they must be is assumed.
    """
    kinds = [int.from_bytes(value, "little") for value in record(SYNC_MANAGER_TYPES)][:MOST_MANAGERS]
    shift = int(len(kinds) > 2 and kinds[2] == 2)
    for manager, kind in enumerate(kinds[2:], 2):
        use = kind + shift if kind else {2: _OUTPUTS, 3: _INPUTS}.get(manager, 0)
        if use in {_OUTPUTS, _INPUTS}:
            yield manager, use


def _assigned(
    assign: int, record: ReadRecord, known: dict[tuple[int, int], Entry], names: dict[int, str]
) -> Iterator[Pdo]:
    for value in record(assign):
        pdo = int.from_bytes(value[:2], "little")
        entries: list[Entry] = []
        for row in record(pdo) if pdo else []:
            word = int.from_bytes(row[:4], "little")
            index, subindex, bits = word >> 16, word >> 8 & 0xFF, word & 0xFF
            has = known.get((index, subindex))
            entries.append(Entry(index, subindex, has.name if has else "", has.type_number if has else 0, bits))
        if pdo:
            yield Pdo(pdo, names.get(pdo, ""), 0, tuple(entries))


def _mapped(receive: Sequence[Pdo], transmit: Sequence[Pdo], source: str) -> ProcessMap:
    out, into = tuple(_places(receive)), tuple(_places(transmit))
    return ProcessMap(out, into, sum(pdo.bits for pdo in receive), sum(pdo.bits for pdo in transmit), source)


def _places(pdos: Sequence[Pdo]) -> Iterator[Place]:
    at = 0
    for pdo in pdos:
        for entry in pdo.entries:
            if entry.index:
                kind = kind_of(entry)
                is_guessed = kind is None and entry.bits >= 8
                kind = kind or _BY_BITS.get(entry.bits) or (UINT8 if entry.bits < 8 else BYTES)
                yield Place(entry.index, entry.subindex, entry.name, kind, entry.bits, at, pdo.index, is_guessed)
            at += entry.bits


def kind_of(entry: Entry) -> DataType | None:
    """The type that is said of an entry, or that CiA 402 gives it, where the length agrees."""
    said = BY_NUMBER.get(entry.type_number)
    if said and said.bits == entry.bits:
        return said
    known = _KNOWN.get(entry.index)
    return known if known and known.bits == entry.bits else None
