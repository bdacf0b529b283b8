"""`oasis plant read`: values, once."""

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

import typer

from oasis.cli.plant.options import PARTLY, AsJson, Items, SiteFile, prints_json

if TYPE_CHECKING:
    from oasis.plant.connections import Connections
    from oasis.plant.values import Point, Reading


def read(items: Items = None, site: SiteFile = None, json: AsJson = None) -> None:
    """Read values once.

    oasis plant read modbus://127.0.0.1:5020/1 "holding 0-3" "input 2 float32 CDAB"

    oasis plant read water pressure --site plant.toml

    Exit code 3 when some of them are not good; the others are printed.
    """
    import asyncio

    asyncio.run(_read(items or [], site, prints_json(json)))


async def _read(items: list[str], site: SiteFile, as_json: bool) -> None:
    from oasis.cli.plant.targets import connected, loaded, targets
    from oasis.ui.plant import rows
    from oasis.ui.plant.page import console
    from oasis.ui.plant.tables import show_readings

    shown: list[dict[str, Any]] = []
    is_good = True
    seen = datetime.now().astimezone()
    async with connected() as connections:
        groups = targets(connections, loaded(connections, site), items)
        for url, points in groups.items():
            readings = await readings_of(connections, url, points, is_alone=len(groups) == 1)
            is_good = is_good and all(reading.is_good for reading in readings)
            if as_json:
                shown += [rows.reading(url, reading) for reading in readings]
            else:
                show_readings(console(), url, readings)
    if as_json:
        typer.echo(rows.line({"v": rows.VERSION, "seen": seen.isoformat(timespec="milliseconds"), "readings": shown}))
    if not is_good:
        raise typer.Exit(PARTLY)


async def readings_of(
    connections: "Connections", url: str, points: "Sequence[Point]", is_alone: bool
) -> "Sequence[Reading]":
    """The readings; where other endpoints are read too, a fault of this one is the status of its points."""
    from oasis.errors import ToolFault
    from oasis.plant.values import Reading

    try:
        return await connections.open(url).read(points)
    except ToolFault as fault:
        if is_alone:
            raise
        return [Reading(point, None, str(fault)) for point in points]
