"""Watching by subscription."""

import asyncio

import pytest
from oasis_opcua.driver import OpcUaDriver

from oasis.errors import ToolFault
from tests.packs.opcua.lines import LINE, SPEED, START_S, Shared, first_of, relay


async def test_changes_are_reported_as_they_happen_and_nothing_is_polled(shared: Shared, driver: OpcUaDriver):
    packs = f"{LINE};s=Line1.PacksCounted"
    shared.line.content.process.is_started = True
    await driver.read([driver.point(SPEED), driver.point(packs)])
    reads = shared.line.witness.requests["read"]
    seen: dict[str, list[object]] = {}
    async with asyncio.timeout(START_S):
        watched = driver.watch([driver.point(SPEED), driver.point(packs)], START_S, 0.1)
        async for reading in watched:
            seen.setdefault(reading.point.address, []).append(reading.value)
            if len(set(seen.get(packs, []))) >= 3 and SPEED in seen:
                break
        await watched.aclose()  # type: ignore[attr-defined]
    shared.line.content.process.is_started = False
    assert shared.line.witness.requests["read"] == reads
    assert seen[packs] == sorted(seen[packs], key=float)


async def test_a_node_that_does_not_exist_is_said_and_the_others_are_watched(driver: OpcUaDriver):
    items = [f"{LINE};s=Nothing", f"{LINE};s=Line1.Recipe.Name"]
    readings = await first_of(driver, items)
    assert readings[0].status.startswith("BadNodeIdUnknown")
    assert readings[1].value == "Oat flakes 500 g"


async def test_events_are_reported_while_they_are_watched(shared: Shared, driver: OpcUaDriver):
    point = driver.point(f"events {LINE};s=Line1")
    watched = driver.watch([point], START_S, 0.1)
    raised = asyncio.create_task(asyncio.to_thread(_raise_until_seen, shared, seen := asyncio.Event()))
    async with asyncio.timeout(START_S):
        async for reading in watched:
            seen.set()
            assert (reading.value, reading.where) == ("733 Jam at outfeed", "severity 800, source Outfeed")
            break
        await watched.aclose()  # type: ignore[attr-defined]
        await raised


def _raise_until_seen(shared: Shared, seen: asyncio.Event) -> None:
    """Raise the alarm until the watcher, whose subscription takes a while, has seen it."""
    while not seen.is_set():
        shared.run(shared.line.content.alarm(800, "Outfeed", "733 Jam at outfeed"))


async def test_history_cannot_be_watched(driver: OpcUaDriver):
    with pytest.raises(ToolFault, match="cannot be watched"):
        async for _ in driver.watch([driver.point(f"history {SPEED}")], 1.0, 0.1):
            pass


async def test_a_connection_that_breaks_ends_the_watch_with_a_fault(shared: Shared):
    async with relay(shared.line.port) as port:
        driver = OpcUaDriver(f"opc.tcp://127.0.0.1:{port.here}/line")
        watched = driver.watch([driver.point(f"{LINE};s=Line1.Recipe.Name")], 60.0, 0.1)
        with pytest.raises(ToolFault, match="broke"):
            async for _ in watched:
                port.cut()
        await driver.close()
