"""`oasis plant compare`: what reads otherwise than it was saved."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from oasis.cli.plant.options import PARTLY, AsJson, prints_json

if TYPE_CHECKING:
    from oasis.plant.snapshot import Difference, Saved, Snapshot
    from oasis.plant.values import Reading


def compare(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What `oasis plant read ... --save FILE` saved.")],
    json: AsJson = None,
) -> None:
    """Read again what was saved, and say what is another value now. Reads only.

    oasis plant read --site plant.toml --save as-found.json

    oasis plant compare as-found.json

    Exit code 3 when something differs or does not read.
    """
    import asyncio

    from oasis.plant.snapshot import load

    snapshot = load(file)
    found = asyncio.run(_differences(snapshot))
    if prints_json(json):
        from oasis.ui.plant import rows

        typer.echo(
            rows.line({"v": rows.VERSION, "file": str(file), "seen": snapshot.seen or None, **_row(snapshot, found)})
        )
    else:
        from oasis.ui.plant.page import console
        from oasis.ui.plant.tables import show_differences

        show_differences(console(), snapshot, found)
    if found:
        raise typer.Exit(PARTLY)


async def _differences(snapshot: "Snapshot") -> "list[Difference]":
    from oasis.cli.plant.targets import connected
    from oasis.plant.snapshot import differences

    found: list[Difference] = []
    async with connected() as connections:
        for url in dict.fromkeys(saved.url for saved in snapshot.saved):
            of_url = [saved for saved in snapshot.saved if saved.url == url]
            found += differences(of_url, await _readings(connections, url, of_url))
    return found


async def _readings(connections: Any, url: str, saved: "Sequence[Saved]") -> "list[Reading]":
    """One reading for each that was saved, in order."""
    from dataclasses import replace

    from oasis.cli.plant.read import readings_of
    from oasis.plant.values import Reading

    driver = connections.open(url)
    points = [replace(driver.point(then.address), form=then.form, name=then.tag) for then in saved]
    readings = await readings_of(connections, url, points, is_alone=False)
    if len(readings) == len(points):
        return list(readings)
    return [Reading(point, None, f"reads as {len(readings)} values, not {len(points)}") for point in points]


def _row(snapshot: "Snapshot", found: "Sequence[Difference]") -> dict[str, Any]:
    from oasis.plant.packed import packed

    different = [
        {
            "url": difference.saved.url,
            "tag": difference.saved.tag or None,
            "address": difference.saved.address,
            "unit": difference.saved.form.unit or None,
            "was": packed(difference.saved.value),
            "now": packed(difference.now.value),
            "status": difference.now.status,
        }
        for difference in found
    ]
    return {"same": len(snapshot.saved) - len(found), "different": different}
