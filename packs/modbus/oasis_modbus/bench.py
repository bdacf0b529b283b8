"""Measures the pack: guesses of types on published maps, block reads beside bare pymodbus, and a scan of 247 units."""

import asyncio
import math
import random
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from oasis.plant.driver import Budget
from oasis.plant.values import Value
from oasis_modbus.codec import TYPES, decoded, encoded, limits
from oasis_modbus.driver import ModbusDriver
from oasis_modbus.guess import Run, cut
from oasis_modbus.known_maps import Known, known_maps

# What devices hold, by unit: least, most, and whether near the middle.
_USUAL: Mapping[str, tuple[float, float]] = {
    "V": (215, 245), "A": (0, 40), "W": (-6000, 9000), "VA": (0, 9000), "var": (-2000, 2000), "Hz": (49.9, 50.1),
    "kWh": (1, 60_000), "Wh": (1_000, 40_000_000), "VAh": (1_000, 40_000_000), "varh": (1_000, 9_000_000),
    "kvarh": (1, 9000), "%": (0, 100), "Pct": (-100, 100), "°C": (18, 75), "C": (18, 75), "°": (-90, 90),
}  # fmt: skip
_NO_UNIT = (0, 12)
_NOT_FITTED = 0.05


@dataclass(frozen=True, slots=True)
class Score:
    """Registers whose best guess is right, of all. Right: the same registers, and the same raw value.

    A signed type that holds a positive number is thus right as an unsigned one. `by_map` is the share of each map.
    """

    right: int
    registers: int
    by_map: Mapping[str, float]

    @property
    def share(self) -> float:
        return self.right / self.registers if self.registers else math.nan


def score(folder: Path, rounds: int = 20, seed: int = 1) -> Score:
    """How well types are guessed for the published maps in `folder`, filled with values as their units have them.

    Reproducible: `seed` begins the values, each round has others.
    """
    right: dict[str, int] = {}
    count: dict[str, int] = {}
    for name, points in known_maps(folder).items():
        for n in range(rounds):
            words = filled(points, random.Random(f"{seed} {n} {name}"))
            good, all_of = _scored(points, words)
            right[name] = right.get(name, 0) + good
            count[name] = count.get(name, 0) + all_of
    return Score(sum(right.values()), sum(count.values()), {name: right[name] / count[name] for name in right})


def filled(points: Sequence[Known], dice: random.Random) -> dict[tuple[str, int], int]:
    """Registers for a map's points, by table and address: usual values, some of them marked as not fitted."""
    energies = {p.sf for p in points if p.sf and p.form.unit.endswith("h")}
    exponents = {
        p.name: dice.choice((0, 0, 1) if p.name in energies else (-2, -1, -1, 0))
        for p in points
        if p.name.endswith("_SF")
    }
    words: dict[tuple[str, int], int] = {}
    for point in points:
        raw = exponents.get(point.name)
        value = _value(point, exponents, dice) if raw is None else raw
        order = point.form.order or "ABCD"
        for n, word in enumerate(encoded(value, point.form.type, order, point.registers)):
            words[point.table, point.address + n] = word
    return words


def _value(point: Known, exponents: Mapping[str, int], dice: random.Random) -> Value:
    form = point.form
    if form.type == "string":
        return "Example 12.3"[: point.registers * 2]
    low, high = _USUAL.get(form.unit, _NO_UNIT)
    usual = dice.uniform(low, high)
    if TYPES[form.type].is_float:
        return _float32(0.0 if dice.random() < 0.1 else round(usual, dice.choice((1, 2, 3, 5))))
    least, most = limits(form.type)
    if dice.random() < _NOT_FITTED:
        return least if least < 0 else most
    scale = 10.0 ** exponents[point.sf] if point.sf in exponents else form.scale
    return max(least, min(most, round((abs(usual) if least == 0 else usual) / scale - form.offset / scale)))


def _float32(value: float) -> float:
    """The value as a device's float32 holds it."""
    found = decoded(encoded(value, "float32", "ABCD", 2), "float32")
    return found if isinstance(found, float) else value


