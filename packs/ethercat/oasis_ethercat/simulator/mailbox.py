"""The mailbox of one slave: sync managers 0 and 1, replies in order, a lost reply repeated on request.

Source: ETG.1000.4, mailbox; a header of 6 bytes: length, address, channel, type and counter.
"""

import struct
import time
from collections import deque
from collections.abc import Callable

from oasis_ethercat.esc import MAILBOX_FULL, Register
from oasis_ethercat.simulator.device import Mailboxes
from oasis_ethercat.simulator.registers import Registers

COE = 3
ERROR = 0
_UNSUPPORTED, _TOO_SHORT = 0x02, 0x06
"""Details of a mailbox error reply."""
_STATUS_OUT = Register.SYNC_MANAGER + 5
_STATUS_IN = Register.SYNC_MANAGER + 13
_REPEAT = Register.SYNC_MANAGER + 14
_REPEATED = Register.SYNC_MANAGER + 15

Service = Callable[[bytes], list[bytes]]
"""Takes a request without its mailbox header and gives the replies; none where the device stays silent."""


class Mailbox:
    """Requests go to `coe` (None: the device has no CoE); its replies wait here until the master takes them."""

    def __init__(self, boxes: Mailboxes, registers: Registers, coe: Service | None) -> None:
        self.boxes = boxes
        self._registers = registers
        self._coe = coe
        self._waiting: deque[bytes] = deque()
        self._taken = b""
        self._counter = 0
        self._ready_at = 0.0
        self.delay_s = 0.0
        """How long the device takes for an answer."""

    def clear(self) -> None:
        """Both mailboxes empty, as on leaving for INIT."""
        self._waiting.clear()
        self._taken = b""
        for status in (_STATUS_OUT, _STATUS_IN):
            self._registers.memory[status] &= ~MAILBOX_FULL

    def write(self, address: int, data: bytes) -> bool:
        """The master writes into the box; it is full when the last byte is there. False where it is not enabled."""
        if not self._registers.memory[Register.SYNC_MANAGER + 6] & 1:
            return False
        self._registers.memory[address : address + len(data)] = data
        if address + len(data) == self.boxes.out + self.boxes.out_bytes:
            self._receive(self._registers.read(self.boxes.out, self.boxes.out_bytes))
        return True

    def _receive(self, message: bytes) -> None:
        length, _, _, kind = struct.unpack_from("<HHBB", message)
        if kind & 0x0F == COE and self._coe:
            replies = self._answered(self._coe, message[6 : 6 + length])
        else:
            replies = [(ERROR, struct.pack("<HH", 1, _UNSUPPORTED))]
        for kind, reply in replies:
            self.send(kind, reply)

    def send(self, kind: int, message: bytes) -> None:
        """Put a message for the master behind those that wait."""
        self._counter = self._counter % 7 + 1
        self._waiting.append(struct.pack("<HHBB", len(message), 0, 0, kind | self._counter << 4) + message)
        self._ready_at = time.monotonic() + self.delay_s
        self.advance()

    @staticmethod
    def _answered(coe: Service, request: bytes) -> list[tuple[int, bytes]]:
        try:
            return [(COE, reply) for reply in coe(request)]
        except (struct.error, IndexError):
            return [(ERROR, struct.pack("<HH", 1, _TOO_SHORT))]

    def advance(self) -> None:
        """Put the next message into the box where that is empty and the device has had its time."""
        is_empty = not self._registers.memory[_STATUS_IN] & MAILBOX_FULL
        if self._waiting and is_empty and time.monotonic() >= self._ready_at:
            self._place(self._waiting.popleft())

    def _place(self, message: bytes) -> None:
        start = self.boxes.into
        padded = message.ljust(self.boxes.into_bytes, b"\0")
        self._registers.memory[start : start + self.boxes.into_bytes] = padded
        self._registers.memory[_STATUS_IN] |= MAILBOX_FULL

    def read(self, address: int, length: int) -> bytes | None:
        """The master reads from the box; with its last byte the box is empty. None where there is nothing."""
        if not self._registers.memory[_STATUS_IN] & MAILBOX_FULL:
            return None
        data = self._registers.read(address, length)
        if address + length >= self.boxes.into + self.boxes.into_bytes:
            self._taken = self._registers.read(self.boxes.into, self.boxes.into_bytes)
            self._registers.memory[_STATUS_IN] &= ~MAILBOX_FULL
            self.advance()
        return data

    def repeat(self) -> None:
        """Put the last reply back where the master toggled the repeat bit."""
        memory = self._registers.memory
        if not (memory[_REPEAT] ^ memory[_REPEATED]) & 2:
            return
        if self._taken:
            if memory[_STATUS_IN] & MAILBOX_FULL:
                self._waiting.appendleft(self._registers.read(self.boxes.into, self.boxes.into_bytes))
            self._place(self._taken)
        memory[_REPEATED] = memory[_REPEATED] & ~2 | memory[_REPEAT] & 2
