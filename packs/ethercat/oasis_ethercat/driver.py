"""The driver for `ethercat://IFNAME`: what the plant tools call, done in a thread, one call at a time."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from typing import ParamSpec, TypeVar

from oasis.errors import ToolFault
from oasis.plant.driver import Budget, Scan, Sent
from oasis.plant.plan import ApprovedWrite, Frame
from oasis.plant.values import Point, Reading, Value, spelled
from oasis_ethercat import grammar, reading, scan, writing
from oasis_ethercat.grammar import Kind
from oasis_ethercat.segment import Segment

SCHEME = "ethercat://"
T = TypeVar("T")
P = ParamSpec("P")


def interface_of(url: str) -> str:
    """The interface's name in a URL. Raises ToolFault for a URL without one."""
    name = url.strip()[len(SCHEME) :].rstrip("/") if url.strip().lower().startswith(SCHEME) else ""
    if not name or not name.isprintable() or "/" in name or len(name) > 80:
        raise ToolFault(
            f"{spelled(url[:100])} is no EtherCAT address. Write ethercat://IFNAME, such as ethercat://eth1."
        )
    return name


class EthercatDriver:
    """One segment behind one interface. Passive until an approved write configures it."""

    def __init__(self, url: str) -> None:
        name = interface_of(url)
        self.url = SCHEME + name
        self.segment = Segment(name)
        self._one_at_a_time = threading.Lock()

    async def _call(self, work: Callable[P, T], *given: P.args, **named: P.kwargs) -> T:
        def alone() -> T:
            with self._one_at_a_time:
                return work(*given, **named)

        return await asyncio.to_thread(alone)

    def point(self, text: str) -> Point:
        """The point that an item's text means. Raises ToolFault."""
        return grammar.point(text)

    def cells(self, point: Point) -> frozenset[str]:
        """The slave's object, whether by SDO or as process data; else the point itself."""
        target = grammar.target(point)
        return frozenset({replace(target, kind=Kind.OBJECT).address if target.index else target.address})

    def check_writable(self, point: Point) -> None:
        """Raise ToolFault for inputs, and for all subindexes at once."""
        target = grammar.target(point)
        if target.kind is Kind.INPUT:
            raise ToolFault(f"{point} is an input: the slave writes it, the master reads it.")
        if target.is_whole:
            raise ToolFault(f"{point} is all subindexes at once: write one of them.")

    async def scan(self, items: Sequence[str], budget: Budget) -> Scan:
        """The slaves, or details of those that `items` name. Raises ToolFault."""
        return await self._call(scan.scan, self.segment, items, budget)

    async def read(self, points: Sequence[Point]) -> list[Reading]:
        """The points' values; those that do not read say why. Raises ToolFault where nothing can be read at all."""
        return await self._call(reading.read, self.segment, points)

    async def watch(self, points: Sequence[Point], seconds: float, interval_s: float) -> AsyncIterator[Reading]:
        """Each point's first reading, then each change, read every `interval_s` and at the end."""
        clock = asyncio.get_running_loop().time
        end = clock() + seconds
        last: dict[str, tuple[Value | None, str]] = {}
        while True:
            began = clock()
            for found in await self.read(points):
                now = (found.value, found.status)
                if last.get(found.point.address) != now:
                    last[found.point.address] = now
                    yield found
            if began >= end:
                return
            await asyncio.sleep(max(0.0, min(began + interval_s, end) - clock()))

    async def identity(self) -> str:
        """The slaves with a digest of their vendors, products, revisions; empty while another master runs them."""
        return await self._call(self.segment.identity)

    async def encode(self, point: Point, value: Value) -> Frame:
        """The write as it would be sent. Raises ToolFault where it cannot be done now."""
        return await self._call(writing.encode, self.segment, point, value)

    async def write(self, approved: ApprovedWrite) -> Sent:
        """Send an approved plan's write, once."""
        return await self._call(writing.write, self.segment, approved.plan)

    async def close(self) -> None:
        """Outputs at zero, out of OP, to INIT; the interface is let go."""
        await self._call(self.segment.leave)
