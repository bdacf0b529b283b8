"""ESI device files (XML): every device and module with its PDO entries and mailbox capabilities.

Source: ETG.2000, EtherCAT Slave Information. Numbers are written as 16, or #x10 in hexadecimal.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree.ElementTree import Element

from oasis.errors import ToolFault
from oasis_ethercat import esi_xml as xml

_OWN = "VendorSpecific"
_ROOTS = ("EtherCATInfo", "EtherCATInfoList", "EtherCATModule")


@dataclass(frozen=True, slots=True)
class EsiEntry:
    """An entry of a PDO; index 0 is padding."""

    index: int
    subindex: int
    bits: int
    name: str
    type: str


@dataclass(frozen=True, slots=True)
class EsiPdo:
    """A PDO; `sync_manager` is None where it is not assigned by default. `excludes` are PDOs it cannot go with."""

    index: int
    name: str
    is_output: bool
    sync_manager: int | None
    is_fixed: bool
    is_mandatory: bool
    entries: tuple[EsiEntry, ...]
    excludes: tuple[int, ...] = ()

    @property
    def bits(self) -> int:
        return sum(entry.bits for entry in self.entries)


@dataclass(frozen=True, slots=True)
class EsiSyncManager:
    """A sync manager as the file wants it: its use (MBoxOut, MBoxIn, Outputs, Inputs), start address, default bytes."""

    use: str
    start: int
    default_bytes: int


@dataclass(frozen=True, slots=True)
class EsiSlot:
    """A place for modules of a modular device: how many fit, and the ModuleIdents that may be there."""

    name: str
    most: int
    modules: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class EsiDevice:
    """A device of a file. `mailbox` names each protocol with the attributes that the file gives for it."""

    vendor: int
    vendor_name: str
    product: int
    revision: int
    type: str
    name: str
    physics: str
    pdos: tuple[EsiPdo, ...]
    sync_managers: tuple[EsiSyncManager, ...]
    mailbox: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])
    has_dc: bool = False
    is_module: bool = False
    """What is plugged into a modular device; `product` is its ModuleIdent."""
    has_mailbox: bool = False
    clock_modes: tuple[str, ...] = ()
    """Modes of distributed clocks: name, what it is, the word for 0x0980."""
    slots: tuple[EsiSlot, ...] = ()
    sii_bytes: int = 0
    """How large the file says that the SII is; 0 where it does not."""

    @property
    def output_bits(self) -> int:
        """Bits of the output PDOs assigned by default."""
        return sum(pdo.bits for pdo in self.pdos if pdo.is_output and pdo.sync_manager is not None)

    @property
    def input_bits(self) -> int:
        """Bits of the input PDOs assigned by default."""
        return sum(pdo.bits for pdo in self.pdos if not pdo.is_output and pdo.sync_manager is not None)


def read_esi(path: Path) -> list[EsiDevice]:
    """Every device and module of an ESI file. Raises ToolFault for what is no ESI file or describes no device."""
    root = xml.root_of(path)
    if root.tag not in _ROOTS:
        raise ToolFault(f"{path.name} is no ESI file: its root is <{root.tag[:60]}>, not <{_ROOTS[0]}>.")
    found = [device for info in _infos(root) for device in _devices(info)]
    if not found:
        raise ToolFault(f"{path.name} describes no device and no module.")
    return found


def _infos(root: Element) -> list[Element]:
    """The parts with a vendor each: mostly the root itself."""
    return [root] if root.tag != _ROOTS[1] else [*root.iter(_ROOTS[0])]


def _devices(info: Element) -> Iterator[EsiDevice]:
    vendor = xml.child(info, "Vendor")
    number, name = xml.number(xml.text(vendor, "Id")), xml.name(vendor)
    for group, tag in (("Devices", "Device"), ("Modules", "Module")):
        for parent in info.iter(group):
            for element in parent.findall(tag):
                yield _device(element, number, name)


def look_up(devices: list[EsiDevice], product: int, revision: int) -> EsiDevice | None:
    """The device of a product and revision; where only other revisions are there, the newest one."""
    same = [device for device in devices if device.product == product and not device.is_module]
    exact = [device for device in same if device.revision == revision]
    return exact[0] if exact else max(same, key=lambda device: device.revision, default=None)


def _device(element: Element, vendor: int, vendor_name: str) -> EsiDevice:
    kind, mailbox = xml.child(element, "Type"), xml.child(element, "Mailbox")
    given = kind.attrib if kind is not None else dict[str, str]()
    is_module = element.tag == "Module"
    return EsiDevice(
        vendor,
        vendor_name,
        xml.number(given.get("ModuleIdent" if is_module else "ProductCode")),
        xml.number(given.get("RevisionNo")),
        xml.text(element, "Type"),
        xml.name(element),
        element.get("Physics", ""),
        tuple(_pdo(child) for child in element if child.tag in {"RxPdo", "TxPdo"}),
        tuple(_sync_manager(child) for child in element.findall("Sm")),
        {} if mailbox is None else {child.tag: dict(child.attrib) for child in mailbox if child.tag != _OWN},
        xml.child(element, "Dc") is not None,
        is_module,
        mailbox is not None,
        tuple(_clock_mode(mode) for mode in element.findall("Dc/OpMode")),
        tuple(_slot(slot) for slot in element.findall("Slots/Slot")),
        xml.number(xml.text(xml.child(element, "Eeprom"), "ByteSize")),
    )


def _pdo(element: Element) -> EsiPdo:
    manager = element.get("Sm", "").strip()
    return EsiPdo(
        xml.number(xml.text(element, "Index")),
        xml.name(element),
        element.tag == "RxPdo",
        xml.number(manager) if manager else None,
        xml.flag(element.get("Fixed")),
        xml.flag(element.get("Mandatory")),
        tuple(_entry(child) for child in element.findall("Entry")),
        tuple(xml.number(child.text) for child in element.findall("Exclude")),
    )


def _entry(element: Element) -> EsiEntry:
    return EsiEntry(
        xml.number(xml.text(element, "Index")),
        xml.number(xml.text(element, "SubIndex")),
        xml.number(xml.text(element, "BitLen")),
        xml.name(element),
        xml.text(element, "DataType"),
    )


def _sync_manager(element: Element) -> EsiSyncManager:
    use = (element.text or "").strip()
    return EsiSyncManager(use, xml.number(element.get("StartAddress")), xml.number(element.get("DefaultSize")))


def _clock_mode(element: Element) -> str:
    word = xml.text(element, "AssignActivate")
    said = [xml.text(element, "Name"), xml.text(element, "Desc"), f"AssignActivate {word}" if word else ""]
    return ", ".join(part for part in said if part)


def _slot(element: Element) -> EsiSlot:
    modules = tuple(xml.number(child.text) for child in element.findall("ModuleIdent"))
    return EsiSlot(xml.name(element), xml.number(element.get("MaxInstances")) or 1, modules)
