"""Modbus on a serial line."""

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from oasis_modbus import faults
from oasis_modbus.endpoint import Endpoint
from oasis_modbus.frames import Reply, rtu_frame
from oasis_modbus.hearing import MOST_BYTES, Hearing
from oasis_modbus.link import Link

if TYPE_CHECKING:
    from serial import Serial

_PAUSE_S = 0.25
"""How long a reply may stop on its way: adapters pass on what they heard in pieces."""
_SLICE_S = 0.02
"""How long one look at the port waits. It is set once: some ports refuse to be set again while they are open."""


class SerialLink(Link):
    """Serial frames through pyserial. The port is used in one thread of its own; a request is never cut off."""

    def __init__(self, endpoint: Endpoint, gate: asyncio.Lock) -> None:
        super().__init__(endpoint, gate)
        self._port: Serial | None = None
        self._thread = ThreadPoolExecutor(1, "modbus-serial")
        self._is_uneasy = False
        self._echoes = False

    def frame(self, unit: int, pdu: bytes) -> bytes:
        return rtu_frame(unit, pdu)

    async def drop(self) -> None:
        await asyncio.get_running_loop().run_in_executor(self._thread, self._close)
        if self.users <= 0:
            self._thread.shutdown()

    async def _exchange(self, frame: bytes, timeout_s: float) -> Reply:
        self.requests += 1
        asked = asyncio.get_running_loop().run_in_executor(self._thread, self._ask, frame, timeout_s)
        try:
            return await asyncio.shield(asked)
        except asyncio.CancelledError:
            await asyncio.wait([asked])
            if not asked.cancelled():
                asked.exception()
            raise

    def _ask(self, frame: bytes, timeout_s: float) -> Reply:
        port = self._opened()
        hearing = Hearing(frame, self._echoes)
        try:
            self._settle(port)
            port.write(frame)
            port.flush()
            self._is_uneasy = True
            reply = _heard(port, hearing, timeout_s, max(_PAUSE_S, 20 * self.endpoint.line.byte_s))
        except OSError as fault:
            self._close()
            raise faults.broken(self.endpoint, bytes(hearing.received)) from fault
        finally:
            self._echoes = hearing.echoes
        if reply is None and hearing.is_spoiled:
            raise faults.garbled(self.endpoint, bytes(hearing.received), "its checksum is wrong")
        if reply is None:
            raise faults.silent(self.endpoint, frame[0], timeout_s, bytes(hearing.received))
        checked = self.checked(frame[0], frame[1], reply)
        self._is_uneasy = False
        return checked

    def _settle(self, port: "Serial") -> None:
        """The pause before a frame: 3.5 characters (Serial Line V1.02, 2.5.1.1); after a fault, until nothing comes."""
        quiet_s = max(3.5 * self.endpoint.line.byte_s, 0.002)
        if self._is_uneasy:
            until = time.monotonic() + self.endpoint.timeout_s
            stray = bytearray()
            while (piece := port.read(MOST_BYTES)) and time.monotonic() < until:
                stray += piece
            self.note_stray(bytes(stray))
        else:
            time.sleep(quiet_s)
        port.reset_input_buffer()

    def _opened(self) -> "Serial":
        if self._port is None:
            try:
                from serial import Serial  # noqa: PLC0415
            except ImportError as fault:
                raise faults.Unreachable(
                    "Serial lines need pyserial, which is not installed here; nothing was sent. Install it: "
                    "pip install pyserial.",
                    False,
                ) from fault
            line = self.endpoint.line
            try:
                self._port = Serial(
                    self.endpoint.host,
                    line.baud,
                    line.bits,
                    line.parity,
                    line.stop,
                    _SLICE_S,
                    write_timeout=5,
                    exclusive=True,
                )
            except (ValueError, *_termios_faults()) as fault:
                raise faults.unsettable(self.endpoint, str(fault.args[-1] if fault.args else fault)[:120]) from fault
            except OSError as fault:
                raise faults.unreachable(self.endpoint, str(fault)[:120]) from fault
        return self._port

    def _close(self) -> None:
        port, self._port = self._port, None
        if port:
            port.close()


def _heard(port: "Serial", hearing: Hearing, timeout_s: float, pause_s: float) -> Reply | None:
    """The reply, or None where it is spoiled or did not come in time.

    One that has begun is heard to its end: at 1200 baud 125 registers take more than two seconds. It is over when
    nothing comes for `pause_s`.
    """
    until = time.monotonic() + timeout_s
    while (reply := hearing.reply()) is None and not hearing.is_spoiled and time.monotonic() < until:
        if piece := port.read(max(1, min(port.in_waiting, MOST_BYTES - len(hearing.received)))):
            hearing.received += piece
            until = max(until, time.monotonic() + pause_s)
    return reply


def _termios_faults() -> tuple[type[Exception], ...]:
    """What POSIX raises for settings that a port does not take; nothing of the kind on Windows."""
    try:
        import termios  # noqa: PLC0415
    except ImportError:
        return ()
    return (termios.error,)
