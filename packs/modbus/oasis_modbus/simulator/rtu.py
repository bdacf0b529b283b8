"""Modbus RTU: its frames, and a line of two pseudo terminals (Modbus over Serial Line V1.02, 2.5.1; POSIX only)."""

import asyncio
import os
import struct
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress

from oasis_modbus.simulator.bus import Bus, Reply

_FIXED = {1: 8, 2: 8, 3: 8, 4: 8, 5: 8, 6: 8, 22: 10, 43: 7}
"""Length of a request with its checksum, by function."""
_COUNTED = {15: 6, 16: 6, 23: 10}
"""Where a request says how many bytes follow."""
_STALE_S = 0.2
"""The beginning of a frame is forgotten when nothing follows for so long."""


def has_terminals() -> bool:
    """Whether this system has pseudo terminals."""
    return hasattr(os, "openpty")


@asynccontextmanager
async def line(bus: Bus) -> AsyncGenerator[str, None]:
    """Serve the bus on a serial line; gives the path of the terminal to open at the other end."""
    import tty  # noqa: PLC0415

    ours, theirs = os.openpty()
    tty.setraw(ours)
    tty.setraw(theirs)
    os.set_blocking(ours, False)
    loop = asyncio.get_running_loop()
    arrived = asyncio.Queue[bytes]()

    def read() -> None:
        with suppress(BlockingIOError):
            arrived.put_nowait(os.read(ours, 4096))

    loop.add_reader(ours, read)
    task = loop.create_task(_conversation(bus, arrived, ours))
    try:
        yield os.ttyname(theirs)
    finally:
        loop.remove_reader(ours)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        os.close(theirs)
        os.close(ours)


async def _conversation(bus: Bus, arrived: asyncio.Queue[bytes], out: int) -> None:
    frames = Frames()
    while True:
        for frame in frames.taken(await arrived.get()):
            reply = await bus.exchange(frame[0], frame[1:-2], is_network=False)
            if reply is not None and not reply.closes:
                with suppress(BlockingIOError):  # nobody reads at the other end: the reply is lost
                    os.write(out, framed(reply))


class Frames:
    """Takes a stream of bytes apart into requests whose checksum is right; what is damaged is dropped."""

    def __init__(self) -> None:
        self._buffer = b""
        self._heard_at = time.monotonic()

    def taken(self, data: bytes) -> list[bytes]:
        """The requests that are whole with this."""
        now = time.monotonic()
        if now - self._heard_at > _STALE_S:
            self._buffer = b""
        self._buffer, self._heard_at = self._buffer + data, now
        frames: list[bytes] = []
        while (length := request_length(self._buffer)) and len(self._buffer) >= length:
            frame, self._buffer = self._buffer[:length], self._buffer[length:]
            if checksum(frame) != 0:
                self._buffer = b""
                break
            frames.append(frame)
        return frames


def framed(reply: Reply) -> bytes:
    """The reply with its unit and checksum."""
    body = bytes((reply.unit,)) + reply.pdu
    return reply.raw or body + struct.pack("<H", checksum(body))


def request_length(buffer: bytes) -> int:
    """How many bytes the request at the front has, 0 while that cannot be said."""
    if len(buffer) < 2:
        return 0
    if (at := _COUNTED.get(buffer[1])) is not None:
        return at + 1 + buffer[at] + 2 if len(buffer) > at else 0
    return _FIXED.get(buffer[1], len(buffer))


def checksum(data: bytes) -> int:
    """CRC-16 of Modbus; 0 over a whole frame that is sound."""
    crc = 0xFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ 0xA001 if crc & 1 else crc >> 1
    return crc
