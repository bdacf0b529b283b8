"""What the site file allows: values, steps and rates, those of other sessions too."""

from pathlib import Path

import pytest

from oasis.errors import WriteRefused
from oasis.plant.driver import Effect
from tests.plant.device import Memory
from tests.plant.plants import Desk, memory_desk


@pytest.mark.parametrize(
    ("tag", "value", "why"),
    [
        ("set_pont", 70, "no tag \"set_pont\"; nothing was sent. Did you mean `set_point`"),
        ("water", 70, "is not to be written"),
        ("mode", 2, "it may be 0, 1, 3 only"),
        ("pump", 2, "on or off is needed"),
        ("flow", 61, "one write may change it by 50"),
    ],
)  # fmt: skip
async def test_what_the_site_file_does_not_allow_is_not_planned(
    desk: Desk, memory: Memory, tag: str, value: object, why: str
):
    with pytest.raises(WriteRefused, match=why):
        await desk.writer.plan(tag, value)
    assert (memory.writes, desk.kinds()) == ([], [])


async def test_changes_within_a_minute_add_up_to_the_rate(desk: Desk, memory: Memory):
    await desk.write("set_point", 80)
    memory.cells["sp"] = 800
    with pytest.raises(WriteRefused, match=r"changed by 10 °C within the last minute.*15 °C a minute.*Wait 60 s"):
        await desk.writer.plan("set_point", 86)
    desk.clock.seconds += 61
    await desk.write("set_point", 86)
    assert memory.writes == [("sp", 800.0), ("sp", 860.0)]


async def test_the_rate_counts_writes_of_other_sessions(desk: Desk, memory: Memory, tmp_path: Path):
    await desk.write("set_point", 80)
    desk.audit.close()
    other = memory_desk(tmp_path, memory, "s2")
    with pytest.raises(WriteRefused, match="within the last minute"):
        await other.writer.plan("set_point", 70)
    assert len(memory.writes) == 1


async def test_a_write_that_ended_unknown_counts_for_the_rate(desk: Desk, memory: Memory):
    memory.effect = Effect.UNKNOWN
    await desk.write("set_point", 80)
    with pytest.raises(WriteRefused, match="within the last minute"):
        await desk.writer.plan("set_point", 76)


async def test_a_rejected_write_does_not_count_for_the_rate(desk: Desk, memory: Memory):
    memory.effect = Effect.REJECTED
    await desk.write("set_point", 80)
    assert (await desk.writer.plan("set_point", 80)).after == 80
