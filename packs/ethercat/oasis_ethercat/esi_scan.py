"""Device files in a scan: what an ESI file describes, and where a slave differs from it."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from oasis.errors import ToolFault
from oasis.plant.driver import Budget, Found
from oasis.plant.values import spelled
from oasis_ethercat import esi, sii

Rows = dict[int, list[tuple[int, int, int]]]
"""The entries of each PDO: index, subindex, bits."""


def devices(name: str, budget: Budget) -> Iterator[Found]:
    """The devices and modules of an ESI file below the working directory; one request is booked for each."""
    for device in esi.read_esi(_path(name)):
        if not budget.spend():
            return
        yield _found(device, device.type or device.name, lines(device))


def beside(name: str, position: int, contents: sii.Contents) -> Found:
    """A slave's device in an ESI file, and where the slave's SII says something else. Raises ToolFault."""
    described = esi.read_esi(_path(name))
    identity = contents.identity
    device = esi.look_up([d for d in described if d.vendor == identity.vendor], identity.product, identity.revision)
    if device is None:
        known = ", ".join(f"0x{d.product:08X}" for d in described[:8])
        raise ToolFault(
            f"{name} does not describe slave {position} ({identity}). It has products {known or 'none'}. Take the "
            "file of the slave's own maker and type."
        )
    return _found(device, f"{position} esi", [*differences(device, contents), *lines(device)])


def differences(device: esi.EsiDevice, contents: sii.Contents) -> list[str]:
    """Where file and SII differ, or that they agree."""
    said: list[str] = []
    if device.revision != contents.identity.revision:
        said.append(f"the file has revision 0x{device.revision:08X}, the slave 0x{contents.identity.revision:08X}")
    if bool(device.mailbox) != bool(contents.protocols):
        said.append(f"mailbox: {'in the file' if device.mailbox else 'in the SII'} only")
    for is_output, stored in ((True, contents.receive), (False, contents.transmit)):
        file_rows: Rows = {
            pdo.index: [(e.index, e.subindex, e.bits) for e in pdo.entries]
            for pdo in device.pdos
            if pdo.is_output is is_output
        }
        sii_rows: Rows = {pdo.index: [(e.index, e.subindex, e.bits) for e in pdo.entries] for pdo in stored}
        said += _pdo_differences(file_rows, sii_rows)
    return said or ["file and SII agree: revision, mailbox, every PDO and entry"]


def _pdo_differences(file_rows: Rows, sii_rows: Rows) -> Iterator[str]:
    for index in sorted(file_rows.keys() | sii_rows.keys()):
        if index not in sii_rows:
            yield f"PDO 0x{index:04X}: in the file only"
        elif index not in file_rows:
            yield f"PDO 0x{index:04X}: in the SII only"
        elif file_rows[index] != sii_rows[index]:
            bits = sum(row[2] for row in file_rows[index]), sum(row[2] for row in sii_rows[index])
            yield f"PDO 0x{index:04X}: other entries, {bits[0]} bits in the file, {bits[1]} in the SII"


def lines(device: esi.EsiDevice) -> list[str]:
    """Mailbox capabilities, sync managers' sizes, every PDO with its entries."""
    said: list[str] = []
    for protocol, attributes in device.mailbox.items():
        given = ", ".join(f"{key} {value}" for key, value in attributes.items())
        said.append(f"mailbox {protocol}{': ' if given else ''}{given}")
    for pdo in device.pdos:
        place = "not assigned" if pdo.sync_manager is None else f"sync manager {pdo.sync_manager}"
        said.append(f"{'out' if pdo.is_output else 'in'} PDO 0x{pdo.index:04X} {pdo.name}: {pdo.bits} bits, {place}")
        said += [f"  {_entry(entry)}, {entry.bits} bits" for entry in pdo.entries]
    said.append(f"by default: outputs {device.output_bits} bits, inputs {device.input_bits} bits")
    return said


def _entry(entry: esi.EsiEntry) -> str:
    return f"0x{entry.index:04X}:{entry.subindex} {entry.name} {entry.type}".rstrip() if entry.index else "padding"


def _found(device: esi.EsiDevice, item: str, more: Sequence[str]) -> Found:
    fields = {
        "name": device.name,
        "vendor": f"0x{device.vendor:08X} {device.vendor_name}".strip(),
        "product": f"0x{device.product:08X}",
        "revision": f"0x{device.revision:08X}",
    }
    return Found("module" if device.is_module else "device", item, fields, tuple(more))


def _path(name: str) -> Path:
    """The file; it must be an .xml file below the working directory."""
    path, root = Path(name.strip()).resolve(), Path.cwd().resolve()
    if not path.is_relative_to(root) or path.suffix.lower() != ".xml":
        raise ToolFault(f"{spelled(name[:80])} is no .xml file below the working directory. Copy the ESI file there.")
    return path
