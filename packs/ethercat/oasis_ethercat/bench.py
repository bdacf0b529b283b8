"""How fast the driver is beside bare pysoem: the same slaves, the same run, turn by turn."""

import asyncio
import statistics
import time
from dataclasses import dataclass
from typing import Any

from oasis_ethercat.cyclic import Cyclic
from oasis_ethercat.driver import EthercatDriver
from oasis_ethercat.esc import State
from oasis_ethercat.segment import Segment
from oasis_ethercat.simulator.running import RunningSegment

ROUNDS = 9
_RECEIVE_US = 2000


@dataclass(frozen=True, slots=True)
class Compared:
    """Per second: the driver and bare pysoem, medians of the rounds; `ratio` is the median of the rounds' ratios."""

    driver: float
    bare: float
    ratio: float


def compared(pairs: list[tuple[float, float]]) -> Compared:
    """Medians of (driver, bare) pairs."""
    return Compared(
        statistics.median(pair[0] for pair in pairs),
        statistics.median(pair[1] for pair in pairs),
        statistics.median(pair[0] / pair[1] for pair in pairs),
    )


def cycles(segment: RunningSegment, count: int = 400, rounds: int = ROUNDS) -> Compared:
    """Process data cycles a second in OP: the driver's thread at full speed beside two bare calls in a loop."""
    own = Segment(segment.interface)
    own.initialise()
    try:
        own.bring(State.OP)
        master, paced = own.master, own.cyclic
        assert master is not None and paced is not None  # noqa: S101 - it is in OP
        paced.stop()
        pairs: list[tuple[float, float]] = []
        for _ in range(rounds):
            bare = _bare_cycles(master.handle, count)
            own.cyclic = cyclic = Cyclic(master, period_s=0)
            cyclic.brought([slave.position for slave in master.slaves], State.OP)
            pairs.append((_driver_cycles(cyclic, count), bare))
        return compared(pairs)
    finally:
        own.leave()


def _bare_cycles(handle: Any, count: int) -> float:
    began = time.perf_counter()
    for _ in range(count):
        handle.send_processdata(release_gil=False)
        handle.receive_processdata(_RECEIVE_US, release_gil=False)
    return count / (time.perf_counter() - began)


def _driver_cycles(cyclic: Cyclic, count: int) -> float:
    cyclic.start()
    began, first = time.perf_counter(), cyclic.cycles
    cyclic.wait_cycles(count, 60)
    took, done = time.perf_counter() - began, cyclic.cycles - first
    cyclic.stop()
    return done / took


async def sdo_reads(segment: RunningSegment, item: str, count: int = 100, rounds: int = ROUNDS) -> Compared:
    """SDO reads a second: `count` of `item` (`2 0x6041:0 uint16`) in one call of the driver beside bare `sdo_read`."""
    driver = EthercatDriver(segment.url)
    own = driver.segment
    point = driver.point(item)
    position, place = item.split()[:2]
    index, subindex = (int(part, 0) for part in place.split(":"))
    try:
        await asyncio.to_thread(own.initialise)
        assert own.master is not None  # noqa: S101 - initialised
        handle = own.master.slave(int(position)).handle
        pairs: list[tuple[float, float]] = []
        for _ in range(rounds):
            began = time.perf_counter()
            for _ in range(count):
                handle.sdo_read(index, subindex, release_gil=False)
            bare = count / (time.perf_counter() - began)
            began = time.perf_counter()
            found = await driver.read([point] * count)
            ours = sum(reading.is_good for reading in found) / (time.perf_counter() - began)
            pairs.append((ours, bare))
        return compared(pairs)
    finally:
        await driver.close()
