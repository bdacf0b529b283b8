"""The tools a model has for a plant, made from the chosen packs' drivers: the same for every protocol.

`plant_scan` and `plant_read` are free. `plant_write` exists only with a site file, and what it sends is a plan that was
approved.
"""

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from oasis.core.front_matter import tool_spec
from oasis.core.items import Status
from oasis.core.tool import Arguments, Outcome, Preview, Risk, Tool, ToolSpec
from oasis.errors import OasisError, ToolFault
from oasis.plant import render
from oasis.plant.connections import Connections
from oasis.plant.driver import Budget, Effect
from oasis.plant.plan import Plan
from oasis.plant.site import Tag
from oasis.plant.targets import grouped
from oasis.plant.values import Point, Reading
from oasis.plant.written import Written
from oasis.resources import text

MOST_ITEMS = 200
MOST_SECONDS = 600.0
INTERVAL_S = 0.5
MOST_CHANGES = 10_000
_STATUS = {Effect.WRITTEN: Status.OK, Effect.UNKNOWN: Status.UNKNOWN}


class Writing(Protocol):
    """What plans and carries out writes."""

    async def plan(self, tag: str, value: object) -> Plan: ...

    async def carry_out(self, token: str, by: str) -> Written: ...


def plant_tools(
    connections: Connections, words: Sequence[str], tags: Mapping[str, Tag], writing: Writing | None = None
) -> tuple[Tool, ...]:
    """The tools, the one that writes last. `words`: what each pack says of its URLs, items and skills."""
    reading = (_scan(connections), _read(connections, words, tags))
    return (*reading, _write(writing)) if writing else reading


def _scan(connections: Connections) -> Tool:
    async def preview(arguments: Arguments) -> Preview:
        driver = connections.open(arguments["url"])
        return Preview(f"Scan {driver.url}", driver.url, "\n".join(arguments.get("items", ())))

    async def run(arguments: Arguments) -> Outcome:
        driver = connections.open(arguments["url"])
        budget = Budget()
        done = await driver.scan(_items(arguments.get("items", ())), budget)
        return Outcome(render.scan(driver.url, done, budget.spent))

    return Tool(_spec("plant_scan"), Risk.READ, preview, run)


def _read(connections: Connections, words: Sequence[str], tags: Mapping[str, Tag]) -> Tool:
    async def preview(arguments: Arguments) -> Preview:
        where = arguments.get("url", "by tag")
        items = _items(arguments["items"])
        _grouped(connections, tags, arguments.get("url", ""), items)
        return Preview(f"Read {', '.join(items)[:100]} ({where})", where)

    async def run(arguments: Arguments) -> Outcome:
        groups = _grouped(connections, tags, arguments.get("url", ""), _items(arguments["items"]))
        seconds = min(max(arguments.get("watch_s", 0.0), 0.0), MOST_SECONDS)
        if seconds:
            return Outcome("\n".join(await _all_watched(connections, groups, seconds)))
        parts = [render.readings(url, await connections.open(url).read(points)) for url, points in groups.items()]
        return Outcome("\n".join(parts))

    spec = _spec("plant_read")
    spec = replace(spec, description="\n".join([spec.description, *words]))
    return Tool(spec, Risk.READ, preview, run)


def _write(writing: Writing) -> Tool:
    async def preview(arguments: Arguments) -> Preview:
        plan = await writing.plan(arguments["tag"], arguments["value"])
        return Preview(plan.title, plan.tag.name, plan.body, token=plan.token)

    async def run(arguments: Arguments) -> Outcome:
        raise ToolFault("A write is sent only as an approved plan; nothing was sent.")

    async def actuate(token: str, by: str) -> Outcome:
        written = await writing.carry_out(token, by)
        return Outcome(written.words, _STATUS.get(written.effect, Status.ERROR))

    return Tool(_spec("plant_write"), Risk.ACTUATE, preview, run, actuate)


async def _all_watched(connections: Connections, groups: Mapping[str, Sequence[Point]], seconds: float) -> list[str]:
    """Each endpoint watched, all at the same time. The first fault ends the others and is raised."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(_watched(connections, url, points, seconds)) for url, points in groups.items()]
    except* OasisError as faults:
        raise _first(faults) from None
    return [task.result() for task in tasks]


def _first(faults: BaseExceptionGroup[OasisError]) -> OasisError:
    fault = faults.exceptions[0]
    return _first(fault) if isinstance(fault, BaseExceptionGroup) else fault


async def _watched(connections: Connections, url: str, points: Sequence[Point], seconds: float) -> str:
    """The first values and each change, at most so many."""
    seen: list[tuple[float, Reading]] = []
    places: set[Point] = set()
    began = time.monotonic()
    async for reading in connections.open(url).watch(points, seconds, INTERVAL_S):
        places.add(reading.point)
        if len(seen) < MOST_CHANGES:
            seen.append((time.monotonic() - began, reading))
    return render.watched(url, seen, len(places), seconds)


def _items(items: Sequence[str]) -> list[str]:
    if len(items) > MOST_ITEMS:
        raise ToolFault(f"{len(items)} items are more than {MOST_ITEMS} in one call. Ask for ranges, or in parts.")
    return [item.strip() for item in items if item.strip()]


def _grouped(
    connections: Connections, tags: Mapping[str, Tag], url: str, items: Sequence[str]
) -> dict[str, list[Point]]:
    """The points of each endpoint, in order."""

    def no_tag(item: str) -> str:
        known = f"Tags: {', '.join(sorted(tags)[:40])}." if tags else "There is no site file, so no tags."
        return f"{item[:100]!r} is no tag, and no url was given. {known}"

    groups = grouped(connections.open, tags, items, no_tag, url)
    if not any(groups.values()):
        raise ToolFault("No item was given; nothing was read.")
    return {url: points for url, points in groups.items() if points}


def _spec(name: str) -> ToolSpec:
    return tool_spec(name, text(f"plant/{name}.md"))
