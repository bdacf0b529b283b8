"""Several endpoints watched at once, in rows of one interval."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from oasis.errors import OasisError
from oasis.ui.plant.record import Key, key

if TYPE_CHECKING:
    from oasis.plant.connections import Connections
    from oasis.plant.values import Point, Reading
    from oasis.ui.plant.live import View
    from oasis.ui.plant.record import Recording

PATIENCE_S = 5.0
"""How long a recording waits for the first value of every point, which fixes its columns."""
Arrived = asyncio.Queue["tuple[str, Reading | Exception | None]"]


async def follow(
    connections: "Connections",
    groups: "Mapping[str, Sequence[Point]]",
    seconds: float,
    interval_s: float,
    view: "View",
    recording: "Recording | None",
    is_enough: "Callable[[Reading], bool] | None" = None,
) -> "Ended":
    """Show and record what every endpoint gives, until all have ended or one reading is enough.

    The points of an endpoint that is lost are shown with the reason as status, and the others go on. Raises what an
    endpoint raises that is alone, or the last that is left.
    """
    arrived: Arrived = asyncio.Queue()

    async def pump(url: str, points: "Sequence[Point]") -> None:
        try:
            async for reading in connections.open(url).watch(points, seconds, interval_s):
                arrived.put_nowait((url, reading))
            arrived.put_nowait((url, None))
        except Exception as fault:
            arrived.put_nowait((url, fault))

    tasks = [asyncio.create_task(pump(url, points)) for url, points in groups.items()]
    try:
        return await _Followed(groups, view, recording, is_enough).until_ended(arrived, interval_s)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@dataclass(frozen=True, slots=True)
class Ended:
    """How watching ended: whether no endpoint was lost, and whether what was waited for came."""

    is_whole: bool
    is_enough: bool


class _Followed:
    """What has arrived so far, and where it goes."""

    def __init__(
        self,
        groups: "Mapping[str, Sequence[Point]]",
        view: "View",
        recording: "Recording | None",
        is_enough: "Callable[[Reading], bool] | None",
    ) -> None:
        self._groups = groups
        self._view = view
        self._recording = recording
        self._latest: dict[Key, Reading] = {}
        self._ended: set[str] = set()
        self._lost = 0
        self._is_new = False
        self._wants = is_enough
        self._has_enough = False

    async def until_ended(self, arrived: Arrived, interval_s: float) -> Ended:
        loop = asyncio.get_running_loop()
        began = loop.time()
        due = began + interval_s
        try:
            while len(self._ended) < len(self._groups) and not self._has_enough:
                got = await _before(due, arrived)
                if got == "nothing":
                    self._row(is_patient=loop.time() < began + PATIENCE_S)
                    due = max(due + interval_s, loop.time())
                else:
                    self._take(*got)
        finally:
            self._row(is_patient=False)
        return Ended(not self._lost, self._has_enough)

    def _take(self, url: str, got: "Reading | Exception | None") -> None:
        if got is None:
            self._ended.add(url)
        elif isinstance(got, Exception):
            self._lose(url, got)
        else:
            self._show(url, got)

    def _lose(self, url: str, fault: Exception) -> None:
        """An endpoint that is lost: its points say why, once, while there are others to watch."""
        from oasis.plant.values import Reading

        self._ended.add(url)
        self._lost += 1
        if not isinstance(fault, OasisError) or self._lost == len(self._groups):
            raise fault
        known = [reading for of, reading in self._latest.items() if of[0] == url]
        for reading in known or [Reading(point, None) for point in self._groups[url]]:
            self._show(url, replace(reading, value=None, raw="", status=str(fault), more=()))

    def _show(self, url: str, reading: "Reading") -> None:
        self._latest[key(url, reading)] = reading
        self._is_new = True
        self._view.show(_now(), url, reading)
        self._has_enough = self._has_enough or (self._wants is not None and self._wants(reading))

    def _row(self, *, is_patient: bool) -> None:
        """A moment's row. The first one waits a little, so that no point that is slow to answer lacks its column."""
        self._view.tick(_now())
        if self._recording is None or not self._is_new:
            return
        if self._recording.rows or not is_patient or all(self._is_whole(url) for url in self._groups):
            self._is_new = False
            self._recording.add(_now(), self._latest)

    def _is_whole(self, url: str) -> bool:
        """Has every point of the endpoint been seen, or will there be no more of them?"""
        seen = sum(of[0] == url for of in self._latest)
        return url in self._ended or seen >= len(set(self._groups[url]))


async def _before(due: float, arrived: Arrived) -> "tuple[str, Reading | Exception | None] | Literal['nothing']":
    """What arrives next, until `due`."""
    try:
        async with asyncio.timeout_at(due):
            return await arrived.get()
    except TimeoutError:
        return "nothing"


def _now() -> datetime:
    return datetime.now().astimezone()
