"""`oasis plant read`: values, once."""

from typing import Any

import typer

from oasis.cli.plant.options import PARTLY, AsJson, Items, SiteFile, prints_json


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

    shown: list[dict[str, Any]] = []
    is_good = True
    async with connected() as connections:
        for url, points in targets(connections, loaded(connections, site), items).items():
            readings = await connections.open(url).read(points)
            is_good = is_good and all(reading.is_good for reading in readings)
            if as_json:
                shown += [rows.reading(url, reading) for reading in readings]
                continue
            from oasis.ui.plant.page import console
            from oasis.ui.plant.tables import show_readings

            show_readings(console(), url, readings)
    if as_json:
        typer.echo(rows.line({"v": rows.VERSION, "readings": shown}))
    if not is_good:
        raise typer.Exit(PARTLY)
