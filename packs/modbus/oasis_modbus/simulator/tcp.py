"""Modbus over TCP: behind an MBAP header (Modbus Messaging on TCP/IP V1.0b, 3.1.3), or with a serial line's frames."""

import asyncio
import struct
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress

from oasis.errors import ConfigError
from oasis_modbus.simulator import rtu
from oasis_modbus.simulator.bus import Bus, Reply

LOOPBACK = "127.0.0.1"
_HEADER = struct.Struct(">HHHB")


@asynccontextmanager
async def listening(bus: Bus, port: int = 0, has_rtu_frames: bool = False) -> AsyncGenerator[int, None]:
    """Serve the bus on loopback; gives the port, a free one for 0. Raises ConfigError when the port is taken."""
    converse = _serial_conversation if has_rtu_frames else _conversation
    tasks: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is not None:
            tasks.add(task)
            task.add_done_callback(tasks.discard)
        try:
            await converse(bus, reader, writer)
        finally:
            writer.close()
            with suppress(OSError, asyncio.CancelledError):
                await writer.wait_closed()

    try:
        server = await asyncio.start_server(serve, LOOPBACK, port)
    except OSError as fault:
        raise ConfigError(
            f"Port {port} of {LOOPBACK} cannot be listened on: {fault.strerror or fault}. "
            "Stop what uses it, or take free ports."
        ) from fault
    try:
        yield int(server.sockets[0].getsockname()[1])
    finally:
        server.close()
        for task in (open_ones := list(tasks)):
            task.cancel()
        await asyncio.gather(*open_ones, return_exceptions=True)


async def _conversation(bus: Bus, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer request after request until the peer leaves or sends what is no Modbus."""
    with suppress(asyncio.IncompleteReadError, OSError):
        while True:
            transaction, protocol, length, unit = _HEADER.unpack(await reader.readexactly(_HEADER.size))
            if protocol != 0 or not 2 <= length <= 254:
                return
            pdu = await reader.readexactly(length - 1)
            reply = await bus.exchange(unit, pdu, is_network=True)
            if reply is None:
                continue
            if reply.closes:
                return
            writer.write(_framed(transaction, reply))
            await writer.drain()


async def _serial_conversation(bus: Bus, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer as a serial server does that passes frames through: units that are not there are silent."""
    frames = rtu.Frames()
    with suppress(OSError):
        while data := await reader.read(512):
            for frame in frames.taken(data):
                reply = await bus.exchange(frame[0], frame[1:-2], is_network=False)
                if reply is None:
                    continue
                if reply.closes:
                    return
                writer.write(rtu.framed(reply))
                await writer.drain()


def _framed(transaction: int, reply: Reply) -> bytes:
    return reply.raw or _HEADER.pack(transaction, 0, len(reply.pdu) + 1, reply.unit) + reply.pdu
