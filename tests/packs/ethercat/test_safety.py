"""The writer in front of a segment: what it refuses never reaches a slave. The slaves are the witness."""

import tomllib
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from oasis_ethercat.driver import EthercatDriver
from oasis_ethercat.simulator import stations
from oasis_ethercat.simulator.running import RunningSegment

from oasis.errors import WriteRefused
from oasis.plant.driver import Effect
from oasis.plant.site_file import load
from tests.plant.plants import Desk

SITE = '[site]\nname = "segment"\n' + stations.SITE


@pytest.fixture
async def desk(tmp_path: Path, driver: EthercatDriver, segment: RunningSegment) -> AsyncGenerator[Desk]:
    """A session's writer on the segment, with the lab's site file."""
    yield Desk(tmp_path, lambda url: driver, SITE.format(url=segment.url))


def counts(segment: RunningSegment) -> list[tuple[int, int, int]]:
    """What the slaves have seen that could act: state requests, SDO downloads, values taken."""
    seen = [segment.seen(position) for position in range(1, 7)]
    return [(s["state_requests"], s["sdo_downloads"], s["values_written"]) for s in seen]


async def test_a_drive_is_moved_by_approved_plans_alone(desk: Desk, segment: RunningSegment):
    assert (await desk.write("bus", "OP")).effect is Effect.WRITTEN
    for tag, value in (("drive_mode", 3), *(("drive_control", word) for word in (6, 7, 15)), ("drive_speed", 5000)):
        written = await desk.write(tag, value)
        assert (written.effect, written.after) == (Effect.WRITTEN, value), written.words
    assert segment.until(lambda: int(segment.value(6, 0x6064)) > 100)


async def test_after_a_session_the_slaves_are_known_as_before_it(
    desk: Desk, driver: EthercatDriver, segment: RunningSegment
):
    before = await driver.identity()
    await desk.write("bus", "OP")
    await desk.write("bus", "INIT")
    assert "OX-DRIVE" in before
    assert await driver.identity() == before
    segment.sii(4, "product", 0x9999)
    assert await driver.identity() != before


@pytest.mark.parametrize(
    ("tag", "value", "said"),
    [
        ("bus", "BOOT", "only"),
        ("drive_status", 1, "is not to be written"),
        ("drive_acceleration", 250_000, "the most allowed is 200000"),
        ("drive_acceleration", 500, "the least allowed is 1000"),
        ("drive_speed", 30_000, "the most allowed"),
        ("nothing", 1, "has no tag"),
    ],
)
async def test_what_the_site_file_does_not_allow_reaches_no_slave(
    desk: Desk, segment: RunningSegment, tag: str, value: object, said: str
):
    with pytest.raises(WriteRefused, match=said):
        await desk.writer.plan(tag, value)
    assert counts(segment) == [(0, 0, 0)] * 6


async def test_a_plan_that_nobody_approved_reaches_no_slave(desk: Desk, segment: RunningSegment):
    plan = await desk.writer.plan("bus", "OP")
    with pytest.raises(WriteRefused):
        await desk.writer.carry_out("00000000", "Ada")
    assert plan.frame.wire
    assert counts(segment) == [(0, 0, 0)] * 6


async def test_a_plan_is_void_when_a_slave_was_exchanged(desk: Desk, segment: RunningSegment):
    plan = await desk.writer.plan("bus", "PREOP")
    segment.sii(4, "product", 0x9999)
    with pytest.raises(WriteRefused, match=r"was .* when the write was planned and is"):
        await desk.writer.carry_out(plan.token, "Ada")
    assert counts(segment) == [(0, 0, 0)] * 6


async def test_a_plan_is_void_when_the_value_moved(desk: Desk, segment: RunningSegment):
    await desk.write("bus", "PREOP")
    before = counts(segment)
    plan = await desk.writer.plan("drive_acceleration", 50_000)
    segment.put(6, 0x6083, 0, 90_000)
    with pytest.raises(WriteRefused, match="something else changes it"):
        await desk.writer.carry_out(plan.token, "Ada")
    assert counts(segment) == before


async def test_an_approved_write_is_sent_once(desk: Desk, segment: RunningSegment):
    await desk.write("bus", "PREOP")
    plan = await desk.writer.plan("drive_acceleration", 50_000)
    downloads = segment.seen(6)["sdo_downloads"]
    written = await desk.writer.carry_out(plan.token, "Ada")
    assert (written.effect, segment.seen(6)["sdo_downloads"]) == (Effect.WRITTEN, downloads + 1)


def test_the_lab_s_site_file_is_one_that_loads(tmp_path: Path):
    file = tmp_path / "plant.toml"
    file.write_text(SITE.format(url="ethercat://eth9"))
    assert set(load(file, EthercatDriver).tags) == set(tomllib.loads(SITE.format(url="x"))["tags"])


async def test_a_plan_is_void_when_another_output_of_the_slave_was_written_since(desk: Desk, segment: RunningSegment):
    await desk.write("bus", "OP")
    plan = await desk.writer.plan("drive_speed", 100)
    await desk.write("drive_mode", 3)
    written = await desk.writer.carry_out(plan.token, "Ada")
    assert (written.effect, segment.value(6, 0x60FF)) == (Effect.NOT_SENT, 0)
    assert "is not what was approved" in written.words
