"""Watches points: first values, then what changes."""

import asyncio
import time
from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace

from oasis.plant.values import Point, Reading
from oasis_modbus.faults import LinkFault
from oasis_modbus.reader import Reader, elements_of

LEAST_S = 0.1


async def changes(
    reader: Reader, points: Sequence[Point], seconds: float, interval_s: float
) -> AsyncGenerator[Reading, None]:
    """The first readings, then each that is another than before. A gap is a reading with its reason as status.

    Raises ToolFault where the first round fails: then there is nothing to watch.
    """
    interval_s = max(interval_s, LEAST_S)
    began = time.monotonic()
    seen: dict[tuple[str, str], tuple[object, str]] = {}
    is_slow_said = False
    due = began
    while True:
        asked = time.monotonic()
        readings = await _round(reader, points, is_first=not seen)
        took_s = time.monotonic() - asked
        note = ""
        if took_s > interval_s * 1.5 and not is_slow_said and seen:
            is_slow_said = True
            note = f"a round took {took_s:.2f} s where {interval_s:g} s was asked: what changed between was not seen"
        for reading in readings:
            key = (reading.point.name, reading.point.address)
            now = (reading.raw or reading.value, reading.status)
            if seen.get(key) != now:
                seen[key] = now
                yield replace(reading, more=(*reading.more, note)) if note else reading
                note = ""
        due = max(due + interval_s, time.monotonic())
        left_s = began + seconds - due
        if left_s < 0:
            return
        await asyncio.sleep(max(0.0, due - time.monotonic()))


async def _round(reader: Reader, points: Sequence[Point], is_first: bool) -> list[Reading]:
    try:
        return await reader.read(points)
    except LinkFault as fault:
        if is_first:
            raise
        return [Reading(e.point, None, f"gap: {fault}") for point in points for e in elements_of(point)]
