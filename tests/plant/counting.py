"""A Modbus TCP server (pymodbus) that counts the writes that reach it: the witness of what was sent."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field


@dataclass
class Counted:
    """Unit 1 on loopback: holding 0 (set point, 0.1 °C) and 1 to 9, coils 0 to 15.

    `loses_replies`: a write is executed and never answered. `moves_to`: what holding 0 reads after any write.
    """

    url: str = ""
    writes: list[tuple[int, int, list[int]]] = field(default_factory=list[tuple[int, int, list[int]]])
    registers: list[int] = field(default_factory=lambda: [700, *range(1, 10)])
    loses_replies: bool = False
    rejects: bool = False
    moves_to: int | None = None
    arrived: asyncio.Event = field(default_factory=asyncio.Event)
    never: asyncio.Event = field(default_factory=asyncio.Event)

    def is_called(self, vendor: str) -> None:
        """What the device says it is from now on (function 43)."""
        from pymodbus.pdu.device import ModbusControlBlock

        ModbusControlBlock().Identity.update({0: vendor, 1: "B-1", 2: "1.0"})


@asynccontextmanager
async def counting() -> AsyncGenerator[Counted, None]:
    from pymodbus.constants import ExcCodes
    from pymodbus.server import ModbusTcpServer
    from pymodbus.simulator import DataType, SimData, SimDevice

    device = Counted()

    async def act(function, _start, address, _count, current, values):
        if not values:
            current[: len(device.registers)] = device.registers
            if function == 3 and device.writes and device.moves_to is not None:
                current[0] = device.moves_to
            return None
        device.writes.append((function, address, [int(value) for value in values]))
        if device.rejects:
            return ExcCodes.ILLEGAL_VALUE
        if function in (6, 16):
            device.registers[address : address + len(values)] = values
        device.arrived.set()
        if device.loses_replies:
            await device.never.wait()
        return None

    registers = SimData(0, values=[*device.registers], datatype=DataType.REGISTERS)
    bits = SimData(0, values=[False] * 16, datatype=DataType.BITS)
    unit = SimDevice(1, ([bits], [bits], [registers], [registers]), action=act)
    server = ModbusTcpServer(unit, address=("127.0.0.1", 0))
    before = {key: server.control.Identity[key] for key in range(3)}
    await server.serve_forever(background=True)
    port = server.transport.sockets[0].getsockname()[1]
    device.url = f"modbus://127.0.0.1:{port}/1?timeout=0.2"
    device.is_called("ACME")
    try:
        yield device
    finally:
        device.never.set()
        server.control.Identity.update(before)
        await server.shutdown()
