"""A segment: each datagram of a frame passes the slaves in order, as on the wire.

Source: ETG.1000.4, EtherCAT frame: 14 bytes Ethernet, 2 bytes length and type, then datagrams of a 10-byte header,
data and a 2-byte working counter.
"""

import struct
import time
from collections.abc import Sequence

from oasis_ethercat.esc import Command, Register
from oasis_ethercat.simulator.slave import Slave

_HEADER = struct.Struct("<BBHHH")
_AUTO = frozenset({Command.APRD, Command.APWR, Command.APRW, Command.ARMW})
_STATION = frozenset({Command.FPRD, Command.FPWR, Command.FPRW, Command.FRMW})
_BROADCAST = frozenset({Command.BRD, Command.BWR, Command.BRW})
_LOGICAL = frozenset({Command.LRD, Command.LWR, Command.LRW})
_READ_WRITE_MULTIPLE = frozenset({Command.ARMW, Command.FRMW})
_READS = frozenset({1, 3, 4, 6, 7, 9, 13, 14})
_WRITES = frozenset({2, 3, 5, 6, 8, 9})
_BOTH = frozenset({3, 6, 9})


_STEP_S = 0.004
"""Devices are brought up to now by each exchange of process data, and else as often as this."""


class Segment:
    """Slaves in a line. `cut` is the first position that is gone, with all behind it; None where all are there.

    `counter_error` is added to the working counter of process data; `drop` is how many frames are still to be lost,
    `drop_writes` how many of those that write a register, by its address.
    """

    def __init__(self, slaves: Sequence[Slave]) -> None:
        self._all: tuple[Slave, ...] = ()
        self.slaves: tuple[Slave, ...] = ()
        self._advanced = 0.0
        self.frames = self.counter_error = self.drop = 0
        self.drop_writes: dict[int, int] = {}
        self.plug(slaves)

    def plug(self, slaves: Sequence[Slave]) -> None:
        """Have these slaves from now on, and no fault."""
        self._all = tuple(slaves)
        self.frames = self.counter_error = self.drop = 0
        self.drop_writes = {}
        self.cut_before(None)

    def cut_before(self, position: int | None) -> None:
        """Take away the slaves from `position` on (1 is the first); None plugs all in again."""
        count = len(self._all) if position is None else position - 1
        self.slaves = self._all[:count]
        for number, slave in enumerate(self._all, 1):
            is_linked = number != count and number < len(self._all)
            if slave.registers.word(Register.DL_STATUS) & 0x20 and not is_linked:
                lost = Register.LOST_LINKS + 1
                slave.registers.memory[lost] = min(255, slave.registers.memory[lost] + 1)
            slave.registers.put(Register.DL_STATUS, 0x5A31 if is_linked else 0x5611)

    def advance(self) -> None:
        """Bring every slave up to now: time goes on for those that are cut off, too."""
        self._advanced = now = time.monotonic()
        for slave in self._all:
            slave.advance(now)

    def frame(self, received: bytes) -> bytes | None:
        """The frame as it comes back, or None where it is lost."""
        self.frames += 1
        if received[16] in _LOGICAL or time.monotonic() - self._advanced > _STEP_S:
            self.advance()
        if not self.slaves or self._is_lost(received):
            return None
        frame = bytearray(received)
        end = min(len(frame), (frame[14] | (frame[15] & 0x07) << 8) + 16)
        at, more = 16, True
        while more and at + 12 <= end:
            at, more = self._datagram(frame, at)
        frame[6] |= 2
        return bytes(frame)

    def _is_lost(self, frame: bytes) -> bool:
        if self.drop:
            self.drop -= 1
            return True
        if not self.drop_writes:
            return False
        command, _, _, offset, flags = _HEADER.unpack_from(frame, 16)
        written = range(offset, offset + (flags & 0x07FF)) if command in _WRITES else range(0)
        for address, left in self.drop_writes.items():
            if left and address in written:
                self.drop_writes[address] -= 1
                return True
        return False

    def _datagram(self, frame: bytearray, at: int) -> tuple[int, bool]:
        """Process the datagram at `at`; gives where the next one begins and whether there is one."""
        command, _, position, offset, flags = _HEADER.unpack_from(frame, at)
        length: int = flags & 0x07FF
        data = frame[at + 10 : at + 10 + length]
        counter = frame[at + 10 + length] | frame[at + 11 + length] << 8
        if command in _LOGICAL:
            now = time.monotonic()
            start = position | offset << 16
            counter += sum([slave.logical(command, start, data, now) for slave in self.slaves])
            counter += self.counter_error
        else:
            passed, counted = self._physical(command, position, offset, data)
            counter += counted
            struct.pack_into("<H", frame, at + 2, passed)
        frame[at + 10 : at + 10 + length] = data
        struct.pack_into("<H", frame, at + 10 + length, counter & 0xFFFF)
        return at + 12 + length, bool(flags & 0x8000)

    def _physical(self, command: int, position: int, offset: int, data: bytearray) -> tuple[int, int]:
        """Reads and writes by position, station address or broadcast: the position counted on, the counter."""
        counter = 0
        now = time.monotonic()
        for slave in self.slaves:
            is_hit = (
                (command in _AUTO and position == 0)
                or (command in _STATION and position == slave.station_address)
                or command in _BROADCAST
            )
            if is_hit:
                counter += _exchange(slave, command, offset, data, now)
            elif command in _READ_WRITE_MULTIPLE and slave.write(offset, bytes(data), now):
                counter += 1
            if command in _AUTO or command in _BROADCAST:
                position = position + 1 & 0xFFFF
        return position, counter


def _exchange(slave: Slave, command: int, offset: int, data: bytearray, now: float) -> int:
    """One slave answers one physical datagram; a broadcast read ORs what is there."""
    sent = bytes(data)
    counter = 0
    if command in _READS and (read := slave.read(offset, len(data))) is not None:
        if command in _BROADCAST:
            data[:] = bytes(a | b for a, b in zip(sent, read, strict=True))
        else:
            data[:] = read
        counter = 1
    if command in _WRITES and slave.write(offset, sent, now):
        counter += 2 if command in _BOTH else 1
    return counter
