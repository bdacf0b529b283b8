"""One gateway's wire: one connection, one request at a time, for all drivers that use it."""

import asyncio
from abc import ABC, abstractmethod

from oasis_modbus import faults
from oasis_modbus.endpoint import Endpoint
from oasis_modbus.frames import Reply, parse_rtu, rtu_length, tcp_frame

_REMEMBERED = 600


class Link(ABC):
    """Asks units behind one host and port, or on one serial line, strictly one after another.

    A frame is sent once; nothing is repeated here. Frames are made and told apart by Oasis itself, not by a library: a
    plan shows the very bytes that are sent, and a reply that is late, half, another's or no Modbus is named as such.
    """

    def __init__(self, endpoint: Endpoint, gate: asyncio.Lock) -> None:
        self.endpoint = endpoint
        self.users = 0
        self.is_scanning = False
        self.requests = 0
        self.gate = gate
        self._transaction = 0
        self.abandoned: dict[int, int] = {}
        """Transactions whose reply was given up on, and the unit each was for."""
        self.late: dict[int, Reply] = {}
        """Replies that came after they were given up on, by unit."""

    def frame(self, unit: int, pdu: bytes) -> bytes:
        """The request as it goes over the wire; its transaction id is used by no other."""
        self._transaction = self._transaction % 0xFFFF + 1
        self.abandoned.pop(self._transaction, None)
        return tcp_frame(self._transaction, unit, pdu)

    async def ask(self, unit: int, pdu: bytes, timeout_s: float) -> Reply:
        """The reply to one request. Raises LinkFault in words; an exception of the device is a Reply."""
        async with self.gate:
            return await self._exchange(self.frame(unit, pdu), timeout_s)

    async def send(self, frame: bytes, timeout_s: float) -> Reply:
        """The reply to this very frame, sent once. Raises LinkFault; its `is_sent` says whether it left."""
        async with self.gate:
            return await self._exchange(frame, timeout_s)

    def give_up(self, transaction: int, unit: int) -> None:
        """Note that a reply may still come, and is then to be skipped."""
        self.abandoned[transaction] = unit
        while len(self.abandoned) > _REMEMBERED:
            del self.abandoned[next(iter(self.abandoned))]

    async def renew(self) -> None:
        """End the connection between two requests; the next one makes another."""
        async with self.gate:
            await self.drop()

    def note_stray(self, data: bytes) -> None:
        """Serial frames that came when none was due: in a scan, who sent them is there."""
        while self.is_scanning and (length := rtu_length(data)) and (reply := parse_rtu(data[:length])):
            self.late[reply.unit] = reply
            data = data[length:]

    @abstractmethod
    async def _exchange(self, frame: bytes, timeout_s: float) -> Reply: ...

    @abstractmethod
    async def drop(self) -> None:
        """End the connection; the next request makes another."""

    def checked(self, asked: int, function: int, reply: Reply) -> Reply:
        """The reply, where it is one to this request. Raises LinkFault."""
        if reply.unit != asked:
            raise faults.other_unit(asked, reply.unit)
        if reply.pdu[0] & 0x7F != function:
            raise faults.other_function(function, reply.pdu[0] & 0x7F, reply.unit)
        if reply.pdu[0] & 0x80 and len(reply.pdu) != 2:
            raise faults.garbled(self.endpoint, reply.wire, "an exception has one code")
        return reply
