"""The object dictionary: identity, PDO mapping and assignment made from the declaration, values that live."""

from collections.abc import Iterator

from oasis_ethercat.coe_types import STRING, UINT8, UINT16, UINT32, DataType, Value, decode, encode
from oasis_ethercat.esc import CoeDetail
from oasis_ethercat.simulator.device import READ, WRITE_IN_PREOP, Device, Entry, Item, Pdo, count

Key = tuple[int, int]


class Abort(Exception):
    """An SDO is refused; `code` is the abort code."""

    def __init__(self, code: int) -> None:
        super().__init__(f"0x{code:08X}")
        self.code = code


NO_OBJECT = 0x06020000
NO_SUBINDEX = 0x06090011
WRITE_ONLY = 0x06010001
READ_ONLY = 0x06010002
LENGTH_MISMATCH = 0x06070010
TOO_HIGH = 0x06090031
TOO_LOW = 0x06090032


class Objects:
    """The values of one slave by (index, subindex)."""

    def __init__(self, device: Device, serial: int) -> None:
        self.items: dict[Key, Item] = dict(_items(device, serial))
        self.values: dict[Key, Value] = {key: item.value for key, item in self.items.items()}
        self.names = {0x1018: "Identity", 0x1C00: "Sync manager types", 0x1C12: "RxPDO assign", 0x1C13: "TxPDO assign"}
        pdos = (*device.receive, *device.transmit, *device.unassigned)
        self.names |= {pdo.index: pdo.name for pdo in pdos} | device.object_names
        self.emergencies: list[tuple[int, int]] = []
        """Error codes with the error register, to be told to the master."""
        self.downloads = 0
        """SDO downloads that changed a value."""

    def number(self, index: int, subindex: int = 0) -> int:
        """The value of a whole-number object."""
        value = self.values[index, subindex]
        assert isinstance(value, int)  # noqa: S101 - declared so
        return value

    def put(self, index: int, value: Value, subindex: int = 0) -> None:
        """Set a value from inside the device."""
        self.values[index, subindex] = value

    def upload(self, index: int, subindex: int) -> bytes:
        """The bytes of a value that the master reads. Raises Abort."""
        item = self._item(index, subindex)
        if not item.access & 0x07:
            raise Abort(WRITE_ONLY)
        return encode(item.kind, self.values[index, subindex])

    def upload_all(self, index: int, first: int) -> bytes:
        """Complete access: all subindexes from `first` (0 or 1) on, bit by bit; their number takes 16. Raises Abort."""
        number = at = 0
        subindexes = self.subindexes(index) or [0]
        for subindex in subindexes:
            if subindex < first:
                continue
            item, data = self._item(index, subindex), self.upload(index, subindex)
            number |= int.from_bytes(data, "little") << at
            is_number = subindex == 0 and len(subindexes) > 1
            at += 16 if is_number else item.kind.bits or 8 * len(data)
        return number.to_bytes((at + 7) // 8, "little")

    def download(self, index: int, subindex: int, data: bytes) -> None:
        """Take a value that the master writes. Raises Abort."""
        item = self._item(index, subindex)
        if not item.access & 0x38:
            raise Abort(READ_ONLY)
        try:
            value = decode(item.kind, data)
        except ValueError:
            raise Abort(LENGTH_MISMATCH) from None
        if isinstance(value, int | float):
            if item.high is not None and value > item.high:
                raise Abort(TOO_HIGH)
            if item.low is not None and value < item.low:
                raise Abort(TOO_LOW)
        self.values[index, subindex] = value
        self.downloads += 1

    def name_of(self, index: int) -> str:
        """An object's name."""
        return self.names.get(index) or self.items[index, min(self.subindexes(index))].name

    def indexes(self) -> list[int]:
        """Every object, by index."""
        return sorted({index for index, _ in self.items})

    def subindexes(self, index: int) -> list[int]:
        """An object's subindexes; empty where there is no such object."""
        return sorted(sub for key, sub in self.items if key == index)

    def _item(self, index: int, subindex: int) -> Item:
        item = self.items.get((index, subindex))
        if item is None:
            raise Abort(NO_SUBINDEX if self.subindexes(index) else NO_OBJECT)
        return item


def _items(device: Device, serial: int) -> Iterator[tuple[Key, Item]]:
    """Declared items win over those made here, and those over bare entries of PDOs."""
    for pdo in (*device.receive, *device.transmit, *device.unassigned):
        yield from _mapping(pdo)
        yield from _mapped(pdo)
    if device.mailboxes:
        yield (0x1000, 0), Item(UINT32, 5001, "Device type")
        yield (0x1008, 0), Item(STRING, device.name, "Device name")
        yield from _record(0x1018, UINT32, _identity(device, serial))
        yield from _record(0x1C00, UINT8, [(f"SM{n} type", n + 1) for n in range(4)])
        yield from _assignment(0x1C12, device.receive, device)
        yield from _assignment(0x1C13, device.transmit, device)
    yield from device.objects.items()


def _identity(device: Device, serial: int) -> list[tuple[str, int]]:
    return [
        ("Vendor ID", device.vendor),
        ("Product code", device.product),
        ("Revision", device.revision),
        ("Serial number", serial),
    ]


def _record(index: int, kind: DataType, fields: list[tuple[str, int]]) -> Iterator[tuple[Key, Item]]:
    yield (index, 0), count(len(fields))
    for sub, (name, value) in enumerate(fields, 1):
        yield (index, sub), Item(kind, value, name)


def _assignment(index: int, pdos: tuple[Pdo, ...], device: Device) -> Iterator[tuple[Key, Item]]:
    """The PDOs of a direction; where the device lets them be chosen, written in PREOP, with room for the others."""
    yield from _record(index, UINT16, [(pdo.name, pdo.index) for pdo in pdos])
    boxes = device.mailboxes
    if boxes and CoeDetail.PDO_ASSIGN in boxes.coe:
        access = READ | WRITE_IN_PREOP
        yield (index, 0), Item(UINT8, len(pdos), "Number of PDOs", access, 0, len(pdos) + len(device.unassigned))
        for sub in range(1, len(pdos) + len(device.unassigned) + 1):
            yield (index, sub), Item(UINT16, pdos[sub - 1].index if sub <= len(pdos) else 0, f"PDO {sub}", access)


def _mapping(pdo: Pdo) -> Iterator[tuple[Key, Item]]:
    words = [(entry.name, _mapping_word(entry)) for entry in pdo.entries]
    yield from _record(pdo.index, UINT32, words)


def _mapping_word(entry: Entry) -> int:
    return entry.index << 16 | entry.subindex << 8 | entry.kind.bits


def _mapped(pdo: Pdo) -> Iterator[tuple[Key, Item]]:
    """An item for each entry, and subindex 0 where entries begin at 1."""
    by_index: dict[int, int] = {}
    for entry in pdo.entries:
        if entry.index:
            yield (entry.index, entry.subindex), Item(entry.kind, 0, entry.name)
            by_index[entry.index] = max(by_index.get(entry.index, 0), entry.subindex)
    for index, highest in by_index.items():
        if highest:
            yield (index, 0), count(highest)
