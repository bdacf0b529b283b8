"""What became of a write, in words, by its outcome and by what is read afterwards."""

from collections.abc import Sequence
from pathlib import Path

from oasis.errors import ToolFault
from oasis.plant.driver import Effect, Sent
from oasis.plant.plan import ApprovedWrite
from oasis.plant.values import Point, Reading
from tests.plant.device import Memory, MemoryDriver
from tests.plant.plants import MEMORY_SITE, Desk


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
