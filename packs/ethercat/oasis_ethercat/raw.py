"""Single datagrams on an interface, read by read: what can be known of a segment without configuring it.

Linux only (AF_PACKET). Reads change nothing. The one write here is the SII interface's address and read command.
"""

import socket
import struct
import sys
import time
from types import TracebackType
from typing import Self

from oasis.errors import ToolFault
from oasis_ethercat import datagram, interface
from oasis_ethercat.esc import ETHERTYPE, Command, Register

TIMEOUT_S = 0.03
TRIES = 33
"""A frame that comes back late is as good: this only decides how long nothing may come back at all, 1 s."""
LISTEN_S = 0.12
"""Longer than a watchdog of 100 ms: a master that keeps slaves in OP is heard."""
_SENT, _RECEIVED, _LISTENS = 2, 8, 3
_ALL_PROTOCOLS = 0x0003
_BUSY, _FAILED = 0x8000, 0x2800
_SII_LOOKS = 200


class NoAnswer(Exception):
    """A frame did not come back, or no slave counted it."""


class RawBus:
    """A raw socket on an interface; use as a context. Raises ToolFault with the reason where it cannot be opened."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._socket: socket.socket
        self._index = 0
        self.sent = 0
        self._free_sii: set[int] = set()
        """Slaves whose SII the master may read."""

    def __enter__(self) -> Self:
        interface.check(self.name)
        self._socket = _opened(self.name, ETHERTYPE)
        self._socket.settimeout(TIMEOUT_S)
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None) -> None:
        self._socket.close()

    def heard(self) -> int:
        """EtherCAT frames of another master seen on this interface while nothing is sent from here; 0 for too few.

        Two that another process of this machine sends are enough. Frames that only come in may be late answers to this
        process's own: it takes more of them to be another machine's, and they do not stop.
        """
        sent = received = 0
        for _ in range(_LISTENS):
            sent, received = self._overheard()
            if sent >= _SENT or received < _RECEIVED:
                break
        return sent + received if sent >= _SENT or received >= _RECEIVED else 0

    def _overheard(self) -> tuple[int, int]:
        """EtherCAT frames that go out and that come in within LISTEN_S; over as soon as enough go out."""
        sent = received = 0
        with _opened(self.name, _ALL_PROTOCOLS) as ear:
            end = time.monotonic() + LISTEN_S
            while sent < _SENT and (left := end - time.monotonic()) > 0:
                ear.settimeout(left)
                try:
                    data, address = ear.recvfrom(64)
                except TimeoutError:
                    break
                except OSError as fault:
                    raise interface.link_down(self.name) from fault
                if data[12:14] == ETHERTYPE.to_bytes(2, "big"):
                    is_sent = address[2] == socket.PACKET_OUTGOING
                    sent, received = sent + is_sent, received + (not is_sent)
        return sent, received

    def exchange(self, command: Command, position: int, offset: int, data: bytes) -> tuple[bytes, int]:
        """Send one datagram and give its data and working counter as they come back. Raises NoAnswer, ToolFault."""
        return self.exchange_all([(command, position, offset, data)])[0]

    def exchange_all(self, datagrams: list[datagram.Datagram]) -> list[tuple[bytes, int]]:
        """Send datagrams in one frame, again where it is lost: they must be such as may come twice."""
        indices: set[int] = set()
        for _ in range(TRIES):
            self._index = self._index + 1 & 0xFF
            indices.add(self._index)
            self.sent += 1
            try:
                self._socket.send(datagram.frame(self._index, datagrams))
            except OSError as fault:
                raise interface.link_down(self.name) from fault
            if found := self._received(indices):
                return found
        raise NoAnswer

    def _received(self, indices: set[int]) -> list[tuple[bytes, int]]:
        end = time.monotonic() + TIMEOUT_S
        while time.monotonic() < end:
            try:
                received, address = self._socket.recvfrom(2048)
            except TimeoutError:
                return []
            except OSError as fault:
                raise interface.link_down(self.name) from fault
            if address[2] != socket.PACKET_OUTGOING and datagram.is_ours(received, indices):
                return datagram.answers(received)
        return []

    def count(self) -> int:
        """How many slaves count a broadcast read of the AL status; 0 where nothing answers."""
        try:
            return self.exchange(Command.BRD, 0, Register.AL_STATUS, bytes(2))[1]
        except NoAnswer:
            return 0

    def read(self, position: int, address: int, length: int) -> bytes:
        """Registers of the slave at a position (1 is the first). Raises NoAnswer."""
        data, counter = self.exchange(Command.APRD, 1 - position, address, bytes(length))
        if counter != 1:
            raise NoAnswer
        return data

    def sii(self, position: int, word: int) -> bytes:
        """Eight (or four) bytes of a slave's SII from a word address on; only the SII interface is written to.

        Raises NoAnswer, and ToolFault where the slave's own processor holds the SII.
        """
        if position not in self._free_sii:
            if self.read(position, Register.SII_CONFIG, 1)[0] & 1:
                raise ToolFault(
                    f"The SII of slave {position} is held by its own processor and cannot be read now. A write of "
                    '"bus state" INIT gives it back, or switching the slave off and on.'
                )
            self._free_sii.add(position)
        at = 1 - position
        look: list[datagram.Datagram] = [
            (Command.APRD, at, Register.SII_CONTROL, bytes(2)),
            (Command.APRD, at, Register.SII_DATA, bytes(8)),
        ]
        request = struct.pack("<HI", 0x0100, word)
        found = self.exchange_all([(Command.APWR, at, Register.SII_CONTROL, request), *look])
        for _ in range(_SII_LOOKS):
            (control, counter), (data, _) = found[-2:]
            if counter != 1:
                raise NoAnswer
            status = int.from_bytes(control, "little")
            if status & _FAILED:
                raise ToolFault(f"The SII of slave {position} cannot be read: its interface reports 0x{status:04X}.")
            if not status & _BUSY:
                return data if status & 0x40 else data[:4]
            found = self.exchange_all(look)
        raise ToolFault(f"The SII of slave {position} stays busy.")


def is_available() -> bool:
    """Does this system have raw sockets for EtherCAT frames?"""
    return sys.platform.startswith("linux")


def _opened(name: str, protocol: int) -> socket.socket:
    if not is_available():
        raise ToolFault(
            "Looking at a segment without configuring it needs Linux. Here only the bus as configured by Oasis can be "
            'read: plan a write of "bus state".'
        )
    try:
        raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)  # given a protocol here, it hears every interface
    except PermissionError as fault:
        raise interface.not_allowed(name) from fault
    try:
        raw.bind((name, protocol))
    except OSError as fault:
        raw.close()
        raise interface.link_down(name) from fault
    return raw
