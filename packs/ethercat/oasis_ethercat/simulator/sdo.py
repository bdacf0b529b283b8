"""SDO server: expedited, normal and segmented transfers in both directions, and aborts.

Source: ETG.1000.6, CoE services; the command bytes are those of CANopen (CiA 301).
"""

import struct
from dataclasses import dataclass

from oasis_ethercat.simulator.objects import LENGTH_MISMATCH, Abort, Objects

TOGGLE = 0x05030000
UNKNOWN_COMMAND = 0x05040001
NO_COMPLETE_ACCESS = 0x06010000


@dataclass
class _Transfer:
    """A transfer under way: what is still to be sent, or what has come so far."""

    index: int
    subindex: int
    data: bytes
    total: int = 0
    toggle: int = 0


class SdoServer:
    """`message_bytes` is the mailbox's size: a longer value goes in segments.

    `aborts` refuses requests to an object with a code; `silent` leaves them without an answer (None: every object);
    `late` is how many answers are kept back until the next request.
    """

    def __init__(self, objects: Objects, message_bytes: int, *, has_complete_access: bool = False) -> None:
        self._objects = objects
        self._has_complete_access = has_complete_access
        self._kept: list[bytes] = []
        self.late = 0
        self._room = message_bytes - 6 - 2
        self._upload: _Transfer | None = None
        self._download: _Transfer | None = None
        self.aborts: dict[tuple[int, int], int] = {}
        self.silent: set[tuple[int, int] | None] = set()
        self.requests = {"upload": 0, "download": 0}

    def answer(self, request: bytes) -> list[bytes]:
        """The reply to one SDO request (from its command byte on), or none."""
        command, index, subindex = struct.unpack_from("<BHB", request)
        specifier = command >> 5
        if specifier == 4:
            self._upload = self._download = None
            return []
        if None in self.silent or (index, subindex) in self.silent:
            return []
        try:
            reply = self._served(specifier, command, index, subindex, request)
        except Abort as abort:
            self._upload = self._download = None
            reply = struct.pack("<BHBI", 0x80, index, subindex, abort.code)
        if self.late:
            self.late -= 1
            self._kept.append(reply)
            return []
        kept, self._kept = self._kept, []
        return [*kept, reply]

    def _served(self, specifier: int, command: int, index: int, subindex: int, request: bytes) -> bytes:
        if specifier == 0:
            return self._download_segment(command, request)
        if specifier == 3:
            return self._upload_segment(command)
        if specifier not in {1, 2}:
            raise Abort(UNKNOWN_COMMAND)
        self.requests["download" if specifier == 1 else "upload"] += 1
        if code := self.aborts.get((index, subindex)):
            raise Abort(code)
        if command & 0x10 and not (self._has_complete_access and specifier == 2):
            raise Abort(NO_COMPLETE_ACCESS)
        if specifier == 2:
            return self._begin_upload(index, subindex, is_complete=bool(command & 0x10))
        return self._begin_download(command, index, subindex, request)

    def _begin_upload(self, index: int, subindex: int, *, is_complete: bool) -> bytes:
        data = self._objects.upload_all(index, subindex) if is_complete else self._objects.upload(index, subindex)
        if 0 < len(data) <= 4:
            command = 0x43 | 4 - len(data) << 2
            return struct.pack("<BHB", command, index, subindex) + data.ljust(4, b"\0")
        room = self._room - 8
        self._upload = _Transfer(index, subindex, data[room:])
        return struct.pack("<BHBI", 0x41, index, subindex, len(data)) + data[:room]

    def _upload_segment(self, command: int) -> bytes:
        transfer = self._continued(self._upload, command)
        room = self._room - 1
        chunk, transfer.data = transfer.data[:room], transfer.data[room:]
        answer = command & 0x10 | (0 if transfer.data else 1)
        if len(chunk) < 7:
            answer |= 7 - len(chunk) << 1
        return bytes([answer]) + chunk.ljust(7, b"\0")

    def _begin_download(self, command: int, index: int, subindex: int, request: bytes) -> bytes:
        if command & 2:
            data = request[4 : 8 - (command >> 2 & 3)] if command & 1 else request[4:8]
            self._objects.download(index, subindex, data)
        else:
            total = struct.unpack_from("<I", request, 4)[0]
            self._download = _Transfer(index, subindex, request[8 : 8 + total], total)
            self._finish_download()
        return struct.pack("<BHB4x", 0x60, index, subindex)

    def _download_segment(self, command: int, request: bytes) -> bytes:
        transfer = self._continued(self._download, command)
        chunk = request[1:]
        if len(chunk) == 7:
            chunk = chunk[: 7 - (command >> 1 & 7)]
        transfer.data += chunk
        if command & 1 and len(transfer.data) != transfer.total:
            raise Abort(LENGTH_MISMATCH)
        self._finish_download()
        return struct.pack("<B7x", 0x20 | command & 0x10)

    def _finish_download(self) -> None:
        if (transfer := self._download) and len(transfer.data) == transfer.total:
            self._objects.download(transfer.index, transfer.subindex, transfer.data)
            self._download = None

    @staticmethod
    def _continued(transfer: _Transfer | None, command: int) -> _Transfer:
        if transfer is None:
            raise Abort(UNKNOWN_COMMAND)
        if command & 0x10 != transfer.toggle:
            raise Abort(TOGGLE)
        transfer.toggle ^= 0x10
        return transfer
