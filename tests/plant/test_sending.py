"""Sending: whatever interrupts it, how it ended is recorded, or that this is not known."""

import asyncio
from pathlib import Path

import pytest

from oasis.errors import AuditFault, ToolFault
from oasis.plant.audit_writes import writes_of
from oasis.plant.driver import Effect
from oasis.plant.plan import ApprovedWrite
from tests.plant.device import Memory, MemoryDriver
from tests.plant.plants import MEMORY_SITE, Desk


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


async def test_an_outcome_that_cannot_be_recorded_is_still_said(tmp_path: Path, memory: Memory):
    class Vandal(MemoryDriver):
        async def write(self, approved: ApprovedWrite):
            desk.path.write_bytes(b"")
            return await super().write(approved)

    desk = Desk(tmp_path, lambda url: Vandal(memory, url), MEMORY_SITE)
    with pytest.raises(AuditFault, match=r"was sent, and its outcome \(written: .*\) is not in the audit"):
        await desk.write("set_point", 72)
