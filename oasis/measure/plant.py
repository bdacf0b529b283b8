"""What the packs cost beside the bare libraries, in one run on this machine's simulators: ratios, not times."""

import asyncio
import importlib.util
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

LIBRARIES = {"modbus": "pymodbus", "opcua": "asyncua", "ethercat": "pysoem"}


@dataclass(frozen=True, slots=True)
class Row:
    """One comparison. `figure` is a ratio or share, None where it could not be taken: `words` say why.

    `aim` is what it is wanted to be, as text; `is_met` None where there is no aim.
    """

    pack: str
    what: str
    figure: float | None
    words: str
    aim: str = ""
    is_met: bool | None = None


async def rows(packs: list[str], maps: Path | None) -> AsyncIterator[Row]:
    """Measure the named packs, one after another. `maps`: a folder with published register maps to guess on."""
    for name in packs:
        if importlib.util.find_spec(LIBRARIES[name]) is None:
            yield Row(name, "all", None, f"needs {LIBRARIES[name]}: pip install {LIBRARIES[name]}")
            continue
        measure = {"modbus": lambda: _modbus(maps), "opcua": _opcua, "ethercat": _ethercat}[name]
        try:
            async for row in measure():
                yield row
        except Exception as fault:  # a library's own: the other packs are measured all the same
            yield Row(name, "all", None, f"not measured: {type(fault).__name__}: {fault}")


async def _modbus(maps: Path | None) -> AsyncIterator[Row]:
    from oasis_modbus.bench import scan_247, score, throughput  # noqa: PLC0415

    speed = await throughput()
    words = f"{speed.driver_per_s:,.0f} a second beside {speed.pymodbus_per_s:,.0f} of bare pymodbus"
    yield Row("modbus", "block reads", speed.ratio, words, "at least 0.9", speed.ratio >= 0.9)
    found = await scan_247()
    words = f"{found.units} units, {found.requests} requests, {found.seconds:.1f} s; {found.stopped or 'whole'}"
    yield Row("modbus", "scan of 247 units", found.units / 3, words, "1.0, within its budget", found.units == 3)
    if maps is None:
        yield Row("modbus", "guessed types", None, "name a folder with published maps: --maps DIR")
        return
    got = await asyncio.to_thread(score, maps)
    each = ", ".join(f"{name} {share:.2f}" for name, share in got.by_map.items())
    yield Row("modbus", "guessed types", got.share, f"{got.right:,} of {got.registers:,} registers right ({each})")


async def _opcua() -> AsyncIterator[Row]:
    from oasis_opcua.bench import LIMIT, measured  # noqa: PLC0415

    for one in await measured():
        words = f"{one.driver_ms:,.0f} ms beside {one.floor_ms:,.0f} ms of the batched floor"
        yield Row("opcua", one.name, one.ratio, words, f"at most {LIMIT:g}", one.ratio <= LIMIT)


async def _ethercat() -> AsyncIterator[Row]:
    from oasis_ethercat.bench import cycles, sdo_reads  # noqa: PLC0415
    from oasis_ethercat.simulator.running import running_segment  # noqa: PLC0415

    with running_segment() as segment:
        ran = await asyncio.to_thread(cycles, segment)
        words = f"{ran.driver:,.0f} a second beside {ran.bare:,.0f} of bare pysoem"
        yield Row("ethercat", "process data cycles", ran.ratio, words, "at least 0.8", ran.ratio >= 0.8)
        drive = segment.devices.index("drive") + 1
        ran = await sdo_reads(segment, f"{drive} 0x6041:0 uint16")
        words = f"{ran.driver:,.0f} a second beside {ran.bare:,.0f} of bare pysoem"
        yield Row("ethercat", "SDO reads", ran.ratio, words)
