"""The OPC UA driver: one server, one session, opened when first used and again when it was lost."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from oasis.errors import ToolFault
from oasis.plant.driver import Budget, Effect, Found, Scan, Sent
from oasis.plant.plan import ApprovedWrite, Frame
from oasis.plant.values import Point, Reading, Value
from oasis_opcua import address, items

if TYPE_CHECKING:
    from oasis_opcua.about import Atlas
    from oasis_opcua.link import Link

_Answer = TypeVar("_Answer")
MOST_WRITTEN = 1000
"""Elements of an array that is written as a whole."""


class OpcUaDriver:
    """Browses, reads, watches and writes one server; asyncua is loaded with the first request."""

    def __init__(self, url: str) -> None:
        self._address = address.parse(url)
        self._opening = asyncio.Lock()
        self._open: tuple[Link, Atlas] | None = None
        self._called: dict[str, Value] = {}
        self._typed: dict[str, str] = {}
        self.url = self._address.url

    def point(self, text: str) -> Point:
        return Point(str(items.parse(text)))

    def cells(self, point: Point) -> frozenset[str]:
        """The node, or the elements of its array."""
        item = items.parse(point.address)
        if item.verb == "array":
            return frozenset(f"{item.node} [{n}]" for n in range(MOST_WRITTEN))
        if item.elements:
            return frozenset(f"{item.node} [{n}]" for n in range(item.elements[0], item.elements[1] + 1))
        return frozenset({str(item.node)})

    def check_writable(self, point: Point) -> None:
        """Raise ToolFault for what is no value, element, array or method; whether the server lets us is asked later."""
        item = items.parse(point.address)
        if item.verb in ("history", "events"):
            raise ToolFault(f"{point.address} cannot be written: only values, elements of arrays and methods can.")
        if item.elements and item.elements[0] != item.elements[1]:
            raise ToolFault(
                f"{point.address} cannot be written as one: give each element its own tag, or the whole array one "
                f"(array {item.node})."
            )

    async def scan(self, items: Sequence[str], budget: Budget) -> Scan:
        from oasis_opcua import scan  # noqa: PLC0415
        from oasis_opcua.endpoints import discovered  # noqa: PLC0415

        if items:
            return await self._again(lambda link, atlas: scan.below(link, atlas, items, budget))
        if not budget.spend():
            return Scan((), stopped=budget.stopped)
        server = await discovered(self._address)
        found = scan.of_server(self._address, server)
        notes = scan.forwarded(self._address, server)
        try:
            link, atlas = await self._session()
        except ToolFault as fault:
            return Scan(tuple(found), notes, f"no session could be opened: {fault}")
        found.append(Found("product", await self.identity()))
        more, said, stopped = await scan.top(link, atlas, budget)
        return Scan((*found, *more), (*notes, *said), stopped)

    async def read(self, points: Sequence[Point]) -> list[Reading]:
        from oasis_opcua import reader  # noqa: PLC0415

        asked = [(point, items.parse(point.address)) for point in points]
        if all(item.verb == "value" for _, item in asked):
            return await self._again(lambda link, atlas: reader.read(link, atlas, asked))
        readings: list[Reading] = []
        for point, item in asked:
            readings += await self._again(partial(self._read_one, point=point, item=item))
        return readings

    async def watch(self, points: Sequence[Point], seconds: float, interval_s: float) -> AsyncIterator[Reading]:
        from oasis_opcua.watching import changes  # noqa: PLC0415

        asked = [(point, items.parse(point.address)) for point in points]
        for point, item in asked:
            if item.verb not in ("value", "events"):
                raise ToolFault(f"{point.address} cannot be watched: only values and events can. Read it instead.")
        link, atlas = await self._session()
        async for reading in changes(link, atlas, asked, seconds, interval_s):
            yield reading

    async def identity(self) -> str:
        from oasis_opcua.identity import said  # noqa: PLC0415

        return await self._again(lambda link, _: said(link))

    async def encode(self, point: Point, value: Value) -> Frame:
        from oasis_opcua import writes  # noqa: PLC0415

        prepared = await self._again(lambda link, atlas: writes.encode(link, atlas, point, value))
        return prepared.frame

    async def write(self, approved: ApprovedWrite) -> Sent:
        from oasis_opcua import writes  # noqa: PLC0415

        try:
            link, atlas = await self._session()
        except ToolFault as fault:
            return Sent(Effect.NOT_SENT, str(fault))
        sent = await writes.send(link, atlas, approved)
        point = approved.plan.tag.point
        if sent.effect is Effect.WRITTEN and items.parse(point.address).verb == "call":
            self._called[point.address] = approved.plan.after
        return sent

    async def close(self) -> None:
        async with self._opening:
            if self._open:
                link, self._open = self._open[0], None
                await link.close()

    async def _read_one(self, link: "Link", atlas: "Atlas", point: Point, item: items.Item) -> list[Reading]:
        """The readings of an item that may be more than a value; what is refused is a reading that says so."""
        from oasis_opcua import calls, past, reader  # noqa: PLC0415
        from oasis_opcua.refusals import Broken  # noqa: PLC0415

        try:
            match item.verb:
                case "history":
                    return await past.history(link, atlas, point, item)
                case "events":
                    return await past.events(link, point, item)
                case "call":
                    method = await calls.method(link, atlas, item)
                    last = self._called.get(point.address, "" if method.inputs else False)
                    return [Reading(point, last, where="what it was last called with here", more=(str(method),))]
                case "array":
                    return [await reader.array(link, atlas, point, item)]
                case _:
                    return await reader.read(link, atlas, [(point, item)])
        except Broken:
            raise
        except ToolFault as fault:
            return [Reading(point, None, str(fault))]

    async def _again(self, ask: "Callable[[Link, Atlas], Awaitable[_Answer]]") -> _Answer:
        """What `ask` gives; asked once more on a new connection where the old one turns out to be broken.

        For questions only, never for what acts.
        """
        from oasis_opcua.refusals import Broken  # noqa: PLC0415

        link, atlas = await self._session()
        try:
            return await ask(link, atlas)
        except Broken:
            if link.is_open:
                raise
        return await ask(*await self._session())

    async def _session(self) -> "tuple[Link, Atlas]":
        """The open session; a new one where there is none or it was lost."""
        from oasis_opcua.about import Atlas  # noqa: PLC0415
        from oasis_opcua.link import opened  # noqa: PLC0415

        async with self._opening:
            if self._open and not self._open[0].is_open:
                lost, self._open = self._open[0], None
                await lost.close()
            if self._open is None:
                link = await opened(self._address, self._typed)
                self._open = link, Atlas(link)
            return self._open
