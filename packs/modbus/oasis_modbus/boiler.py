"""A simulated boiler station on Modbus TCP: what demonstrations and tests read."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pymodbus.server import ModbusTcpServer

UNIT = 1

_COILS = [True, True, False]
"""Coils: burner on, feed pump 1, feed pump 2."""
_DISCRETE = [True, False, True]
"""Discrete inputs: flame seen, low water, door closed."""
_HOLDING = [820, 850, 950, 1]
"""Holding: set point, high warning and high trip in 0.1 degrees Celsius; mode (0 manual, 1 automatic)."""
_INPUT = [783, 1640, 0xCCCD, 0x4144, 1450, 4123, 2]
"""Input: water 0.1 degrees Celsius, pressure 0.001 bar, feed flow (float, m3/h, low word first), pump rpm,
burner hours (two registers, high word second)."""


@asynccontextmanager
async def running_boiler() -> AsyncGenerator[str, None]:
    """Run the boiler on a free loopback port; gives its URL, `modbus://127.0.0.1:PORT/1`."""
    from pymodbus.server import ModbusTcpServer  # noqa: PLC0415
    from pymodbus.simulator import DataType, SimData, SimDevice  # noqa: PLC0415

    def bits(values: list[bool]) -> list[SimData]:
        return [SimData(0, values=[*values, *[False] * (16 - len(values))], datatype=DataType.BITS)]

    def registers(values: list[int]) -> list[SimData]:
        return [SimData(0, values=[*values], datatype=DataType.REGISTERS)]

    device = SimDevice(UNIT, (bits(_COILS), bits(_DISCRETE), registers(_HOLDING), registers(_INPUT)))
    server = ModbusTcpServer(device, address=("127.0.0.1", 0))
    await server.serve_forever(background=True)
    try:
        port = _port(server)
        yield f"modbus://127.0.0.1:{port}/{UNIT}"
    finally:
        await server.shutdown()


def _port(server: "ModbusTcpServer") -> int:
    """The port the system chose; pymodbus keeps the asyncio server in `transport`."""
    listener: Any = server.transport
    return int(listener.sockets[0].getsockname()[1])
