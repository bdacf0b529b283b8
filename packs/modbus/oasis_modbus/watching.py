"""Watches points: first values, then what changes."""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import replace

from oasis.plant.values import Point, Reading
from oasis_modbus.faults import LinkFault

LEAST_S = 0.1
Read = Callable[[], Awaitable[list[Reading]]]


async def changes(read: Read, seconds: float, interval_s: float) -> AsyncGenerator[Reading, None]:
    """The first readings, then each that is another than before. A gap is a reading with its reason as status.

    `read` is asked every `interval_s`, at least 0.1 s apart. Raises ToolFault where the first round fails: then there
    is nothing to watch.
    """
    interval_s = max(interval_s, LEAST_S)
    due = began = time.monotonic()
    last: dict[Point, Reading] = {}
    is_slow_said = False
    while True:
        asked = time.monotonic()
        try:
            readings = await read()
        except LinkFault as fault:
            if not last:
                raise
            readings = [Reading(point, None, f"gap: {fault}") for point in last]
        took_s = time.monotonic() - asked
        note = ()
        if took_s > interval_s * 1.5 and not is_slow_said:
            is_slow_said = True
            note = (f"a round took {took_s:.2f} s and {interval_s:g} s was asked: what changed between is not seen",)
        for reading in readings:
            before = last.get(reading.point)
            last[reading.point] = reading
            if before is None or _seen(before) != _seen(reading):
                yield replace(reading, more=(*reading.more, *note)) if note else reading
                note = ()
        due = max(due + interval_s, time.monotonic())
        if due > began + seconds:
            return
        await asyncio.sleep(due - time.monotonic())


def _seen(reading: Reading) -> tuple[object, ...]:
    return reading.raw, reading.value, reading.status
