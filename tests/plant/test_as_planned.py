"""The device and its value, before a write: what they must be, and must still be."""

from pathlib import Path

import pytest

from oasis.errors import ToolFault, WriteRefused
from oasis.plant.driver import Effect
from tests.plant.device import Memory, MemoryDriver
from tests.plant.plants import MEMORY_SITE, Desk


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
