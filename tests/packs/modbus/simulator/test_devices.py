"""The simulated devices, asked by a client that is not Oasis'."""

import asyncio
import os
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from oasis_modbus.simulator.rtu import checksum
from oasis_modbus.simulator.stations import Running, running
from pymodbus.client import AsyncModbusTcpClient
from pymodbus.client.mixin import ModbusClientMixin

Client = AsyncModbusTcpClient
FLOAT = ModbusClientMixin.DATATYPE.FLOAT32


class Clock:
    """Time that goes by when it is told to."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@asynccontextmanager
async def plant(**options: object) -> AsyncIterator[tuple[Running, Client]]:
    async with running({"neighbour_s": 0.0, "clock": Clock(), **options}) as run:
        host, _, port = run.stations[0].url.removeprefix("modbus://").partition(":")
        client = AsyncModbusTcpClient(host, port=int(port.split("/")[0]), timeout=5, retries=0)
        assert await client.connect()
        try:
            yield run, client
        finally:
            client.close()


async def holding(client: Client, address: int, count: int = 1, unit: int = 1) -> list[int]:
    return (await client.read_holding_registers(address, count=count, device_id=unit)).registers


async def inputs(client: Client, address: int, count: int = 1, unit: int = 1) -> list[int]:
    return (await client.read_input_registers(address, count=count, device_id=unit)).registers


async def test_the_boiler_s_map_is_the_one_that_is_documented():
    async with plant() as (_, client):
        assert await holding(client, 0, 4) == [820, 850, 950, 1]
        assert await inputs(client, 0, 7) == [783, 1640, 0xCCCD, 0x4144, 1450, 4123, 2]
        coils = await client.read_coils(0, count=3, device_id=1)
        assert coils.bits[:3] == [True, True, False]


@pytest.mark.parametrize(("order", "address", "value"), [("little", 10, 2.0), ("bytes", 12, 3.0)])
async def test_floats_are_in_two_word_orders(order: str, address: int, value: float):
    async with plant() as (_, client):
        low, high = await holding(client, address, 2)
        words = (high, low) if order == "little" else tuple(w >> 8 | (w & 0xFF) << 8 for w in (high, low))
        assert struct.unpack(">f", struct.pack(">2H", *words)) == (value,)


async def test_a_gap_in_the_map_is_exception_2_and_a_block_over_it_too():
    async with plant() as (_, client):
        for address, count in ((4, 1), (3, 2), (9, 2)):
            reply = await client.read_holding_registers(address, count=count, device_id=1)
            assert reply.exception_code == 2


async def test_a_unit_that_is_not_there_is_the_gateway_s_exception():
    async with plant() as (_, client):
        reply = await client.read_holding_registers(0, count=1, device_id=9)
        assert reply.exception_code == 0x0B


async def test_the_units_say_what_they_are_and_the_neighbour_cannot():
    async with plant() as (run, client):
        said = await client.read_device_information(read_code=1, object_id=0, device_id=1)
        assert said.information == {0: b"Oasis simulators", 1: b"BK-200", 2: b"1.4"}
        assert (await client.read_device_information(device_id=2)).information[1] == b"PS-2"
        assert (await client.read_device_information(device_id=17)).exception_code == 1
        run.faults.switch_on("identity", 1)
        assert (await client.read_device_information(device_id=1)).information[1] == b"BK-300"


async def test_a_higher_set_point_warms_the_water_and_the_pressure_follows():
    async with plant() as (run, client):
        await client.write_register(0, 900, device_id=1)
        clock = run.plant.clock
        assert isinstance(clock, Clock)
        clock.now += 600
        water, pressure = await inputs(client, 0, 2)
        assert 885 <= water <= 915
        assert pressure > 1900


async def test_the_burner_goes_on_and_off_around_its_set_point():
    async with plant() as (run, client):
        clock, seen = run.plant.clock, list[tuple[int, bool]]()
        assert isinstance(clock, Clock)
        for _ in range(200):
            clock.now += 2
            water = (await inputs(client, 0))[0]
            flame = (await client.read_discrete_inputs(0, count=1, device_id=1)).bits[0]
            seen.append((water, flame))
        settled = seen[60:]
        assert {flame for _, flame in settled} == {True, False}
        assert all(800 <= water <= 840 for water, _ in settled)


async def test_a_pump_s_speed_changes_flow_level_and_energy():
    async with plant() as (run, client):
        before = await inputs(client, 0, 10, unit=2)
        await client.write_registers(0, [1000, 1000], device_id=2)
        await client.write_coil(1, True, device_id=2)
        clock = run.plant.clock
        assert isinstance(clock, Clock)
        clock.now += 120
        after = await inputs(client, 0, 10, unit=2)
        flows = client.convert_from_registers(after[:4], FLOAT, word_order="little")
        assert flows == pytest.approx([20.0, 20.0], abs=0.1)
        assert after[4] < before[4]
        assert after[7] > before[7]
        assert after[9] > before[9]
        assert after[5] > 0x8000


async def test_the_same_commands_at_the_same_times_give_the_same_values():
    async def once() -> list[int]:
        async with plant() as (run, client):
            clock = run.plant.clock
            assert isinstance(clock, Clock)
            for seconds, value in ((7.5, 700), (311.0, 880), (90.25, 600)):
                await client.write_register(0, value, device_id=1)
                clock.now += seconds
            return await inputs(client, 0, 7)

    assert await once() == await once()


async def test_speed_makes_the_plant_s_time_go_faster_and_0_holds_it_still():
    async def after(speed: float, seconds: float) -> list[int]:
        async with plant(speed=speed) as (run, client):
            clock = run.plant.clock
            assert isinstance(clock, Clock)
            clock.now += seconds
            return await inputs(client, 0, 7)

    assert await after(10, 6) == await after(1, 60)
    assert await after(0, 1e6) == [783, 1640, 0xCCCD, 0x4144, 1450, 4123, 2]


async def test_a_value_out_of_the_device_s_range_is_exception_3_and_changes_nothing():
    async with plant() as (run, client):
        assert (await client.write_register(0, 1200, device_id=1)).exception_code == 3
        assert (await client.write_register(2, 800, device_id=1)).exception_code == 2
        assert await holding(client, 0, 3) == [820, 850, 950]
        assert [write.is_executed for write in run.witness.writes] == [False, False]


async def test_half_of_a_float_can_be_written_and_a_block_is_written_whole_or_not():
    async with plant() as (_, client):
        words = client.convert_to_registers(4.5, FLOAT, word_order="little")
        await client.write_register(11, words[1], device_id=1)
        assert (await holding(client, 10, 2))[1] == words[1]
        reply = await client.write_registers(0, [700, 2000], device_id=1)
        assert reply.exception_code == 3
        assert await holding(client, 0, 2) == [820, 850]


async def test_the_other_ways_to_write_work_as_well():
    async with plant() as (_, client):
        await client.mask_write_register(address=0, and_mask=0xFFF0, or_mask=0x0001, device_id=1)
        assert await holding(client, 0) == [820 & 0xFFF0 | 1]
        both = await client.readwrite_registers(
            read_address=0, read_count=2, write_address=1, values=[840], device_id=1
        )
        assert both.registers == [820 & 0xFFF0 | 1, 840]
        await client.write_coils(1, [False, True], device_id=1)
        assert (await client.read_coils(0, count=3, device_id=1)).bits[:3] == [True, False, True]


async def test_the_witness_counts_writes_and_keeps_the_last_of_each_address():
    async with plant() as (run, client):
        for value in (700, 710):
            await client.write_register(0, value, device_id=1)
        await client.write_coil(2, True, device_id=1)
        assert run.witness.counts == {(1, "holding", 0): 2, (1, "coil", 2): 1}
        assert run.witness.last == {(1, "holding", 0): (710,), (1, "coil", 2): (1,)}


async def test_requests_that_break_the_protocol_s_limits_are_exception_3():
    async with plant() as (run, _):
        port = int(run.stations[0].url.rpartition(":")[2].split("/")[0])
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            for pdu, code in (
                (b"\x03\x00\x00\x00\x7e", 3),
                (b"\x03\x00\x00\x00\x00", 3),
                (b"\x05\x00\x00\x12\x34", 3),
                (b"\x10\x00\x00\x00\x02\x04\x00\x01", 3),
                (b"\x03\xff\xff\x00\x02", 2),
                (b"\x63\x00", 1),
                (b"\x03\x00", 3),
            ):
                writer.write(struct.pack(">HHHB", 7, 0, len(pdu) + 1, 1) + pdu)
                reply = await reader.readexactly(9)
                assert reply == struct.pack(">HHHBBB", 7, 0, 3, 1, pdu[0] | 0x80, code)
            assert run.witness.writes == []
        finally:
            writer.close()
            await writer.wait_closed()


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="this system has no pseudo terminals")
async def test_the_same_boiler_answers_on_the_serial_line():
    async with running({"clock": Clock()}) as run:
        path = run.stations[-1].url.removeprefix("modbus+rtu://").partition("?")[0]
        terminal = os.open(path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        try:
            request = bytes((1, 3, 0, 0, 0, 4))
            frame = request + struct.pack("<H", checksum(request))
            assert checksum(frame) == 0
            os.write(terminal, frame[:3])
            os.write(terminal, frame[3:])
            reply = await received(terminal, 13)
        finally:
            os.close(terminal)
        assert reply[:3] == bytes((1, 3, 8))
        assert struct.unpack(">4H", reply[3:11]) == (820, 850, 950, 1)
        assert checksum(reply) == 0


async def received(terminal: int, size: int) -> bytes:
    """So many bytes of a terminal."""
    loop, got = asyncio.get_running_loop(), b""
    while len(got) < size:
        ready = loop.create_future()
        loop.add_reader(terminal, lambda ready=ready: ready.done() or ready.set_result(None))
        try:
            await asyncio.wait_for(ready, 5)
        finally:
            loop.remove_reader(terminal)
        got += os.read(terminal, size - len(got))
    return got
