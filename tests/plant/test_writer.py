"""The writer: what stands in a plan, what voids it, and who answers for it."""

import asyncio
from pathlib import Path

import pytest

from oasis.errors import WriteRefused
from oasis.plant.audit import read_records
from oasis.plant.audit_writes import writes_of
from oasis.plant.driver import Effect
from oasis.plant.plan import ApprovedWrite
from oasis.plant.site_file import load
from tests.plant.device import Memory, MemoryDriver
from tests.plant.plants import MEMORY_SITE, Desk, memory_desk


async def test_a_plan_shows_everything_before_anyone_is_asked(desk: Desk):
    plan = await desk.writer.plan("set_point", 72.5)
    assert plan.title == "write set_point: 70 → 72.5 °C"
    assert plan.body == "\n".join(
        [
            "tag     set_point: cell sp of mem://boiler",
            "device  ACME boiler 1.0",
            "before  70 °C (raw 700)",
            "after   72.5 °C",
            "limits  20 to 95 °C, at most 10 °C at once, at most 15 °C a minute",
            f"wire    {plan.frame.wire.hex(' ')} (set cell sp to raw 725.0)",
            f"token   {plan.token}, good for 120 s",
        ]
    )
    assert len(plan.token) == 8
    assert desk.kinds() == ["session", "plan"]


async def test_a_write_by_another_session_voids_a_plan_even_if_the_value_is_as_before(
    desk: Desk, memory: Memory, tmp_path: Path
):
    plan = await desk.writer.plan("flow", 20)
    memory.effect = Effect.UNKNOWN
    await memory_desk(tmp_path, memory, "s2").write("flow", 30)
    with pytest.raises(WriteRefused, match="Another session wrote flow since this was planned"):
        await desk.writer.carry_out(plan.token, "Ada")
    assert memory.writes == [("flow", 30.0)]
    assert "is UNKNOWN" in (await desk.writer.plan("flow", 20)).body


async def test_the_line_that_says_what_is_sent_is_on_disk_before_anything_is(tmp_path: Path, memory: Memory):
    on_disk: list[str] = []

    class Looking(MemoryDriver):
        async def write(self, approved: ApprovedWrite):
            on_disk.extend(record["kind"] for record in read_records(desk.path))
            return await super().write(approved)

    desk = Desk(tmp_path, lambda url: Looking(memory, url), MEMORY_SITE)
    await desk.write("flow", 20)
    assert on_disk == ["session", "plan", "approval", "sending"]


async def test_a_write_without_a_person_is_refused_with_both_ways_out(desk: Desk):
    plan = await desk.writer.plan("set_point", 72)
    with pytest.raises(WriteRefused, match=r"without --yes\) and approve it there, or let .* `unattended = true`"):
        desk.writer.unattended(plan)


async def test_nothing_is_sent_when_the_audit_cannot_be_written(desk: Desk, memory: Memory):
    plan = await desk.writer.plan("set_point", 72)
    desk.path.write_bytes(b"")
    with pytest.raises(WriteRefused, match="lines are missing"):
        await desk.writer.carry_out(plan.token, "Ada")
    with pytest.raises(WriteRefused, match="lines are missing"):
        await desk.writer.plan("set_point", 72)
    assert memory.writes == []


async def test_an_unattended_tag_is_written_with_the_site_file_as_who_approved(desk: Desk, memory: Memory):
    plan = await desk.writer.plan("flow", 20)
    await desk.writer.carry_out(plan.token, desk.writer.unattended(plan))
    assert writes_of(desk.audit.records())[0].by == "the site file (unattended)"
    assert memory.writes == [("flow", 20.0)]


async def test_unattended_ends_when_the_site_file_is_edited(desk: Desk):
    plan = await desk.writer.plan("flow", 20)
    desk.file.write_text(desk.file.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    with pytest.raises(WriteRefused, match="a person's approval only"):
        desk.writer.unattended(plan)


async def test_a_plan_of_one_session_is_void_in_another(desk: Desk, memory: Memory, tmp_path: Path):
    plan = await desk.writer.plan("flow", 20)
    with pytest.raises(WriteRefused, match="in this session"):
        await memory_desk(tmp_path, memory, "s2").writer.carry_out(plan.token, "Ada")
    assert memory.writes == []


async def test_two_writes_at_once_are_sent_one_after_the_other(tmp_path: Path, memory: Memory):
    inside: list[str] = []

    class Watched(MemoryDriver):
        async def write(self, approved: ApprovedWrite):
            inside.append("in")
            await asyncio.sleep(0)
            inside.append("out")
            return await super().write(approved)

    desk = Desk(tmp_path, lambda url: Watched(memory, url), MEMORY_SITE)
    await asyncio.gather(desk.write("flow", 20), desk.write("pump", False), desk.write("mode", 1))
    assert inside == ["in", "out"] * 3


async def test_a_writer_is_bound_to_the_site_file_it_was_made_with(tmp_path: Path, memory: Memory):
    desk = memory_desk(tmp_path, memory)
    (tmp_path / "other").mkdir()
    other_file = tmp_path / "other" / "plant.toml"
    other_file.write_text(MEMORY_SITE, encoding="utf-8")
    other = load(other_file, lambda url: MemoryDriver(memory, url))
    assert other.digest == desk.site.digest
    desk.file.unlink()
    with pytest.raises(WriteRefused, match="cannot be read"):
        await desk.writer.plan("flow", 20)
