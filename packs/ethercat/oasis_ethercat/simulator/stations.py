"""The segment as a simulated device of the lab, with its piece of a site file."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from oasis.errors import ConfigError
from oasis.plant.pack import Station
from oasis_ethercat.simulator.running import DEFAULT, RunningSegment, running_segment

INTERFACE = "oasis-ec0"
"""The master's interface with `fixed_ports`."""
_DO4, _AI, _DRIVE = 4, 5, 6
_WATCHDOG_MS = 1000
"""Ten times the usual: master and slaves share a machine that may be busy, and is no real-time system."""

FAULTS: dict[str, tuple[int, Callable[[RunningSegment, int], None]]] = {
    "sii-mismatch": (2, lambda run, at: run.sii(at, "product", 0xDEAD)),
    "sdo-abort": (_DRIVE, lambda run, at: run.sdo_abort(at, 0x6083, 0, 0x06090030)),
    "sdo-silent": (_AI, lambda run, at: run.sdo_silent(at, True)),
    "wrong-counter": (0, lambda run, at: run.counter_error(1)),
    "vanished": (_AI, lambda run, at: run.cut_before(at)),
    "refuses-op": (_DO4, lambda run, at: run.refuse(at, "OP", 0x0019)),
    "link-loss": (0, lambda run, at: run.link(False)),
}
"""Faults by name, each with the slave it is at where none is named, and what it does."""
_MILD = ("sii-mismatch", "sdo-abort")

SITE = """
[endpoints.segment]
url = "{url}"

[tags.bus]
endpoint = "segment"
address = "bus state"
write = true
values = ["INIT", "PREOP", "SAFEOP", "OP"]

[tags.drive_speed]
endpoint = "segment"
address = "6 out 0x60FF:0 int32"
unit = "counts/s"
write = true
min = -20000
max = 20000
max_step = 5000
safe = 0

[tags.drive_control]
endpoint = "segment"
address = "6 out 0x6040:0 uint16"
write = true
values = [0, 6, 7, 15, 31, 128]
safe = 0

[tags.drive_mode]
endpoint = "segment"
address = "6 out 0x6060:0 int8"
write = true
values = [0, 1, 3]

[tags.drive_acceleration]
endpoint = "segment"
address = "6 0x6083:0 uint32"
unit = "counts/s²"
write = true
min = 1000
max = 200000
max_step = 100000

[tags.drive_status]
endpoint = "segment"
address = "6 in 0x6041:0 uint16"

[tags.drive_position]
endpoint = "segment"
address = "6 in 0x6064:0 int32"
unit = "counts"

[tags.lamp]
endpoint = "segment"
address = "3 out 0x7000:1 bool"
write = true
safe = false

[tags.level]
endpoint = "segment"
address = "5 in 0x6000:17 int16"
"""


@asynccontextmanager
async def segment(options: Mapping[str, Any]) -> AsyncGenerator[tuple[Station, ...], None]:
    """A coupler, eight inputs, eight and four outputs, two analogue inputs, a drive.

    Options: `faults` (True, or names of FAULTS as NAME or NAME@SLAVE), `fixed_ports` (the interface is INTERFACE).
    Raises ConfigError, and NoSegmentHere where the machine does not allow it.
    """
    faults = chosen(options.get("faults"))
    context = running_segment(name=INTERFACE if options.get("fixed_ports") else "")
    run = await asyncio.to_thread(context.__enter__)
    try:
        run.watchdog(_WATCHDOG_MS)
        for name, at in faults:
            FAULTS[name][1](run, at)
        words = f"{len(DEFAULT)} slaves: {', '.join(DEFAULT)}; in INIT until a master comes; watchdog {_WATCHDOG_MS} ms"
        yield (Station("EtherCAT segment", run.url, words, SITE.format(url=run.url)),)
    finally:
        await asyncio.to_thread(context.__exit__, None, None, None)


def chosen(given: bool | Iterable[str] | None) -> list[tuple[str, int]]:
    """The faults named, each with its slave. Raises ConfigError for one that is unknown."""
    if not given:
        return []
    found: list[tuple[str, int]] = []
    for text in _MILD if given is True else given:
        name, _, at = text.partition("@")
        if name not in FAULTS or (at and not at.isdigit()) or int(at or 1) not in range(1, len(DEFAULT) + 1):
            raise ConfigError(
                f"{text!r} is no fault of the EtherCAT segment. There are: {', '.join(FAULTS)}; NAME@SLAVE puts one at "
                f"slave 1 to {len(DEFAULT)}."
            )
        found.append((name, int(at) if at else FAULTS[name][0]))
    return found
