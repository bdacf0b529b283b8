"""The simulated boiler in a thread of its own, for commands that bring their own event loop."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from oasis_modbus.simulator.stations import Running, running

from oasis.lab.lab import Device
from oasis.lab.site import sample


@dataclass(frozen=True)
class Place:
    """Where it runs: `url` without unit, `site` a site file with all tags."""

    run: Running
    url: str
    site: Path


@contextmanager
def boiler(folder: Path, **options: Any) -> Iterator[Place]:
    """Run it until the context is left."""
    up, loops, runs = threading.Event(), list[asyncio.AbstractEventLoop](), list[Running]()
    done: list[asyncio.Event] = []

    async def serve() -> None:
        async with running({"speed": 0, "neighbour_s": 0.0, **options}) as run:
            loops.append(asyncio.get_running_loop())
            runs.append(run)
            done.append(asyncio.Event())
            up.set()
            await done[0].wait()

    thread = threading.Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    assert up.wait(10)
    site = folder / "plant.toml"
    site.write_text(sample([Device("modbus", station) for station in runs[0].stations]), encoding="utf-8")
    try:
        yield Place(runs[0], runs[0].stations[0].url.rpartition("/")[0], site)
    finally:
        loops[0].call_soon_threadsafe(done[0].set)
        thread.join(10)
