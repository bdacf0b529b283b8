"""Taking a write back: a plan of its own, for what the write found."""

from pathlib import Path

import pytest

from oasis.errors import WriteRefused
from tests.plant.device import Memory
from tests.plant.plants import MEMORY_SITE, Desk, memory_desk


async def test_a_write_is_taken_back_by_a_plan_of_its_own(desk: Desk, memory: Memory):
    first = await desk.write("flow", 20)
    plan = await desk.writer.revert(first.plan.token)
    assert (plan.before.value, plan.after, plan.why) == (20.0, 10.0, f"takes back {first.plan.token}")
    await desk.writer.carry_out(plan.token, "Ada")
    assert memory.cells["flow"] == 10.0


async def test_taking_back_keeps_to_the_step_and_names_the_steps(desk: Desk, memory: Memory):
    first = await desk.write("flow", 20)
    memory.cells["flow"] = 90.0
    with pytest.raises(WriteRefused, match="Go in steps, each planned and approved: 40, 10"):
        await desk.writer.revert(first.plan.token)


async def test_what_was_never_sent_cannot_be_taken_back(desk: Desk):
    plan = await desk.writer.plan("flow", 20)
    with pytest.raises(WriteRefused, match="Nothing has been written yet"):
        await desk.writer.revert(plan.token)


@pytest.mark.parametrize(
    ("was", "now"), [("cell flow", "cell mode2"), ('type = "float32"', 'type = "float32"\nscale = 2')]
)
async def test_a_tag_that_means_something_else_now_is_not_taken_back(
    desk: Desk, memory: Memory, tmp_path: Path, was: str, now: str
):
    first = await desk.write("flow", 20)
    desk.audit.close()
    desk.file.write_text(MEMORY_SITE.replace(was, now), encoding="utf-8")
    other = memory_desk(tmp_path, memory, "s2")
    with pytest.raises(WriteRefused, match="is no longer cell flow"):
        await other.writer.revert(first.plan.token)


async def test_a_write_of_a_tag_that_has_another_name_now_is_taken_back(desk: Desk, memory: Memory, tmp_path: Path):
    first = await desk.write("flow", 20)
    desk.audit.close()
    desk.file.write_text(MEMORY_SITE.replace("[tags.flow]", "[tags.feed_flow]"), encoding="utf-8")
    plan = await memory_desk(tmp_path, memory, "s2").writer.revert(first.plan.token)
    assert (plan.tag.name, plan.before.value, plan.after) == ("feed_flow", 20.0, 10.0)


async def test_a_write_of_a_tag_that_may_only_be_read_now_is_not_taken_back(desk: Desk, memory: Memory, tmp_path: Path):
    first = await desk.write("mode", 1)
    desk.audit.close()
    text = MEMORY_SITE.replace("write = true\nvalues = [0, 1, 3]", "")
    desk.file.write_text(text, encoding="utf-8")
    with pytest.raises(WriteRefused, match="mode is not to be written"):
        await memory_desk(tmp_path, memory, "s2").writer.revert(first.plan.token)
