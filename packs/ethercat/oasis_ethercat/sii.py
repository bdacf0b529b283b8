"""The slave information interface read: identity, name, mailboxes, sync managers, PDOs.

Source: ETG.1000.6, slave information interface; ETG.2010. Addresses are in words of 16 bits, lengths in bytes.
"""

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from oasis_ethercat.esc import CoeDetail, Mailbox

IDENTITY_WORD, MAILBOX_WORD, FIRST_CATEGORY = 0x08, 0x18, 0x40
STRINGS, GENERAL, SYNC_MANAGERS, TX_PDO, RX_PDO, END = 10, 30, 41, 50, 51, 0xFFFF
MOST_WORDS = 0x2000
"""An image without an end mark is not followed further."""

Read = Callable[[int], bytes]
"""Gives 4 or 8 bytes from a word address on."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Who the device is."""

    vendor: int
    product: int
    revision: int
    serial: int

    def __str__(self) -> str:
        return f"vendor 0x{self.vendor:08X}, product 0x{self.product:08X}, revision 0x{self.revision:08X}"


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a PDO; index 0 is padding. `type_number` is CoE's number of the data type, 0 where not said."""

    index: int
    subindex: int
    name: str
    type_number: int
    bits: int


@dataclass(frozen=True, slots=True)
class Pdo:
    """A PDO and the sync manager it is assigned to (255: none by default)."""

    index: int
    name: str
    sync_manager: int
    entries: tuple[Entry, ...]

    @property
    def bits(self) -> int:
        return sum(entry.bits for entry in self.entries)


@dataclass(frozen=True, slots=True)
class SyncManager:
    """As the SII wants it: start address, bytes, control byte, kind (1, 2 mailbox, 3 outputs, 4 inputs)."""

    start: int
    length: int
    control: int
    kind: int


@dataclass(frozen=True, slots=True)
class Contents:
    """All that a master needs. `mailbox`: out address, out bytes, in address, in bytes; zeros where there is none."""

    identity: Identity
    name: str
    protocols: Mailbox
    mailbox: tuple[int, int, int, int]
    coe: CoeDetail
    sync_managers: tuple[SyncManager, ...]
    transmit: tuple[Pdo, ...]
    receive: tuple[Pdo, ...]
    is_checksum_right: bool


class Image:
    """Bytes of an SII, fetched when first asked for."""

    def __init__(self, read: Read) -> None:
        self._read = read
        self._words: dict[int, bytes] = {}

    def bytes(self, word: int, length: int) -> bytes:
        """`length` bytes from a word address on."""
        found = bytearray()
        for address in range(word, word + (length + 1) // 2):
            if address not in self._words:
                data = self._read(address)
                for offset in range(0, len(data), 2):
                    self._words[address + offset // 2] = data[offset : offset + 2]
            found += self._words[address]
        return bytes(found[:length])

    def categories(self) -> Iterator[tuple[int, int, int]]:
        """Kind, word address and bytes of each category up to the end mark."""
        at = FIRST_CATEGORY
        while at < MOST_WORDS:
            kind, words = struct.unpack("<HH", self.bytes(at, 4))
            if kind == END or not kind | words:
                return
            yield kind, at + 2, words * 2
            at += 2 + words


def identity(image: Image) -> Identity:
    """The identity alone: two reads of eight bytes."""
    return Identity(*struct.unpack("<4I", image.bytes(IDENTITY_WORD, 16)))


def name(image: Image) -> str:
    """The device's name as the General category names it, empty where it does not."""
    places = {kind: (at, length) for kind, at, length in image.categories() if kind in {STRINGS, GENERAL}}
    if STRINGS not in places or GENERAL not in places:
        return ""
    index = image.bytes(places[GENERAL][0], 4)[3]
    return _text(_texts(image.bytes(*places[STRINGS])), index)


def contents(image: Image) -> Contents:
    """Everything, the whole image read."""
    bodies = [(kind, image.bytes(at, length)) for kind, at, length in image.categories()]
    texts = next((_texts(body) for kind, body in bodies if kind == STRINGS), list[str]())
    general = next((body for kind, body in bodies if kind == GENERAL), bytes(32)).ljust(32, b"\0")
    head = image.bytes(0, 0x80)
    boxes = struct.unpack_from("<4H", head, MAILBOX_WORD * 2)
    return Contents(
        identity(image),
        _text(texts, general[3]),
        Mailbox(struct.unpack_from("<H", head, 0x38)[0] & 0x3F),
        boxes,
        CoeDetail(general[5] & 0x3F),
        tuple(manager for kind, body in bodies if kind == SYNC_MANAGERS for manager in _sync_managers(body)),
        tuple(pdo for kind, body in bodies if kind == TX_PDO for pdo in _pdos(body, texts)),
        tuple(pdo for kind, body in bodies if kind == RX_PDO for pdo in _pdos(body, texts)),
        head[14] == checksum(head[:14]),
    )


def checksum(data: bytes) -> int:
    """CRC-8 of the first seven words: polynomial 0x07, start 0xFF."""
    crc = 0xFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc << 1 ^ 0x07 if crc & 0x80 else crc << 1) & 0xFF
    return crc


def _texts(body: bytes) -> list[str]:
    """The strings category: a count, then each with its length; what is cut short is left out."""
    texts: list[str] = []
    at = 1
    for _ in range(body[0] if body else 0):
        if at >= len(body):
            break
        texts.append(body[at + 1 : at + 1 + body[at]].decode("utf-8", "replace"))
        at += 1 + body[at]
    return texts


def _text(texts: list[str], index: int) -> str:
    return texts[index - 1] if 0 < index <= len(texts) else ""


def _sync_managers(body: bytes) -> Iterator[SyncManager]:
    for start, length, control, _, _, kind in struct.iter_unpack("<HHBBBB", body[: len(body) // 8 * 8]):
        yield SyncManager(start, length, control, kind)


def _pdos(body: bytes, texts: list[str]) -> Iterator[Pdo]:
    at = 0
    while at + 8 <= len(body):
        index, count, manager, _, label, _ = struct.unpack_from("<HBBBBH", body, at)
        at += 8
        rows = struct.iter_unpack("<HBBBBH", body[at : min(at + 8 * count, len(body) // 8 * 8)])
        entries = tuple(Entry(i, sub, _text(texts, text), kind, bits) for i, sub, text, kind, bits, _ in rows)
        at += 8 * count
        yield Pdo(index, _text(texts, label), manager, entries)
