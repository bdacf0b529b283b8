"""What a device is: its identity, its process data, its objects. Declarations only."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from oasis_ethercat.coe_types import UINT8, DataType, Value
from oasis_ethercat.esc import CoeDetail, Mailbox

READ = 0x07
"""Object access: read in PREOP, SAFEOP and OP."""
WRITE = 0x38
"""Object access: written in PREOP, SAFEOP and OP."""
WRITE_IN_PREOP = 0x08


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a PDO. Index 0 is padding."""

    index: int
    subindex: int
    kind: DataType
    name: str


def padding(bits: int) -> Entry:
    """Bits that carry nothing."""
    return Entry(0, 0, DataType(f"pad{bits}", 0, bits), "")


@dataclass(frozen=True, slots=True)
class Pdo:
    """A process data object; in one device all of a direction go to one sync manager."""

    index: int
    name: str
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class Item:
    """One subindex of an object: type, value at power-up, name, access, limits of what may be written."""

    kind: DataType
    value: Value
    name: str
    access: int = READ
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Mailboxes:
    """Addresses and sizes in bytes: `out` from the master, `into` towards it; the protocols that the SII names.

    Only CoE is served; a request of another protocol gets a mailbox error.
    """

    out: int = 0x1000
    out_bytes: int = 128
    into: int = 0x1080
    into_bytes: int = 128
    protocols: Mailbox = Mailbox.COE
    coe: CoeDetail = CoeDetail.SDO | CoeDetail.SDO_INFO


class Values(Protocol):
    """The objects of a slave, as what the device does with them sees them."""

    emergencies: list[tuple[int, int]]

    def number(self, index: int, subindex: int = 0) -> int: ...

    def put(self, index: int, value: Value, subindex: int = 0) -> None: ...


class Behaviour:
    """What a device does with its outputs; the default does nothing."""

    def step(self, objects: Values, seconds: float) -> None:
        """Advance by `seconds`: read commands from `objects`, put actual values there."""

    def lost(self, objects: Values) -> None:
        """The master's process data stopped while they were in use."""

    def trip(self, objects: Values, code: int) -> None:
        """A fault inside the device, with the device's own error code."""


@dataclass(frozen=True, slots=True)
class Device:
    """A device that can be plugged into a segment.

    `receive` are PDOs from the master (outputs), `transmit` those towards it; `unassigned` are PDOs of either
    direction that can be chosen instead, by CoE in PREOP. Without `mailboxes` there is no CoE, and the process data
    still are entries of an object dictionary inside.
    """

    name: str
    vendor: int
    product: int
    revision: int
    receive: tuple[Pdo, ...] = ()
    transmit: tuple[Pdo, ...] = ()
    mailboxes: Mailboxes | None = None
    objects: dict[tuple[int, int], Item] = field(default_factory=dict[tuple[int, int], Item])
    object_names: dict[int, str] = field(default_factory=dict[int, str])
    behaviour: Callable[[], Behaviour] = Behaviour
    unassigned: tuple[Pdo, ...] = ()
    has_clock: bool = False
    """Distributed clocks: the feature is shown, no time is kept."""
    has_sii_pdos: bool = True
    """False: the SII names no PDO, and CoE alone knows them."""

    @property
    def has_coe(self) -> bool:
        return self.mailboxes is not None and Mailbox.COE in self.mailboxes.protocols

    @property
    def output_bits(self) -> int:
        return bits_of(self.receive)

    @property
    def input_bits(self) -> int:
        return bits_of(self.transmit)

    @property
    def output_address(self) -> int:
        boxes = self.mailboxes
        return (boxes.into + boxes.into_bytes + 0xFF) // 0x100 * 0x100 if boxes else 0x1000

    @property
    def input_address(self) -> int:
        return self.output_address + max(0x100, (self.output_bits + 0x7FF) // 0x800 * 0x100)

    @property
    def output_sync_manager(self) -> int:
        return 2 if self.mailboxes else 0

    @property
    def input_sync_manager(self) -> int:
        return 3 if self.mailboxes else int(bool(self.receive))


def bits_of(pdos: tuple[Pdo, ...]) -> int:
    """How many bits the entries of the PDOs take."""
    return sum(entry.kind.bits for pdo in pdos for entry in pdo.entries)


def count(number: int, name: str = "Number of entries") -> Item:
    """Subindex 0 of an object with `number` subindexes."""
    return Item(UINT8, number, name)
