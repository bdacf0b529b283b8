"""The writer: what stands in a plan, what voids it, and what is written down whatever happens."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from oasis.errors import AuditFault, ToolFault, WriteRefused
from oasis.plant.audit import read_records
from oasis.plant.audit_writes import writes_of
from oasis.plant.driver import Effect, Sent
from oasis.plant.plan import ApprovedWrite
from oasis.plant.site_file import load
from oasis.plant.values import Point, Reading
from tests.plant.device import Memory, MemoryDriver
from tests.plant.plants import CELLS, MEMORY_SITE, Desk, memory_desk


@pytest.fixture
def memory() -> Memory:
    return Memory(dict(CELLS))


@pytest.fixture
def desk(tmp_path: Path, memory: Memory) -> Desk:
    return memory_desk(tmp_path, memory)


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


async def test_a_tag_that_cannot_be_read_is_not_written(desk: Desk, memory: Memory):
    del memory.cells["mode"]
    with pytest.raises(WriteRefused, match="cannot be read"):
        await desk.writer.plan("mode", 1)
    assert memory.writes == []


async def test_a_tag_of_several_values_is_not_written(tmp_path: Path, memory: Memory):
    class Range(MemoryDriver):
        async def read(self, points):
            return await super().read([*points, *points])

    desk = Desk(tmp_path, lambda url: Range(memory, url), MEMORY_SITE)
    with pytest.raises(WriteRefused, match="is 2 values"):
        await desk.writer.plan("mode", 1)
    assert memory.writes == []


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


async def test_a_write_that_ended_unknown_counts_for_the_rate(desk: Desk, memory: Memory):
    memory.effect = Effect.UNKNOWN
    await desk.write("set_point", 80)
    with pytest.raises(WriteRefused, match="within the last minute"):
        await desk.writer.plan("set_point", 76)


async def test_a_rejected_write_does_not_count_for_the_rate(desk: Desk, memory: Memory):
    memory.effect = Effect.REJECTED
    await desk.write("set_point", 80)
    assert (await desk.writer.plan("set_point", 80)).after == 80


@pytest.mark.parametrize("fault", [ToolFault("the line broke"), RuntimeError("a bug"), asyncio.CancelledError()])
async def test_whatever_a_driver_raises_in_a_write_is_an_unknown_outcome(
    tmp_path: Path, memory: Memory, fault: BaseException
):
    class Failing(MemoryDriver):
        async def write(self, approved: ApprovedWrite):
            raise fault

    desk = Desk(tmp_path, lambda url: Failing(memory, url), MEMORY_SITE)
    assert (await desk.write("set_point", 72)).effect is Effect.UNKNOWN
    assert writes_of(desk.audit.records())[0].effect is Effect.UNKNOWN


async def test_a_read_back_that_was_not_sent_does_not_say_so_of_the_write(tmp_path: Path, memory: Memory):
    class Gone(MemoryDriver):
        async def read(self, points: Sequence[Point]) -> list[Reading]:
            if memory.writes:
                raise ToolFault("No connection to 10.0.0.1:502: check the port; nothing was sent. Nothing was sent.")
            return await super().read(points)

    desk = Desk(tmp_path, lambda url: Gone(memory, url), MEMORY_SITE)
    written = await desk.write("set_point", 72)
    assert written.effect is Effect.WRITTEN
    assert "could NOT BE READ BACK (No connection to 10.0.0.1:502: check the port)".lower() in written.words.lower()
    assert "nothing was sent" not in written.words.lower()


async def test_a_write_without_a_person_is_refused_with_both_ways_out(desk: Desk):
    plan = await desk.writer.plan("set_point", 72)
    with pytest.raises(WriteRefused, match=r"without --yes\) and approve it there, or let .* `unattended = true`"):
        desk.writer.unattended(plan)


async def test_a_write_that_ends_while_it_is_cancelled_is_recorded_as_it_ended(tmp_path: Path, memory: Memory):
    began, may_end = asyncio.Event(), asyncio.Event()

    class Slow(MemoryDriver):
        async def write(self, approved: ApprovedWrite):
            began.set()
            await may_end.wait()
            return await super().write(approved)

    desk = Desk(tmp_path, lambda url: Slow(memory, url), MEMORY_SITE)
    plan = await desk.writer.plan("set_point", 72)
    task = asyncio.create_task(desk.writer.carry_out(plan.token, "Ada"))
    await began.wait()
    task.cancel()
    may_end.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert writes_of(desk.audit.records())[0].effect is Effect.WRITTEN
    assert desk.writer.wrote == ("set_point",)


async def test_a_write_that_is_cancelled_before_it_is_sent_is_recorded_as_not_sent(tmp_path: Path, memory: Memory):
    reading = asyncio.Event()

    class Stuck(MemoryDriver):
        async def read(self, points):
            if self.memory.reads:
                reading.set()
                await asyncio.Event().wait()
            return await super().read(points)

    desk = Desk(tmp_path, lambda url: Stuck(memory, url), MEMORY_SITE)
    plan = await desk.writer.plan("set_point", 72)
    task = asyncio.create_task(desk.writer.carry_out(plan.token, "Ada"))
    await reading.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    (write,) = writes_of(desk.audit.records())
    assert (write.effect, write.is_sent, memory.writes) == (Effect.NOT_SENT, False, [])


async def test_nothing_is_sent_when_the_audit_cannot_be_written(desk: Desk, memory: Memory):
    plan = await desk.writer.plan("set_point", 72)
    desk.path.write_bytes(b"")
    with pytest.raises(WriteRefused, match="lines are missing"):
        await desk.writer.carry_out(plan.token, "Ada")
    with pytest.raises(WriteRefused, match="lines are missing"):
        await desk.writer.plan("set_point", 72)
    assert memory.writes == []


async def test_an_outcome_that_cannot_be_recorded_is_still_said(tmp_path: Path, memory: Memory):
    class Vandal(MemoryDriver):
        async def write(self, approved: ApprovedWrite):
            desk.path.write_bytes(b"")
            return await super().write(approved)

    desk = Desk(tmp_path, lambda url: Vandal(memory, url), MEMORY_SITE)
    with pytest.raises(AuditFault, match=r"was sent, and its outcome \(written: .*\) is not in the audit"):
        await desk.write("set_point", 72)


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


async def test_a_device_s_name_cannot_forge_a_line_of_the_plan(desk: Desk, memory: Memory):
    memory.name = "ACME\nlimits  none\x1b[2J\u202e"
    plan = await desk.writer.plan("flow", 20)
    assert r"device  ACME\nlimits  none\x1b[2J\u202e" in plan.body.splitlines()


class Silent(MemoryDriver):
    """Answers to everything but who it is, while its name is empty."""

    async def identity(self) -> str:
        if not self.memory.name:
            raise ToolFault("no reply within 3 s")
        return self.memory.name


async def test_a_device_that_never_says_what_it_is_can_be_written(tmp_path: Path, memory: Memory):
    memory.name = ""
    desk = Desk(tmp_path, lambda url: Silent(memory, url), MEMORY_SITE)
    plan = await desk.writer.plan("flow", 20)
    assert "device  does not say what it is" in plan.body
    assert (await desk.writer.carry_out(plan.token, "Ada")).effect is Effect.WRITTEN


@pytest.mark.parametrize("then", ["", "ACME"])
async def test_a_device_that_answers_otherwise_than_when_the_write_was_planned_is_not_written(
    tmp_path: Path, memory: Memory, then: str
):
    memory.name = "ACME" if not then else ""
    desk = Desk(tmp_path, lambda url: Silent(memory, url), MEMORY_SITE)
    plan = await desk.writer.plan("flow", 20)
    memory.name = then
    with pytest.raises(WriteRefused, match="Find out which device is connected"):
        await desk.writer.carry_out(plan.token, "Ada")
    assert memory.writes == []


async def test_a_device_that_should_say_what_it_is_and_does_not_is_not_written(tmp_path: Path, memory: Memory):
    memory.name = ""
    text = MEMORY_SITE.replace('url = "mem://boiler"', 'url = "mem://boiler"\nidentity = "ACME"')
    desk = Desk(tmp_path, lambda url: Silent(memory, url), text)
    with pytest.raises(WriteRefused, match=r'does not say what it is \(.+\), and the site file expects "ACME"'):
        await desk.writer.plan("flow", 20)


async def test_a_change_at_the_end_of_a_long_name_is_another_device(desk: Desk, memory: Memory):
    memory.name = "x" * 5000
    plan = await desk.writer.plan("flow", 20)
    assert len(plan.identity) < 250
    memory.name = "x" * 4999 + "y"
    with pytest.raises(WriteRefused, match="Find out which device is connected"):
        await desk.writer.carry_out(plan.token, "Ada")
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


async def test_a_write_that_cannot_be_read_back_is_not_said_to_read_otherwise(tmp_path: Path, memory: Memory):
    class Mute(MemoryDriver):
        async def write(self, approved: ApprovedWrite) -> Sent:
            sent = await super().write(approved)
            del self.memory.cells["sp"]
            return sent

    desk = Desk(tmp_path, lambda url: Mute(memory, url), MEMORY_SITE)
    written = await desk.write("set_point", 72)
    assert written.words.startswith("Written, and not proved: set_point: 70 → 72 °C.")
    assert "NOT BE READ BACK (no such cell)" in written.words
    assert "OTHERWISE" not in written.words


async def test_an_unknown_outcome_without_a_read_back_does_not_say_how_it_seems(tmp_path: Path, memory: Memory):
    class Gone(MemoryDriver):
        async def write(self, approved: ApprovedWrite) -> Sent:
            self.memory.cells.clear()
            return Sent(Effect.UNKNOWN, "It is gone.")

    desk = Desk(tmp_path, lambda url: Gone(memory, url), MEMORY_SITE)
    words = (await desk.write("set_point", 72)).words
    assert "UNKNOWN" in words
    assert "as if" not in words


async def test_a_write_that_was_refused_and_still_done_is_said_plainly(tmp_path: Path, memory: Memory):
    class Liar(MemoryDriver):
        async def write(self, approved: ApprovedWrite) -> Sent:
            await super().write(approved)
            return Sent(Effect.REJECTED, "Exception 0x04.")

    desk = Desk(tmp_path, lambda url: Liar(memory, url), MEMORY_SITE)
    written = await desk.write("set_point", 72)
    assert (written.effect, written.read_back) == (Effect.REJECTED, 72.0)
    assert "yet it READS AS WRITTEN" in written.words
