"""How fast the driver is beside bare pysoem: the same slaves, the same run, turn by turn in short rounds.

What else runs on the machine only ever slows a round down, and slows one of two neighbours at random. So the figures
are those of the faster rounds: the upper quartile of each side.
"""

import asyncio
import contextlib
import statistics
import time
from dataclasses import dataclass
from typing import Any

from oasis_ethercat import library
from oasis_ethercat.cyclic import Cyclic
from oasis_ethercat.driver import EthercatDriver
from oasis_ethercat.esc import State
from oasis_ethercat.segment import Segment
from oasis_ethercat.simulator.running import RunningSegment

ROUNDS = 24
_RECEIVE_US = 2000


@dataclass(frozen=True, slots=True)
class Compared:
    """Per second: the driver and bare pysoem, the upper quartile of the rounds of each, and the ratio of these."""

    driver: float
    bare: float
    ratio: float


def compared(pairs: list[tuple[float, float]]) -> Compared:
    """Of (driver, bare) pairs, one for each round."""
    driver, bare = (_upper_quartile([pair[side] for pair in pairs]) for side in (0, 1))
    return Compared(driver, bare, driver / bare)


def _upper_quartile(values: list[float]) -> float:
    return statistics.quantiles(values, n=4, method="inclusive")[2] if len(values) > 1 else values[0]


def cycles(segment: RunningSegment, count: int = 200, rounds: int = ROUNDS) -> Compared:
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


async def sdo_reads(segment: RunningSegment, item: str, count: int = 50, rounds: int = ROUNDS) -> Compared:
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
            bare = _bare_reads(handle, index, subindex, count)
            began = time.perf_counter()
            found = await driver.read([point] * count)
            ours = sum(reading.is_good for reading in found) / (time.perf_counter() - began)
            pairs.append((ours, bare))
        return compared(pairs)
    finally:
        await driver.close()


def _bare_reads(handle: Any, index: int, subindex: int, count: int) -> float:
    """Reads that were answered, a second."""
    unanswered = library.pysoem().WkcError
    answered = 0
    began = time.perf_counter()
    for _ in range(count):
        with contextlib.suppress(unanswered):
            handle.sdo_read(index, subindex, release_gil=False)
            answered += 1
    return answered / (time.perf_counter() - began)
