"""One reading exchange with a device."""

import contextlib
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from oasis.errors import ToolFault
from oasis_modbus import faults
from oasis_modbus.endpoint import Endpoint

if TYPE_CHECKING:
    from pymodbus.client import AsyncModbusTcpClient
    from pymodbus.pdu import ModbusPDU

TIMEOUT_S = 3.0


@dataclass(frozen=True, slots=True)
class Table:
    """A kind of data in a device. `most` is how many one request may ask for; `base` is what documents count from."""

    name: str
    function: int
    words: str
    most: int
    base: int
    is_bits: bool


# Modbus Application Protocol V1.1b3, 6.1 to 6.4; the bases are the usual six-digit document numbers.
TABLES = {
    "coil": Table("coil", 1, "coils", 2000, 1, True),
    "discrete": Table("discrete", 2, "discrete inputs", 2000, 100_001, True),
    "holding": Table("holding", 3, "holding registers", 125, 400_001, False),
    "input": Table("input", 4, "input registers", 125, 300_001, False),
}


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back: registers (0 to 65535) or bits (0, 1), and both frames as they went over the wire."""

    values: Sequence[int]
    request: bytes
    reply: bytes


async def exchange(endpoint: Endpoint, table: Table, address: int, count: int, timeout_s: float = TIMEOUT_S) -> Answer:
    """Ask once, on a connection of its own. Raises ToolFault in words for whatever goes wrong; nothing is repeated."""
    from pymodbus.client import AsyncModbusTcpClient  # noqa: PLC0415
    from pymodbus.exceptions import ConnectionException, ModbusException  # noqa: PLC0415

    _quiet()
    sent, received = bytearray(), bytearray()

    def trace(is_sending: bool, data: bytes) -> bytes:
        if is_sending:
            sent.extend(data)
        else:
            received[:] = data
        return data

    where = f"{endpoint.host}:{endpoint.port}"
    client = AsyncModbusTcpClient(
        endpoint.host, port=endpoint.port, timeout=timeout_s, retries=0, reconnect_delay=0, trace_packet=trace
    )
    try:
        if not await client.connect():
            raise ToolFault(faults.unreachable(where))
        reply = await _function(client, table)(address, count=count, device_id=endpoint.unit)
    except ConnectionException as fault:
        raise ToolFault(faults.unreachable(where)) from fault
    except ModbusException as fault:
        raise ToolFault(_no_reply(endpoint, where, bytes(received), timeout_s)) from fault
    finally:
        with contextlib.suppress(OSError):
            client.close()
    return Answer(_checked(reply, endpoint, table, count), bytes(sent), bytes(received))


def _function(client: "AsyncModbusTcpClient", table: Table) -> "Callable[..., Awaitable[ModbusPDU]]":
    return {
        1: client.read_coils,
        2: client.read_discrete_inputs,
        3: client.read_holding_registers,
        4: client.read_input_registers,
    }[table.function]


def _checked(reply: "ModbusPDU", endpoint: Endpoint, table: Table, count: int) -> list[int]:
    """The values of a good reply. pymodbus does not raise for a device's error, and does not check unit 0."""
    if reply.dev_id != endpoint.unit:
        raise ToolFault(faults.other_unit(endpoint.unit, reply.dev_id))
    if reply.isError():
        code = reply.exception_code
        raise ToolFault(f"{endpoint} answered function {table.function:02d} with {faults.exception(code)}.")
    values = [int(bit) for bit in reply.bits][:count] if table.is_bits else list(reply.registers)
    if len(values) != count:
        raise ToolFault(f"{endpoint} was asked for {count} {table.words} and sent {len(values)}; nothing is used.")
    return values


def _no_reply(endpoint: Endpoint, where: str, received: bytes, timeout_s: float) -> str:
    """Why there is no usable reply. The seventh byte of a frame is the unit that answered (MBAP header)."""
    if len(received) > 6 and received[6] != endpoint.unit:
        return faults.other_unit(endpoint.unit, received[6])
    if received:
        return f"{where} sent something that is not a Modbus TCP reply: {received[:32].hex(' ')}. Nothing was read."
    return faults.silent(where, endpoint.unit, timeout_s)


def _quiet() -> None:
    """Without a handler, pymodbus' log lines would go to the user's terminal."""
    log = logging.getLogger("pymodbus")
    if not log.handlers:
        log.addHandler(logging.NullHandler())
