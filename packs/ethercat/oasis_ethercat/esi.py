"""ESI device files (XML): every device and module with its PDO entries and mailbox capabilities.

Source: ETG.2000, EtherCAT Slave Information. Numbers are written as 16, or #x10 in hexadecimal.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from oasis.errors import ToolFault

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

MOST_BYTES = 64 << 20
_PROTOCOLS = ("AoE", "EoE", "CoE", "FoE", "SoE", "VoE")


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
    """A PDO; `sync_manager` is None where it is not assigned by default."""

    index: int
    name: str
    is_output: bool
    sync_manager: int | None
    is_fixed: bool
    is_mandatory: bool
    entries: tuple[EsiEntry, ...]

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

    @property
    def output_bits(self) -> int:
        """Bits of the output PDOs assigned by default."""
        return sum(pdo.bits for pdo in self.pdos if pdo.is_output and pdo.sync_manager is not None)

    @property
    def input_bits(self) -> int:
        """Bits of the input PDOs assigned by default."""
        return sum(pdo.bits for pdo in self.pdos if not pdo.is_output and pdo.sync_manager is not None)


def read_esi(path: Path) -> list[EsiDevice]:
    """Every device and module of an ESI file. Raises ToolFault for what is no ESI file."""
    from xml.etree import ElementTree  # noqa: PLC0415

    try:
        if path.stat().st_size > MOST_BYTES:
            raise ToolFault(f"{path.name} is larger than {MOST_BYTES >> 20} MiB; that is no ESI file.")
        data = path.read_bytes()
    except OSError as fault:
        raise ToolFault(f"The ESI file {path.name} cannot be read: {fault.strerror}.") from fault
    if b"<!DOCTYPE" in data or b"<!ENTITY" in data:
        raise ToolFault(f"{path.name} declares entities; an ESI file has none, so it was not read.")
    try:
        root = ElementTree.fromstring(data)  # noqa: S314 - no entities, see above
    except ElementTree.ParseError as fault:
        raise ToolFault(f"{path.name} is no XML: {fault}.") from fault
    if _tag(root) != "EtherCATInfo":
        raise ToolFault(f"{path.name} is no ESI file: its root is <{_tag(root)}>, not <EtherCATInfo>.")
    vendor = _child(root, "Vendor")
    number, name = (_number(_text(vendor, "Id")), _name(vendor)) if vendor is not None else (0, "")
    return [
        _device(element, number, name)
        for element in root.iter()
        if _tag(element) in {"Device", "Module"} and _child(element, "Type") is not None
    ]


def look_up(devices: list[EsiDevice], product: int, revision: int) -> EsiDevice | None:
    """The device of a product and revision; where only other revisions are there, the newest one."""
    same = [device for device in devices if device.product == product and not device.is_module]
    exact = [device for device in same if device.revision == revision]
    return exact[0] if exact else max(same, key=lambda device: device.revision, default=None)


def _device(element: "Element", vendor: int, vendor_name: str) -> EsiDevice:
    kind = _child(element, "Type")
    is_module = _tag(element) == "Module"
    number = "ModuleIdent" if is_module else "ProductCode"
    return EsiDevice(
        vendor,
        vendor_name,
        _number(kind.get(number, "")) if kind is not None else 0,
        _number(kind.get("RevisionNo", "")) if kind is not None else 0,
        (kind.text or "").strip() if kind is not None else "",
        _name(element),
        element.get("Physics", ""),
        tuple(_pdo(child) for child in element if _tag(child) in {"RxPdo", "TxPdo"}),
        tuple(_sync_manager(child) for child in element if _tag(child) == "Sm"),
        _mailbox(_child(element, "Mailbox")),
        _child(element, "Dc") is not None,
        is_module,
    )


def _pdo(element: "Element") -> EsiPdo:
    manager = element.get("Sm")
    return EsiPdo(
        _number(_text(element, "Index")),
        _name(element),
        _tag(element) == "RxPdo",
        int(manager) if manager and manager.isdigit() else None,
        element.get("Fixed", "") in {"1", "true"},
        element.get("Mandatory", "") in {"1", "true"},
        tuple(_entry(child) for child in element if _tag(child) == "Entry"),
    )


def _entry(element: "Element") -> EsiEntry:
    return EsiEntry(
        _number(_text(element, "Index")),
        _number(_text(element, "SubIndex")),
        _number(_text(element, "BitLen")),
        _name(element),
        _text(element, "DataType"),
    )


def _sync_manager(element: "Element") -> EsiSyncManager:
    use = (element.text or "").strip()
    return EsiSyncManager(use, _number(element.get("StartAddress", "")), _number(element.get("DefaultSize", "")))


def _mailbox(element: "Element | None") -> dict[str, dict[str, str]]:
    if element is None:
        return {}
    return {_tag(child): dict(child.attrib) for child in element if _tag(child) in _PROTOCOLS}


def _tag(element: "Element") -> str:
    """The tag without a namespace."""
    return str(element.tag).rpartition("}")[2]


def _child(element: "Element", tag: str) -> "Element | None":
    return next((child for child in element if _tag(child) == tag), None)


def _text(element: "Element | None", tag: str) -> str:
    child = _child(element, tag) if element is not None else None
    return (child.text or "").strip() if child is not None else ""


def _name(element: "Element | None") -> str:
    """The English name (LcId 1033) where there are several, else the first."""
    names = [child for child in element if _tag(child) == "Name"] if element is not None else []
    chosen = next((child for child in names if child.get("LcId") == "1033"), names[0] if names else None)
    return (chosen.text or "").strip() if chosen is not None else ""


def _number(text: str) -> int:
    """A number as ESI files write it; 0 for what is none."""
    text = text.strip()
    try:
        return int(text[2:], 16) if text.lower().startswith(("#x", "0x")) else int(text or "0")
    except ValueError:
        return 0
