"""Devices and clients that others made: npm's modbus-serial as the device, Debian's mbpoll as the client."""

import asyncio
import re
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from oasis_modbus.simulator.stations import boiler

from oasis.plant.driver import Budget, Effect
from tests.packs.modbus.servers import approved, driver, read

needs_mbpoll = pytest.mark.skipif(not shutil.which("mbpoll"), reason="mbpoll is not installed")

DEVICE = """
const { ServerTCP } = require("modbus-serial");
const holding = new Map([[0, 820], [1, 850], [2, 0xCCCD], [3, 0x4144], [10, 0xFFFF]]);
const coils = new Map([[0, true], [1, false], [2, true]]);
const missing = () => { const e = new Error("no such address"); e.modbusErrorCode = 2; throw e; };
const of = (map) => (at) => map.has(at) ? map.get(at) : missing();
const server = new ServerTCP({
  getHoldingRegister: of(holding), getInputRegister: of(holding), getCoil: of(coils), getDiscreteInput: of(coils),
  setRegister: (at, value) => { of(holding)(at); holding.set(at, value); },
  setCoil: (at, value) => { of(coils)(at); coils.set(at, value); },
}, { host: "127.0.0.1", port: 0, unitID: 5 });
server.on("initialized", () => console.log(server._server.address().port));
"""


@asynccontextmanager
async def modbus_serial() -> AsyncIterator[str]:
    """A device of modbus-serial with unit 5; its URL without unit. Skips where it is not installed."""
    if shutil.which("node") is None:
        pytest.skip("node is not installed")
    found = await asyncio.create_subprocess_exec(
        "node", "-e", "require.resolve('modbus-serial')", stderr=asyncio.subprocess.DEVNULL
    )
    if await found.wait():
        pytest.skip("npm modbus-serial is not installed (npm install modbus-serial, and NODE_PATH)")
    node = await asyncio.create_subprocess_exec("node", "-e", DEVICE, stdout=asyncio.subprocess.PIPE)
    assert node.stdout
    try:
        port = int(await node.stdout.readline())
        yield f"modbus://127.0.0.1:{port}"
    finally:
        node.terminate()
        await node.communicate()


async def test_modbus_serial_s_registers_and_coils_are_read():
    async with modbus_serial() as url:
        readings = await read(
            f"{url}/5", "holding 0-1 uint16", "holding 2 float32 CDAB", "holding 10 int16", "coil 0-2", "input 0 uint16"
        )
    assert [r.value for r in readings] == [820, 850, pytest.approx(12.3), -1, True, False, True, 820]


async def test_modbus_serial_s_gaps_are_named():
    async with modbus_serial() as url:
        readings = await read(f"{url}/5", "holding 0-10 uint16")
    assert [r.point.address for r in readings if not r.is_good] == [f"holding {at}" for at in range(4, 10)]


async def test_modbus_serial_takes_writes_and_gives_them_back():
    async with modbus_serial() as url, driver(f"{url}/5") as one:
        for item, value in (("holding 0 uint16", 835), ("holding 2 float32 CDAB", 0.5), ("coil 1", True)):
            assert (await one.write(await approved(one, item, value))).effect is Effect.WRITTEN
            assert (await one.read([one.point(item)]))[0].value == value
        rejected = await one.write(await approved(one, "holding 500 uint16", 1))
    assert rejected.effect is Effect.REJECTED


async def test_modbus_serial_is_scanned():
    async with modbus_serial() as url, driver(f"{url}/5") as one:
        done = await one.scan(["holding 0-99"], Budget())
    assert [f.item for f in done.found] == ["holding 0-3", "holding 10-10"]


async def polled(url: str, *options: str) -> list[str]:
    """What mbpoll prints of values, for options after unit and address of the URL."""
    match = re.fullmatch(r"modbus://([\d.]+):(\d+)/(\d+)", url)
    assert match
    mbpoll = await asyncio.create_subprocess_exec(
        "mbpoll", "-1", "-m", "tcp", "-p", match[2], "-a", match[3], *options[:-1], match[1], *options[-1].split(),
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    out, _ = await mbpoll.communicate()
    return re.findall(r"^\[\d+\]:\s+(\S+)", out.decode(), re.MULTILINE)


@needs_mbpoll
async def test_mbpoll_and_the_driver_read_the_same():
    """mbpoll counts from 1: its register 1 is wire address 0."""
    async with boiler({}) as stations:
        url = stations[0].url
        polls = await polled(url, "-t", "4", "-r", "1", "-c", "3", "")
        readings = await read(url, "holding 0-2 uint16")
    assert polls == [str(r.value) for r in readings]


@needs_mbpoll
async def test_mbpoll_writes_what_the_driver_reads():
    async with boiler({}) as stations:
        url = stations[0].url
        await polled(url, "-t", "4", "-r", "2", "777")
        (reading,) = await read(url, "holding 1 uint16")
    assert reading.value == 777
