"""SDO information: which objects there are, how they and their entries are named and typed.

Source: ETG.1000.6, SDO information services.
"""

import struct

from oasis_ethercat.simulator.objects import NO_OBJECT, NO_SUBINDEX, Objects

LIST_REQUEST, LIST, OBJECT_REQUEST, OBJECT, ENTRY_REQUEST, ENTRY, ERROR = range(1, 8)
_VARIABLE, _RECORD = 7, 9


class SdoInformation:
    """Answers from the dictionary; lists longer than a mailbox of `message_bytes` go in fragments."""

    def __init__(self, objects: Objects, message_bytes: int) -> None:
        self._objects = objects
        self._room = message_bytes - 6 - 2 - 4

    def answer(self, request: bytes) -> list[bytes]:
        """The replies to one request (from its opcode on)."""
        opcode, arguments = request[0] & 0x7F, request[4:]
        if opcode == LIST_REQUEST:
            return self._list(struct.unpack_from("<H", arguments)[0])
        if opcode == OBJECT_REQUEST:
            return [self._object(struct.unpack_from("<H", arguments)[0])]
        if opcode == ENTRY_REQUEST:
            return [self._entry(*struct.unpack_from("<HBB", arguments))]
        return [_message(ERROR, struct.pack("<I", 0x05040001))]

    def _list(self, kind: int) -> list[bytes]:
        indexes = self._objects.indexes() if kind in {0, 1} else []
        numbers = (len(self._objects.indexes()), 0, 0, 0, 0) if kind == 0 else tuple(indexes)
        body = struct.pack(f"<H{len(numbers)}H", kind, *numbers)
        parts = [body[at : at + self._room] for at in range(0, len(body), self._room)]
        left = range(len(parts) - 1, -1, -1)
        return [_message(LIST, part, follow) for part, follow in zip(parts, left, strict=True)]

    def _object(self, index: int) -> bytes:
        subindexes = self._objects.subindexes(index)
        if not subindexes:
            return _message(ERROR, struct.pack("<I", NO_OBJECT))
        shape = _RECORD if subindexes[-1] else _VARIABLE
        kind = self._objects.items[index, subindexes[0]].kind
        name = self._objects.name_of(index).encode("utf-8")
        return _message(OBJECT, struct.pack("<HHBB", index, kind.number, subindexes[-1], shape) + name)

    def _entry(self, index: int, subindex: int, wanted: int) -> bytes:
        item = self._objects.items.get((index, subindex))
        if item is None:
            return _message(ERROR, struct.pack("<I", NO_SUBINDEX))
        bits = item.kind.bits or 8 * len(self._objects.upload(index, subindex))
        head = struct.pack("<HBBHHH", index, subindex, wanted & 0x07, item.kind.number, bits, item.access)
        return _message(ENTRY, head + item.name.encode("utf-8"))


def _message(opcode: int, body: bytes, fragments_left: int = 0) -> bytes:
    return struct.pack("<BBH", opcode | (0x80 if fragments_left else 0), 0, fragments_left) + body
