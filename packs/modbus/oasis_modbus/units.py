"""One unit behind a link: the functions that read it, each one request."""

import asyncio
import struct
from collections.abc import Sequence
from dataclasses import dataclass

from oasis.errors import ToolFault
from oasis_modbus import faults
from oasis_modbus.codec import unpacked
from oasis_modbus.faults import Broken, Garbled
from oasis_modbus.frames import Reply
from oasis_modbus.link import Link
from oasis_modbus.tables import Table

BUSY = (5, 6, 11)
"""Exceptions that go by: the device or gateway has too much to do. Asked again more slowly."""
PAUSES_S = (0.1, 0.3, 0.9)


class Refused(ToolFault):
    """The device answered with an exception."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


@dataclass(slots=True)
class Unit:
    """Asks one unit. `pauses_s` are the pauses before asking again a device that is busy."""

    link: Link
    number: int
    timeout_s: float
    pauses_s: Sequence[float] = PAUSES_S

    async def values(self, table: Table, first: int, count: int) -> list[int]:
        """Registers (0 to 65535) or bits (0, 1). Raises Refused for an exception, LinkFault for the wire."""
        pdu = struct.pack(">BHH", table.function, first, count)
        reply = await self.patient(pdu)
        data = reply.pdu[2:]
        due = (count + 7) // 8 if table.is_bits else count * 2
        if len(data) != due or reply.pdu[1] != due:
            raise Garbled(
                f"Unit {self.number} was asked for {table.counted(count)} from {first}, {due} bytes, and sent "
                f"{len(data)}{_counted(reply.pdu)}. Nothing of it is used.",
                True,
            )
        if table.is_bits:
            return [data[n // 8] >> n % 8 & 1 for n in range(count)]
        return unpacked(data)

    async def patient(self, pdu: bytes) -> Reply:
        """The good reply to a request that only reads.

        A busy device is asked again after pauses, at last on a new connection; a connection that ended without a
        reply, or a wrong checksum, is asked once more.
        """
        pauses = iter(self.pauses_s)
        is_second = False
        while True:
            try:
                reply = await self.link.ask(self.number, pdu, self.timeout_s)
            except (Broken, Garbled) as fault:
                if is_second or (isinstance(fault, Broken) and not fault.is_idle):
                    raise
                is_second = True
                continue
            if not reply.exception:
                return reply
            pause_s = next(pauses, None) if reply.exception in BUSY else None
            if pause_s is None:
                raise self.refused(pdu[0], reply.exception)
            await asyncio.sleep(pause_s)
            if pause_s == self.pauses_s[-1]:
                await self.link.renew()

    def refused(self, function: int, code: int) -> Refused:
        return Refused(f"unit {self.number} answered function {function:02d} with {faults.exception(code)}", code)


def _counted(pdu: bytes) -> str:
    """What a reply says of its own size, where that is not so."""
    return f", which it counts as {pdu[1]}" if len(pdu) > 1 and pdu[1] != len(pdu) - 2 else ""
