"""Watching points: the first value, then changes."""

from oasis_ethercat.driver import EthercatDriver
from oasis_ethercat.simulator.running import RunningSegment

from tests.packs.ethercat.segments import bring


async def test_a_change_is_seen_once(driver: EthercatDriver, segment: RunningSegment):
    await bring(driver, "SAFEOP")
    values: list[object] = []
    async for reading in driver.watch([driver.point("2 in 0x6000:1")], 60, 0.01):
        values.append(reading.value)
        if len(values) == 2:
            break
        segment.put(2, 0x6000, 1, True)
    assert values == [False, True]


async def test_each_entry_of_a_range_is_watched_by_itself(driver: EthercatDriver):
    await bring(driver, "SAFEOP")
    seen = [reading.point.address async for reading in driver.watch([driver.point("2 in")], 0.01, 0.02)]
    assert seen == [f"2 in 0x60{n}0:1" for n in range(8)]


async def test_what_changed_by_the_end_is_seen_though_the_interval_is_longer(
    driver: EthercatDriver, segment: RunningSegment
):
    await bring(driver, "SAFEOP")
    values: list[object] = []
    async for reading in driver.watch([driver.point("2 in 0x6000:1")], 0.3, 60):
        values.append(reading.value)
        segment.put(2, 0x6000, 1, True)
        assert driver.segment.cyclic
        assert driver.segment.cyclic.wait_good(2, 10)
    assert values == [False, True]
