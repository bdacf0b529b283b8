"""`oasis plant read`: values, once."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from oasis.cli.plant.options import PARTLY, AsJson, Items, SiteFile, prints_json

if TYPE_CHECKING:
    from oasis.plant.connections import Connections
    from oasis.plant.values import Point, Reading


def read(
    items: Items = None,
    site: SiteFile = None,
    save: Annotated[
        Path | None, typer.Option("--save", metavar="FILE", help="Save them to a new file, for `oasis plant compare`.")
    ] = None,
    json: AsJson = None,
) -> None:
    """Read values once.

    oasis plant read modbus://127.0.0.1:5020/1 "holding 0-3" "input 2 float32 CDAB"

    oasis plant read water pressure --site plant.toml

    oasis plant read --site plant.toml --save as-found.json

    Exit code 3 when some of them are not good; the others are printed.
    """
    import asyncio

    from oasis.cli.plant.files import check_new

    if save is not None:
        check_new(save)
    asyncio.run(_read(items or [], site, save, prints_json(json)))


async def _read(items: list[str], site: SiteFile, save: Path | None, as_json: bool) -> None:
    from oasis.cli.plant.files import write_new
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
            shown += [rows.reading(url, reading) for reading in readings]
            if not as_json:
                show_readings(console(), url, readings)
    line = rows.line({"v": rows.VERSION, "seen": seen.isoformat(timespec="milliseconds"), "readings": shown})
    if as_json:
        typer.echo(line)
    if save is not None:
        write_new(save, f"{line}\n")
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
