"""The simulated devices, asked by programs that have nothing to do with Oasis: mbpoll (libmodbus) on TCP and RTU."""

import asyncio
import re
import shutil

import pytest
from oasis_modbus.simulator.rtu import has_terminals
from oasis_modbus.simulator.stations import Running, running

if shutil.which("mbpoll") is None:
    pytest.skip("mbpoll is not installed", allow_module_level=True)

STILL = {"speed": 0, "neighbour_s": 0.0}


async def mbpoll(*arguments: object) -> str:
    """What it prints. Its addresses are 1-based."""
    process = await asyncio.create_subprocess_exec(
        *("mbpoll", "-1", "-q", *map(str, arguments)),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    async with asyncio.timeout(20):
        out, _ = await process.communicate()
    return out.decode()


def values(printed: str) -> list[str]:
    return re.findall(r"^\[\d+\]:\s+(\S+)", printed, re.MULTILINE)


def on_tcp(run: Running, unit: int) -> list[object]:
    port = run.stations[0].url.rpartition(":")[2].partition("/")[0]
    return ["-m", "tcp", "-p", port, "-a", unit, "127.0.0.1"]


async def test_registers_and_coils_are_read_over_tcp():
    async with running(STILL) as run:
        assert values(await mbpoll("-t", 4, "-r", 1, "-c", 4, *on_tcp(run, 1))) == ["820", "850", "950", "1"]
        assert values(await mbpoll("-t", 0, "-r", 1, "-c", 3, *on_tcp(run, 1))) == ["1", "1", "0"]
        assert values(await mbpoll("-t", "3:float", "-r", 3, *on_tcp(run, 1))) == ["12.3"]


async def test_a_write_over_tcp_is_executed_and_seen():
    async with running(STILL) as run:
        assert "Written 1 references" in await mbpoll("-t", 4, "-r", 1, *on_tcp(run, 1), 700)
        assert run.witness.last == {(1, "holding", 0): (700,)}
        assert run.plant.boiler.set_point == 70.0


async def test_a_gap_is_an_illegal_data_address():
    async with running(STILL) as run:
        assert "Illegal data address" in await mbpoll("-t", 4, "-r", 5, "-c", 1, *on_tcp(run, 1))


@pytest.mark.skipif(not has_terminals(), reason="this system has no pseudo terminals")
async def test_both_units_answer_on_the_serial_line():
    async with running(STILL) as run:
        path = run.stations[-1].url.removeprefix("modbus+rtu://").partition("?")[0]
        line = ["-m", "rtu", "-b", 19200, "-P", "none", path]
        assert values(await mbpoll("-t", 4, "-r", 1, "-c", 4, "-a", 1, *line)) == ["820", "850", "950", "1"]
        assert values(await mbpoll("-t", 3, "-r", 5, "-c", 1, "-a", 2, *line)) == ["2460"]
        assert "Written 1 references" in await mbpoll("-t", 4, "-r", 2, "-a", 2, *line, 250)
        assert run.witness.last == {(2, "holding", 1): (250,)}
