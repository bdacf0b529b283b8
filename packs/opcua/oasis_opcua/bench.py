"""What the driver costs beside bare asyncua on the same server: `python -m oasis_opcua.bench`.

The server runs in a process of its own. Each floor is the same work in batches as large as the server takes, with
asyncua's services and nothing around them. Floor and driver take turns, and the fastest of each is compared: whatever
else runs on the machine only adds to the others.
"""

import asyncio
import sys
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from oasis.errors import ToolFault
from oasis.plant.driver import Budget

ROUNDS = 4
VALUES = 1000
LIMIT = 1.3
"""The most that the driver may take, in times of the floor."""
ROOT = "nsu=urn:oasis:packaging-line;s=Areas"
BATCH = 1000
PATIENCE_S = 60.0


@dataclass(frozen=True, slots=True)
class Measured:
    """One comparison: the fastest of each in milliseconds."""

    name: str
    driver_ms: float
    floor_ms: float

    @property
    def ratio(self) -> float:
        return self.driver_ms / self.floor_ms

    def __str__(self) -> str:
        times = f"{self.driver_ms:.0f} ms, floor {self.floor_ms:.0f} ms"
        return f"{self.name}: {times}, ratio {self.ratio:.2f} (limit {LIMIT})"


async def measured(rounds: int = ROUNDS) -> tuple[Measured, ...]:
    """Browsing 10,000 nodes and reading 1,000 values, in one run on one server. Raises ToolFault without a server."""
    from asyncua.client.client import Client  # noqa: PLC0415

    from oasis_opcua.driver import OpcUaDriver  # noqa: PLC0415
    from oasis_opcua.refusals import quiet  # noqa: PLC0415

    quiet()
    async with _line() as url:
        driver = OpcUaDriver(url)
        client = Client(url, timeout=PATIENCE_S, watchdog_intervall=PATIENCE_S)
        await client.connect()
        try:
            return await _compared(driver, client, rounds)
        finally:
            await client.disconnect()
            await driver.close()


async def _compared(driver: Any, client: Any, rounds: int) -> tuple[Measured, ...]:
    found = [entry.item for entry in (await driver.scan([ROOT], Budget(5000, 300.0))).found]
    items = [item for item in found if "Signal" in item][:VALUES]
    points = [driver.point(item) for item in items]
    wires = await _wires(client, items)
    root = (await _wires(client, [ROOT]))[0]

    async def browsed() -> int:
        return len((await driver.scan([ROOT], Budget(5000, 300.0))).found)

    async def read() -> int:
        return len(await driver.read(points))

    async def floor_browsed() -> int:
        return await _browse_floor(client, root)

    async def floor_read() -> int:
        return await _read_floor(client, wires)

    browse_ms = await _turns(browsed, floor_browsed, rounds, len(found))
    read_ms = await _turns(read, floor_read, 10 * rounds, len(items))
    return (
        Measured(f"browsing {len(found):,} nodes", *browse_ms),
        Measured(f"reading {len(items):,} values", *read_ms),
    )


async def _turns(
    driver: Callable[[], Awaitable[int]], floor: Callable[[], Awaitable[int]], rounds: int, expected: int
) -> tuple[float, float]:
    """Fastest times in milliseconds of driver and floor, which take turns. Both must find as many things."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(rounds):
        for place, work in enumerate((driver, floor)):
            began = time.perf_counter()
            count = await work()
            times[place].append((time.perf_counter() - began) * 1000)
            if count != expected:
                raise ToolFault(f"{count} of {expected} were found; the comparison is void.")
    return min(times[0]), min(times[1])


async def _wires(client: Any, items: list[str]) -> list[Any]:
    from oasis_opcua.items import node  # noqa: PLC0415
    from oasis_opcua.nodes import to_wire  # noqa: PLC0415

    namespaces = await client.get_namespace_array()
    nodes = [node(item) for item in items]
    return [to_wire(each, namespaces.index(each.uri)) for each in nodes]


async def _browse_floor(client: Any, root: Any) -> int:
    """The nodes below `root`: one Browse request for up to a thousand nodes of a level."""
    from oasis_opcua.untyped import ua  # noqa: PLC0415

    seen = {root}
    level = [root]
    while level:
        below: list[Any] = []
        for start in range(0, len(level), BATCH):
            descriptions = [
                ua.BrowseDescription(
                    NodeId=wire,
                    BrowseDirection=ua.BrowseDirection.Forward,
                    ReferenceTypeId=ua.NodeId(ua.ObjectIds.HierarchicalReferences),
                    IncludeSubtypes=True,
                    ResultMask=ua.BrowseResultMask.All,
                )
                for wire in level[start : start + BATCH]
            ]
            for result in await client.uaclient.browse(ua.BrowseParameters(NodesToBrowse=descriptions)):
                below += [r.NodeId for r in result.References if r.NodeId not in seen]
                seen.update(r.NodeId for r in result.References)
        level = below
    return len(seen) - 1


async def _read_floor(client: Any, wires: list[Any]) -> int:
    """The values in one chunked read."""
    from oasis_opcua.untyped import ua  # noqa: PLC0415

    count = 0
    for start in range(0, len(wires), BATCH):
        nodes = [ua.ReadValueId(NodeId=w, AttributeId=ua.AttributeIds.Value) for w in wires[start : start + BATCH]]
        parameters = ua.ReadParameters(TimestampsToReturn=ua.TimestampsToReturn.Both, NodesToRead=nodes)
        count += len(await client.uaclient.read(parameters))
    return count


@asynccontextmanager
async def _line() -> AsyncGenerator[str]:
    """The URL of a line with 10,000 nodes in a process of its own."""
    pipe = asyncio.subprocess.PIPE
    command = [sys.executable, "-m", "oasis_opcua.simulator", "--big", "--unlimited"]
    process = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe)
    try:
        url = (await process.stdout.readline()).decode().strip() if process.stdout else ""
        if not url:
            raise ToolFault(f"The simulated line did not start: {' '.join(command)}. Run it to see why.")
        yield url
    finally:
        if process.stdin:
            process.stdin.close()
        await process.wait()


async def main() -> None:
    for line in await measured():
        sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    asyncio.run(main())
