"""Segments, drivers and approved writes for the tests of the EtherCAT pack."""

import time
from collections.abc import Generator
from contextlib import contextmanager

import pytest
from oasis_ethercat.driver import EthercatDriver
from oasis_ethercat.simulator.running import RunningSegment, running_segment
from oasis_ethercat.simulator.veth import NoSegmentHere

from oasis.plant.driver import Effect, Sent
from oasis.plant.plan import ApprovedWrite, Plan, approve
from oasis.plant.site import Tag
from oasis.plant.values import Reading, Value


@contextmanager
def plugged(*devices: str) -> Generator[RunningSegment]:
    """A running segment; the test is skipped with the reason where there can be none."""
    context = running_segment(*devices)
    try:
        run = context.__enter__()
    except NoSegmentHere as fault:
        pytest.skip(str(fault))
    try:
        yield run
    finally:
        context.__exit__(None, None, None)


async def approved(driver: EthercatDriver, item: str, value: Value) -> ApprovedWrite:
    """An approved write of a point, which need not be readable."""
    point = driver.point(item)
    frame = await driver.encode(point, value)
    plan = Plan("t0", Tag("x", driver.url, point, True), Reading(point, 0), value, frame, "", time.monotonic())
    return approve(plan, "t0", "Ada", time.monotonic())


async def write(driver: EthercatDriver, item: str, value: Value) -> Sent:
    """Plan, approve and send one write."""
    return await driver.write(await approved(driver, item, value))


async def read(driver: EthercatDriver, *items: str) -> list[Reading]:
    return await driver.read([driver.point(item) for item in items])


async def value(driver: EthercatDriver, item: str) -> Value | None:
    return (await read(driver, item))[0].value


async def bring(driver: EthercatDriver, state: str) -> None:
    """Write the bus state; it is reached."""
    sent = await write(driver, "bus state", state)
    assert sent.effect is Effect.WRITTEN, sent.words
