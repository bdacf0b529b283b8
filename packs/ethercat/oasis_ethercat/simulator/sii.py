"""The SII image of a device: identity, mailboxes, and the categories a master configures itself from.

Source: ETG.1000.6, slave information interface; ETG.2010. Words of 16 bits, little-endian.
"""

import struct

from oasis_ethercat.esc import Mailbox
from oasis_ethercat.simulator.device import Device, Pdo

STRINGS, GENERAL, FMMU, SYNC_MANAGER, TX_PDO, RX_PDO = 10, 30, 40, 41, 50, 51
WORDS = {"vendor": 0x08, "product": 0x0A, "revision": 0x0C, "serial": 0x0E}
"""Word addresses of the identity."""
FIRST_TRANSMIT, UNASSIGNED = 0x1A00, 0xFF


def image(device: Device, serial: int) -> bytearray:
    """The whole image, with the first category at word 0x40 and the end mark after the last."""
    texts = _Texts(device.name)
    categories = [
        _category(GENERAL, _general(device, texts)),
        _category(FMMU, bytes([1 if device.receive else 0, 2 if device.transmit else 0])),
        _category(SYNC_MANAGER, _sync_managers(device)),
        *_pdo_categories(device, texts),
    ]
    body = b"".join([_category(STRINGS, texts.bytes()), *categories])
    return _head(device, serial) + body + b"\xff" * 64


def change(data: bytearray, field: str, value: int) -> None:
    """Overwrite `vendor`, `product`, `revision` or `serial` in an image."""
    struct.pack_into("<I", data, WORDS[field] * 2, value)


def _head(device: Device, serial: int) -> bytearray:
    head = bytearray(0x80)
    struct.pack_into("<4I", head, 0x10, device.vendor, device.product, device.revision, serial)
    if boxes := device.mailboxes:
        struct.pack_into("<4H", head, 0x30, boxes.out, boxes.out_bytes, boxes.into, boxes.into_bytes)
        struct.pack_into("<H", head, 0x38, boxes.protocols)
    struct.pack_into("<H", head, 0x0E, checksum(bytes(head[:14])))
    struct.pack_into("<HH", head, 0x7C, 15, 1)
    return head


def checksum(words: bytes) -> int:
    """CRC-8 over the first seven words: polynomial x^8 + x^2 + x + 1, start value 0xFF."""
    crc = 0xFF
    for byte in words:
        crc ^= byte
        for _ in range(8):
            crc = (crc << 1 ^ 0x07) & 0xFF if crc & 0x80 else crc << 1
    return crc


class _Texts:
    """The strings category; index 0 means no text."""

    def __init__(self, first: str) -> None:
        self._texts = [first]

    def index(self, text: str) -> int:
        if not text:
            return 0
        if text not in self._texts:
            self._texts.append(text)
        return self._texts.index(text) + 1

    def bytes(self) -> bytes:
        coded = [text.encode("utf-8") for text in self._texts]
        return bytes([len(coded)]) + b"".join(bytes([len(text)]) + text for text in coded)


def _category(number: int, body: bytes) -> bytes:
    padded = body + b"\0" * (len(body) % 2)
    return struct.pack("<HH", number, len(padded) // 2) + padded


def _general(device: Device, texts: _Texts) -> bytes:
    body = bytearray(32)
    body[3] = texts.index(device.name)
    if boxes := device.mailboxes:
        body[5] = boxes.coe if device.has_coe else 0
        body[6], body[7] = int(Mailbox.FOE in boxes.protocols), int(Mailbox.EOE in boxes.protocols)
    return bytes(body)


def _sync_managers(device: Device) -> bytes:
    """Start, bytes, control, status, enable, kind: 1 mailbox out, 2 mailbox in, 3 outputs, 4 inputs."""
    rows: list[tuple[int, ...]] = []
    if boxes := device.mailboxes:
        rows += [(boxes.out, boxes.out_bytes, 0x26, 0, 1, 1), (boxes.into, boxes.into_bytes, 0x22, 0, 1, 2)]
    if device.mailboxes or device.receive:
        rows.append((device.output_address, (device.output_bits + 7) // 8, 0x64, 0, int(bool(device.receive)), 3))
    if device.mailboxes or device.transmit:
        rows.append((device.input_address, (device.input_bits + 7) // 8, 0x20, 0, int(bool(device.transmit)), 4))
    return b"".join(struct.pack("<HHBBBB", *row) for row in rows)


def _pdo_categories(device: Device, texts: _Texts) -> list[bytes]:
    """The PDOs to the master and those from it; one that is not assigned has no sync manager."""
    if not device.has_sii_pdos:
        return []
    into = [_pdo(pdo, device.input_sync_manager, texts) for pdo in device.transmit]
    out = [_pdo(pdo, device.output_sync_manager, texts) for pdo in device.receive]
    for pdo in device.unassigned:
        (into if pdo.index >= FIRST_TRANSMIT else out).append(_pdo(pdo, UNASSIGNED, texts))
    return [_category(number, b"".join(pdos)) for number, pdos in ((TX_PDO, into), (RX_PDO, out)) if pdos]


def _pdo(pdo: Pdo, sync_manager: int, texts: _Texts) -> bytes:
    rows = [struct.pack("<HBBBBH", pdo.index, len(pdo.entries), sync_manager, 0, texts.index(pdo.name), 0)]
    for e in pdo.entries:
        row = (e.index, e.subindex, texts.index(e.name), e.kind.number & 0xFF, e.kind.bits, 0)
        rows.append(struct.pack("<HBBBBH", *row))
    return b"".join(rows)
