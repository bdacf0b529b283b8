"""A device without a wire: what drivers promise, held in a dictionary. What it saw is its witness."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from oasis.errors import ToolFault
from oasis.plant.driver import Budget, Effect, Found, Scan, Sent
from oasis.plant.pack import Pack
from oasis.plant.plan import ApprovedWrite, Frame
from oasis.plant.values import Form, Point, Reading, Value


@dataclass
class Memory:
    """What the device holds and what it saw. `effect` is what the next write ends with."""

    cells: dict[str, Value] = field(default_factory=dict[str, Value])
    name: str = "ACME boiler 1.0"
    effect: Effect = Effect.WRITTEN
    writes: list[tuple[str, Value]] = field(default_factory=list[tuple[str, Value]])
    reads: int = 0
    closed: int = 0


class MemoryDriver:
    """`mem://NAME` with items `cell NAME`."""

    def __init__(self, memory: Memory, url: str) -> None:
        if url.rstrip("/") == "mem:":
            raise ToolFault(f"{url} names no memory.")
        self.url = url.rstrip("/")
        self.memory = memory

    def point(self, text: str) -> Point:
        kind, _, rest = text.partition(" ")
        if kind != "cell" or not rest:
            raise ToolFault(f"{text!r} is no item; write: cell NAME.")
        name, *unit = rest.split()
        return Point(f"cell {name}", Form(unit=unit[0] if unit else ""))

    def cells(self, point: Point) -> frozenset[str]:
        return frozenset({point.address})

    def check_writable(self, point: Point) -> None:
        if point.address.startswith("cell fixed"):
            raise ToolFault("A cell whose name begins with fixed can only be read.")

    async def scan(self, items: Sequence[str], budget: Budget) -> Scan:
        found: list[Found] = []
        for name in sorted(self.memory.cells):
            if not budget.spend():
                break
            found.append(Found("cell", f"cell {name}", {"value": str(self.memory.cells[name])}))
        return Scan(tuple(found), (), budget.stopped)

    async def read(self, points: Sequence[Point]) -> list[Reading]:
        self.memory.reads += 1
        return [self._reading(point) for point in points]

    async def watch(self, points: Sequence[Point], seconds: float, interval_s: float) -> AsyncIterator[Reading]:
        for point in points:
            yield self._reading(point)
        for point in points:
            cell = point.address.removeprefix("cell ")
            if isinstance(self.memory.cells[cell], int | float):
                self.memory.cells[cell] += 1  # pyright: ignore
            await asyncio.sleep(0)
            yield self._reading(point)

    async def identity(self) -> str:
        return self.memory.name

    async def encode(self, point: Point, value: Value) -> Frame:
        raw = point.form.raw(value)
        return Frame(f"{point.address}={raw}".encode(), f"set {point.address} to raw {raw}")

    async def write(self, approved: ApprovedWrite) -> Sent:
        plan = approved.plan
        cell = plan.tag.point.address.removeprefix("cell ")
        raw = plan.tag.point.form.raw(plan.after)
        self.memory.writes.append((cell, raw))
        if self.memory.effect is Effect.WRITTEN:
            self.memory.cells[cell] = raw
        return Sent(self.memory.effect, f"the memory says {self.memory.effect}")

    async def close(self) -> None:
        self.memory.closed += 1

    def _reading(self, point: Point) -> Reading:
        cell = point.address.removeprefix("cell ")
        if cell not in self.memory.cells:
            return Reading(point, None, "no such cell")
        raw = self.memory.cells[cell]
        return Reading(point, point.form.engineering(raw), raw=repr(raw), where=f"cell {cell}")


def pack(memory: Memory, folder: Path = Path("none")) -> Pack:
    """A pack whose every `mem://` endpoint is this memory."""
    return Pack("memory", {"mem": lambda url: MemoryDriver(memory, url)}, "mem://NAME; items: cell NAME", folder)
