"""The object dictionary by SDO information, asked frame by frame.

pysoem's own listing holds Python until an object is described, which stops process data for longer than a watchdog,
and keeps 40 characters of a name. Source: ETG.1000.6, SDO information services; ETG.1000.4, mailbox.
"""

import struct
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from oasis_ethercat import abort_codes, library
from oasis_ethercat.esc import MAILBOX_FULL, SYNC_MANAGER_BYTES, Register
from oasis_ethercat.sdo import SdoRefused, SdoSilent
from oasis_ethercat.sii import Contents
from oasis_ethercat.slave import Slave

_LIST, _LIST_IS, _OBJECT, _OBJECT_IS, _ENTRY, _ENTRY_IS, _ERROR = range(1, 8)
_EMERGENCY, _INFORMATION, _COE, _MAILBOX_ERROR = 1, 8, 3, 0
_ALL_OBJECTS, _VARIABLE = 1, 7
_ANSWER_S, _POLL_S = 0.5, 0.0005
_TRIES, _MOST_WAITING = 3, 32
_OUT_STATUS = Register.SYNC_MANAGER + 5
_IN_STATUS = _OUT_STATUS + SYNC_MANAGER_BYTES


@dataclass(frozen=True, slots=True)
class Described:
    """An object: its name, CoE number of its type, and its highest subindex (0: it is a single value)."""

    index: int
    name: str
    type_number: int
    highest: int


@dataclass(frozen=True, slots=True)
class Part:
    """A subindex. `access` is as ETG.1000.6 has it: read in PREOP, SAFEOP, OP, then written in these."""

    subindex: int
    name: str
    type_number: int
    access: int


class Dictionary:
    """Asks one slave. Its methods raise SdoRefused, and SdoSilent where no answer comes."""

    def __init__(self, pysoem: Any, slave: Slave, contents: Contents, lock: threading.RLock) -> None:
        self._lost = pysoem.WkcError
        self._slave = slave
        self._boxes = contents.mailbox
        self._lock = lock

    def indexes(self) -> list[int]:
        """Every object."""
        replies = self._asked(_LIST, _LIST_IS, struct.pack("<H", _ALL_OBJECTS))
        data = b"".join(replies)[2:]
        return list(struct.unpack(f"<{len(data) // 2}H", data[: len(data) // 2 * 2]))

    def described(self, index: int) -> Described:
        """An object's name and type."""
        (reply, *_) = self._asked(_OBJECT, _OBJECT_IS, struct.pack("<H", index))
        _, kind, highest, code = struct.unpack_from("<HHBB", reply.ljust(6, b"\0"))
        return Described(index, _text(reply[6:]), kind, 0 if code & 0x0F == _VARIABLE else highest)

    def parts(self, found: Described) -> Iterator[Part]:
        """An object's subindexes that have a type; those that the slave does not know are left out."""
        for subindex in range(found.highest + 1):
            try:
                (reply, *_) = self._asked(_ENTRY, _ENTRY_IS, struct.pack("<HBB", found.index, subindex, 0))
            except SdoRefused:
                continue
            _, _, _, kind, _, access = struct.unpack_from("<HBBHHH", reply.ljust(10, b"\0"))
            if kind:
                yield Part(subindex, _text(reply[10:]), kind, access)

    def _asked(self, opcode: int, answer: int, body: bytes) -> list[bytes]:
        """The fragments of the answer to a request, which may be sent again: it changes nothing."""
        for _ in range(_TRIES):
            with self._lock, library.frames_within(library.STATE_FRAME_US):
                try:
                    self._empty()
                    self._send(struct.pack("<HBBH", _INFORMATION << 12, opcode, 0, 0) + body)
                    return self._fragments(answer, body[:2])
                except self._lost:
                    continue
        raise SdoSilent("no answer to SDO information came")

    def _send(self, message: bytes) -> None:
        """Put a message into the slave's mailbox when it is empty; without a counter, as SOEM counts its own."""
        out, size, _, _ = self._boxes
        end = time.monotonic() + _ANSWER_S
        while self._read(_OUT_STATUS, 1)[0] & MAILBOX_FULL:
            self._pause(end)
        data = struct.pack("<HHBB", len(message), 0, 0, _COE) + message
        self._slave.handle._fpwr(out, data.ljust(size, b"\0"), library.STATE_FRAME_US)

    def _fragments(self, answer: int, begins: bytes) -> list[bytes]:
        end = time.monotonic() + _ANSWER_S
        found: list[bytes] = []
        while True:
            message = self._received(end)
            opcode, _, left = struct.unpack_from("<BBH", message.ljust(4, b"\0"))
            body = message[4:]
            if opcode & 0x7F == _ERROR:
                raise SdoRefused(abort_codes.words(int.from_bytes(body[:4], "little")))
            if opcode & 0x7F == answer and (found or body[:2] == begins):
                found.append(body)
                if not left:
                    return found

    def _received(self, end: float) -> bytes:
        """The next message of SDO information; emergencies on the way are kept, others passed over."""
        _, _, into, size = self._boxes
        while True:
            while not self._read(_IN_STATUS, 1)[0] & MAILBOX_FULL:
                self._pause(end)
            message = self._noted(self._read(into, size))
            if message:
                return message

    def _noted(self, data: bytes) -> bytes:
        """A message's SDO information, empty where it is something else."""
        length, _, _, kind = struct.unpack_from("<HHBB", data)
        message = data[6 : 6 + length]
        if kind & 0x0F == _MAILBOX_ERROR:
            raise SdoRefused("the slave does not answer SDO information requests: mailbox error")
        service = struct.unpack_from("<H", message.ljust(2, b"\0"))[0] >> 12
        if kind & 0x0F != _COE or service not in {_INFORMATION, _EMERGENCY}:
            return b""
        if service == _EMERGENCY:
            code, register = struct.unpack_from("<HB", message.ljust(5, b"\0"), 2)
            self._slave.note(SimpleNamespace(error_code=code, error_reg=register))
            return b""
        return message[2:]

    def _empty(self) -> None:
        """Take what waits in the mailbox: answers to what was asked before."""
        _, _, into, size = self._boxes
        for _ in range(_MOST_WAITING):
            if not self._read(_IN_STATUS, 1)[0] & MAILBOX_FULL:
                return
            try:
                self._noted(self._read(into, size))
            except SdoRefused:
                continue

    def _read(self, address: int, length: int) -> bytes:
        return self._slave.handle._fprd(address, length, library.STATE_FRAME_US)

    def _pause(self, end: float) -> None:
        """Let other threads run. Raises SdoSilent when it is too late."""
        if time.monotonic() > end:
            raise SdoSilent("the slave does not answer SDO information requests")
        time.sleep(_POLL_S)


def _text(data: bytes) -> str:
    return data.split(b"\0")[0].decode("utf-8", "replace")
