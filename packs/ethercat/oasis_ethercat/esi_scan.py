"""Device files in a scan: what an ESI file describes, and where a slave differs from it."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from oasis.errors import ToolFault
from oasis.plant.driver import Budget, Found
from oasis.plant.values import spelled
from oasis_ethercat import esi, sii
from oasis_ethercat import esi_xml as xml
from oasis_ethercat.esc import Mailbox

MOST_DETAILED = 12
"""Devices of a file that are described whole; of more only the sizes."""
Rows = dict[int, list[tuple[int, int, int]]]
"""The entries of each PDO: index, subindex, bits."""


def devices(text: str, budget: Budget) -> Iterator[Found]:
    """The devices and modules of an ESI file below the working directory; one request is booked for each.

    `text` is the file, and where it has many devices the one wanted: `FILE 0xPRODUCT` or `FILE TYPE`. Raises ToolFault.
    """
    name, wanted = _named(text)
    described = esi.read_esi(_path(name))
    chosen = [device for device in described if not wanted or _is_wanted(device, wanted)]
    if not chosen:
        some = ", ".join(f"0x{device.product:08X} {device.type}" for device in described[:8])
        raise ToolFault(f"{name} does not describe {spelled(wanted[:40])}. It has, among others: {some}.")
    for device in chosen:
        if not budget.spend():
            return
        detail = lines(device) if len(chosen) <= MOST_DETAILED else [_sizes(device)]
        yield _found(device, device.type or device.name or f"0x{device.product:08X}", detail)


def _named(text: str) -> tuple[str, str]:
    """The file's name, and what comes behind it."""
    found = re.fullmatch(r"(.*?\.xml)\s+(\S.*)", text.strip(), re.IGNORECASE)
    return (found[1], found[2].strip()) if found else (text, "")


def _is_wanted(device: esi.EsiDevice, wanted: str) -> bool:
    return wanted.lower() in {device.type.lower(), device.name.lower()} or xml.number(wanted) == device.product != 0


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
    said += _mailbox_differences(device, contents)
    if not contents.receive and not contents.transmit and device.pdos:
        return [*said, "the SII names no PDO: the slave's own are those of scan item `N pdo`, by CoE"]
    for is_output, stored in ((True, contents.receive), (False, contents.transmit)):
        file_rows: Rows = {
            pdo.index: [(e.index, e.subindex, e.bits) for e in pdo.entries]
            for pdo in device.pdos
            if pdo.is_output is is_output
        }
        sii_rows: Rows = {pdo.index: [(e.index, e.subindex, e.bits) for e in pdo.entries] for pdo in stored}
        said += _pdo_differences(file_rows, sii_rows)
    return said or ["file and SII agree: revision, mailbox, every PDO and entry"]


def _mailbox_differences(device: esi.EsiDevice, contents: sii.Contents) -> Iterator[str]:
    """Protocols, addresses and sizes of the mailboxes where file and SII do not agree."""
    named = {protocol.upper() for protocol in device.mailbox}
    stored = {protocol.name or "" for protocol in Mailbox if protocol in contents.protocols}
    for protocols, place in ((named - stored, "in the file"), (stored - named, "in the SII")):
        if protocols:
            yield f"mailbox {', '.join(sorted(protocols))}: {place} only"
    boxes = {manager.use: (manager.start, manager.default_bytes) for manager in device.sync_managers}
    for use, box in (("MBoxOut", contents.mailbox[:2]), ("MBoxIn", contents.mailbox[2:])):
        if boxes.get(use, (0, 0)) != box and named and stored:
            start, size = boxes.get(use, (0, 0))
            yield f"{use}: 0x{start:04X}, {size} bytes in the file; 0x{box[0]:04X}, {box[1]} bytes in the SII"


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
    """Mailbox capabilities, distributed clocks, slots, sync managers' sizes, every PDO with its entries."""
    said: list[str] = []
    for protocol, attributes in device.mailbox.items():
        given = ", ".join(f"{key} {value}" for key, value in attributes.items())
        said.append(f"mailbox {protocol}{': ' if given else ''}{given}")
    if device.has_mailbox and not device.mailbox:
        said.append("mailbox without a protocol")
    if device.has_dc:
        said.append(f"distributed clocks: {'; '.join(device.clock_modes) or 'no mode named'}")
    if device.sii_bytes:
        said.append(f"SII of {device.sii_bytes} bytes")
    said += [f"sync manager {n} {m.use}: 0x{m.start:04X}, {m.default_bytes} bytes" for n, m in _managers(device)]
    said += [_slot(slot) for slot in device.slots]
    for pdo in device.pdos:
        said.append(_pdo(pdo))
        said += [f"  {_entry(entry)}, {entry.bits} bits" for entry in pdo.entries]
    return [*said, _sizes(device)]


def _managers(device: esi.EsiDevice) -> list[tuple[int, esi.EsiSyncManager]]:
    return [(n, manager) for n, manager in enumerate(device.sync_managers) if manager.default_bytes]


def _slot(slot: esi.EsiSlot) -> str:
    modules = ", ".join(f"0x{module:08X}" for module in slot.modules)
    return f"slot {slot.name}, at most {slot.most}: modules {modules or 'not named'}"


def _pdo(pdo: esi.EsiPdo) -> str:
    place = "not assigned" if pdo.sync_manager is None else f"sync manager {pdo.sync_manager}"
    words = [place, *(["fixed"] if pdo.is_fixed else []), *(["mandatory"] if pdo.is_mandatory else [])]
    if pdo.excludes:
        words.append(f"not with {', '.join(f'0x{index:04X}' for index in pdo.excludes)}")
    return f"{'out' if pdo.is_output else 'in'} PDO 0x{pdo.index:04X} {pdo.name}: {pdo.bits} bits, {', '.join(words)}"


def _sizes(device: esi.EsiDevice) -> str:
    return f"by default: outputs {device.output_bits} bits, inputs {device.input_bits} bits"


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