def _scored(points: Sequence[Known], words: Mapping[tuple[str, int], int]) -> tuple[int, int]:
    places = _runs(words)
    done = cut([Run(run) for _, _, run in places])
    guesses = {
        (table, first + guess.at): (guess.registers, guess.value)
        for (table, first, _), run in zip(places, done.runs, strict=True)
        for guess in run
    }
    right = 0
    for point in points:
        some = [words[point.table, point.address + n] for n in range(point.registers)]
        true = (point.registers, decoded(some, point.form.type, point.form.order))
        right += point.registers * (guesses.get((point.table, point.address)) == true)
    return right, sum(point.registers for point in points)


def _runs(words: Mapping[tuple[str, int], int]) -> list[tuple[str, int, list[int]]]:
    runs: list[tuple[str, int, list[int]]] = []
    for table, at in sorted(words):
        if runs and runs[-1][0] == table and runs[-1][1] + len(runs[-1][2]) == at:
            runs[-1][2].append(words[table, at])
        else:
            runs.append((table, at, [words[table, at]]))
    return runs


@dataclass(frozen=True, slots=True)
class Throughput:
    """Blocks of 125 registers a second, in turn in one run on one server.

    The driver's and bare pymodbus', each giving a list of numbers; and those that the driver gives as 125 readings.
    """

    driver_per_s: float
    pymodbus_per_s: float
    as_readings_per_s: float

    @property
    def ratio(self) -> float:
        return self.driver_per_s / self.pymodbus_per_s


async def throughput(reads: int = 100, rounds: int = 20) -> Throughput:
    """Measure both on one pymodbus server on the loopback; the best of many short rounds of each counts.

    Whatever else the machine does slows some rounds of both, and is not what is compared.
    """
    from pymodbus.client import AsyncModbusTcpClient  # noqa: PLC0415
    from pymodbus.server import ModbusTcpServer  # noqa: PLC0415
    from pymodbus.simulator import DataType, SimData, SimDevice  # noqa: PLC0415

    device = SimDevice(1, simdata=[SimData(0, values=list(range(125)), datatype=DataType.REGISTERS)])
    server = ModbusTcpServer(device, address=("127.0.0.1", 0))
    await server.serve_forever(background=True)
    listener = getattr(server.transport, "sockets")[0]  # noqa: B009
    port = listener.getsockname()[1]
    client = AsyncModbusTcpClient("127.0.0.1", port=port)
    driver = ModbusDriver(f"modbus://127.0.0.1:{port}/1")
    points = [driver.point("holding 0-124 uint16")]
    rates: dict[str, list[float]] = {"driver": [], "pymodbus": [], "readings": []}
    ways: Mapping[str, Callable[[], Awaitable[object]]] = {
        "driver": lambda: driver.block("holding", 0, 125),
        "pymodbus": lambda: client.read_holding_registers(0, count=125, device_id=1),
        "readings": lambda: driver.read(points),
    }
    try:
        await client.connect()
        for _ in range(rounds):
            for name, way in ways.items():
                if name == "readings" and len(rates[name]) == 3:
                    continue
                began = time.perf_counter()
                for _ in range(reads):
                    await way()
                rates[name].append(reads / (time.perf_counter() - began))
    finally:
        client.close()
        await driver.close()
        await server.shutdown()
    return Throughput(*(max(rates[name]) for name in ways))


@dataclass(frozen=True, slots=True)
class Scanned:
    """A scan of a gateway: units found, requests and seconds spent, and why it stopped (empty: it was whole)."""

    units: int
    requests: int
    seconds: float
    stopped: str


async def scan_247(present: Sequence[int] = (1, 17, 240), seconds: float = 60.0) -> Scanned:
    """Scan a gateway behind which three of 247 units answer and the others are silent."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while request := await reader.read(260):
            if request[6] in present:
                writer.write(request[:4] + bytes([0, 3, request[6], request[7] | 0x80, 2]))
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    budget = Budget(seconds=seconds)
    async with server:
        driver = ModbusDriver(f"modbus://127.0.0.1:{server.sockets[0].getsockname()[1]}")
        try:
            done = await driver.scan([], budget)
        finally:
            await driver.close()
    return Scanned(len(done.found), budget.spent, budget.elapsed_s, done.stopped)
