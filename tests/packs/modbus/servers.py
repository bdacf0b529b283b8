"""Devices for the tests: pymodbus' server, servers that answer as a test says, and plans approved for them."""

import asyncio
import logging
import struct
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from oasis_modbus.driver import ModbusDriver
from pymodbus.pdu.device import ModbusDeviceIdentification
from pymodbus.server import ModbusTcpServer
from pymodbus.simulator import DataType, SimData, SimDevice

from oasis.plant.plan import ApprovedWrite, Plan, approve
from oasis.plant.site import Tag
from oasis.plant.values import Reading, Value

logging.getLogger("pymodbus").setLevel(logging.CRITICAL)


@asynccontextmanager
async def pymodbus_device(
    holding: Mapping[int, Sequence[int]] | None = None,
    units: Sequence[int] = (7,),
    action: object = None,
    inputs: Mapping[int, Sequence[int]] | None = None,
    coils: int = 16,
) -> AsyncIterator[str]:
    """A pymodbus server; each unit has the blocks of registers given by first address. The URL without unit."""

    def words(given: Mapping[int, Sequence[int]]) -> list[SimData]:
        return [SimData(at, values=list(some), datatype=DataType.REGISTERS) for at, some in sorted(given.items())]

    def device(unit: int) -> SimDevice:
        bits = [SimData(0, values=[n % 3 == 0 for n in range(coils)], datatype=DataType.BITS)]
        blocks = (bits, bits, words(holding or {0: range(10)}), words(inputs or {0: [42, 43]}))
        return SimDevice(unit, blocks, action=action)  # type: ignore[arg-type]

    identity = ModbusDeviceIdentification(
        info_name={"VendorName": "Acme", "ProductCode": "P1", "MajorMinorRevision": "2"}
    )
    server = ModbusTcpServer([device(unit) for unit in units], identity=identity, address=("127.0.0.1", 0))
    await server.serve_forever(background=True)
    try:
        yield f"modbus://127.0.0.1:{server.transport.sockets[0].getsockname()[1]}"  # type: ignore[union-attr]
    finally:
        await server.shutdown()


@dataclass
class Raw:
    """A server that answers each request with whatever `answer` makes of it; None closes the connection."""

    answer: Callable[[bytes], bytes | None]
    url: str = ""
    requests: list[bytes] = field(default_factory=list)
    connections: int = 0


@asynccontextmanager
async def raw_device(answer: Callable[[bytes], bytes | None], scheme: str = "modbus") -> AsyncIterator[Raw]:
    raw = Raw(answer)
    open_ones: list[asyncio.StreamWriter] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        raw.connections += 1
        open_ones.append(writer)
        while request := await reader.read(260):
            raw.requests.append(request)
            reply = raw.answer(request)
            if reply is None:
                writer.close()
                return
            writer.write(reply)

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    raw.url = f"{scheme}://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield raw
    finally:
        server.close()
        for writer in open_ones:
            writer.close()
        await asyncio.gather(*(writer.wait_closed() for writer in open_ones), return_exceptions=True)
        await server.wait_closed()


def mbap(request: bytes, pdu: bytes, unit: int | None = None) -> bytes:
    """A reply to a TCP request."""
    return request[:4] + struct.pack(">HB", len(pdu) + 1, request[6] if unit is None else unit) + pdu


def registers(request: bytes, words: Mapping[int, int]) -> bytes:
    """A reply to FC03 or FC04 from words by address; exception 2 where one is missing, 1 for other functions."""
    if request[7] not in (3, 4):
        return mbap(request, bytes([request[7] | 0x80, 1]))
    first, count = struct.unpack(">HH", request[8:12])
    if any(at not in words for at in range(first, first + count)):
        return mbap(request, bytes([request[7] | 0x80, 2]))
    data = struct.pack(f">{count}H", *(words[at] for at in range(first, first + count)))
    return mbap(request, bytes([request[7], len(data)]) + data)


@asynccontextmanager
async def driver(url: str, pauses_s: Sequence[float] = (0.001, 0.002, 0.003)) -> AsyncIterator[ModbusDriver]:
    made = ModbusDriver(url, pauses_s)
    try:
        yield made
    finally:
        await made.close()


async def read(url: str, *items: str) -> list[Reading]:
    async with driver(url) as one:
        return await one.read([one.point(item) for item in items])


async def approved(one: ModbusDriver, item: str, value: Value) -> ApprovedWrite:
    """The write as it would be planned, and approved."""
    point = one.point(item)
    frame = await one.encode(point, value)
    tag = Tag("T", one.url, point, is_writable=True)
    plan = Plan("token", tag, Reading(point, None), value, frame, "", time.monotonic())
    return approve(plan, "token", "the test", time.monotonic())
