"""`oasis plant watch`: values as they change."""

import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from oasis.cli.plant.options import PARTLY, AsJson, Items, SiteFile

if TYPE_CHECKING:
    from oasis.cli.plant.follow import Ended
    from oasis.cli.plant.until import Until
    from oasis.ui.plant.live import View
    from oasis.ui.plant.record import Recording

FOREVER_S = 365 * 86_400.0


def watch(
    items: Items = None,
    site: SiteFile = None,
    seconds: Annotated[
        float | None, typer.Option(min=0.1, metavar="SECONDS", help="End after so long. Default: at Ctrl-C.")
    ] = None,
    interval: Annotated[
        float, typer.Option(min=0.05, max=3600, metavar="SECONDS", help="Seconds between two readings.")
    ] = 0.5,
    csv: Annotated[
        Path | None, typer.Option("--csv", metavar="FILE", help="Record to a new CSV file, a row for each change.")
    ] = None,
    until: Annotated[
        str, typer.Option("--until", metavar="CONDITION", help='End when a point is so: "water > 85", "flame = off".')
    ] = "",
    json: AsJson = None,
) -> None:
    """Watch values change, with sparklines.

    A live table on a terminal, one line of JSON for each change elsewhere.

    oasis plant watch modbus://127.0.0.1:5020/1 "input 0 x0.1 degC" --csv run.csv

    Ctrl-C ends it, and all that was seen is in the file. Where one of several devices is lost, the others are watched
    on, and the exit code is 3. It is 3 too where --until did not come to be so.
    """
    import asyncio

    from oasis.cli.plant.until import Until
    from oasis.ui.plant.record import Recording

    with ExitStack() as stack:
        recording, code = None, 0
        condition = Until.of(until) if until else None
        if csv is not None:
            recording = Recording(csv)
            stack.callback(recording.close)
        try:
            ended = asyncio.run(_watch(items or [], site, seconds or FOREVER_S, interval, recording, condition, json))
            code = 0 if ended.is_enough or (ended.is_whole and condition is None) else PARTLY
        except KeyboardInterrupt:
            code = PARTLY if condition else 0
        finally:
            if recording is not None:
                typer.echo(f"{recording.rows} {'row is' if recording.rows == 1 else 'rows are'} in {csv}.", err=True)
    if code:
        raise typer.Exit(code)


async def _watch(
    items: list[str],
    site: SiteFile,
    seconds: float,
    interval_s: float,
    recording: "Recording | None",
    condition: "Until | None",
    as_json: bool | None,
) -> "Ended":
    from oasis.cli.plant.follow import follow
    from oasis.cli.plant.targets import connected, loaded, targets

    async with connected() as connections:
        groups = targets(connections, loaded(connections, site), items)
        if condition:
            condition.check_among([point for points in groups.values() for point in points])
        with _view(as_json) as view:
            return await follow(
                connections, groups, seconds, interval_s, view, recording, condition.is_met if condition else None
            )


def _view(as_json: bool | None) -> "View":
    from oasis.ui.plant.live import JsonView, LineView, LiveView

    if as_json or (as_json is None and not sys.stdout.isatty()):
        return JsonView()
    return LiveView() if sys.stdout.isatty() else LineView()
