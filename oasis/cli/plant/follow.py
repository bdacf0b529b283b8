"""Several endpoints watched at once, in rows of one interval."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from oasis.ui.plant.record import Key, key

if TYPE_CHECKING:
    from oasis.plant.connections import Connections
    from oasis.plant.values import Point, Reading
    from oasis.ui.plant.live import View
    from oasis.ui.plant.record import Recording

Arrived = asyncio.Queue["tuple[str, Reading] | Exception | None"]


async def follow(
    connections: "Connections",
    groups: "Mapping[str, Sequence[Point]]",
    seconds: float,
    interval_s: float,
    view: "View",
    recording: "Recording | None",
) -> None:
    """Show and record what every endpoint gives, until all have ended. Raises what the first of them raises."""
    arrived: Arrived = asyncio.Queue()

    async def pump(url: str, points: "Sequence[Point]") -> None:
        try:
            async for reading in connections.open(url).watch(points, seconds, interval_s):
                arrived.put_nowait((url, reading))
            arrived.put_nowait(None)
        except Exception as fault:
            arrived.put_nowait(fault)

    tasks = [asyncio.create_task(pump(url, points)) for url, points in groups.items()]
    try:
        await _shown(arrived, len(tasks), interval_s, view, recording)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _shown(arrived: Arrived, left: int, interval_s: float, view: "View", recording: "Recording | None") -> None:
    loop, latest, is_new = asyncio.get_running_loop(), dict[Key, "Reading"](), False
    due = loop.time() + interval_s
    try:
        while left:
            got = await _before(due, arrived)
            if isinstance(got, Exception):
                raise got
            if got is None:
                left -= 1
            elif got == "nothing":
                _row(view, recording, latest, is_new)
                is_new = False
                due = max(due + interval_s, loop.time())
            else:
                url, reading = got
                latest[key(url, reading)] = reading
                is_new = True
                view.show(_now(), url, reading)
    finally:
        _row(view, recording, latest, is_new)


async def _before(due: float, arrived: Arrived) -> "tuple[str, Reading] | Exception | Literal['nothing'] | None":
    """What arrives next, until `due`."""
    try:
        async with asyncio.timeout_at(due):
            return await arrived.get()
    except TimeoutError:
        return "nothing"


def _row(view: "View", recording: "Recording | None", latest: "Mapping[Key, Reading]", is_new: bool) -> None:
    view.tick(_now())
    if recording is not None and is_new:
        recording.add(_now(), latest)


def _now() -> datetime:
    return datetime.now().astimezone()
