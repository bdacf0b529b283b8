"""`oasis plant watch`: values as they change."""

import sys
from collections.abc import AsyncIterator
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from oasis.cli.plant.options import AsJson, Items, SiteFile

if TYPE_CHECKING:
    from oasis.plant.connections import Connections
    from oasis.plant.values import Point, Reading
    from oasis.ui.plant.live import View
    from oasis.ui.plant.record import Key, Recording

FOREVER_S = 365 * 86_400.0


def watch(
    items: Items = None,
    site: SiteFile = None,
    seconds: Annotated[float | None, typer.Option(min=0.1, help="End after so long. Default: at Ctrl-C.")] = None,
    interval: Annotated[float, typer.Option(min=0.05, max=3600, help="Seconds between two readings.")] = 0.5,
    csv: Annotated[
        Path | None, typer.Option("--csv", metavar="FILE", help="Record to a new CSV file, a row for each change.")
    ] = None,
    json: AsJson = None,
) -> None:
    """Watch values change: a live table with sparklines on a terminal, one line of JSON for each change elsewhere.

    oasis plant watch modbus://127.0.0.1:5020/1 "input 0 x0.1 degC" --csv run.csv

    Ctrl-C ends it, and all that was seen is in the file.
    """
    import asyncio

    from oasis.ui.plant.record import Recording

    with ExitStack() as stack:
        recording = None
        if csv is not None:
            recording = Recording(csv)
            stack.callback(recording.close)
        try:
            asyncio.run(_watch(items or [], site, seconds or FOREVER_S, interval, recording, json))
        except KeyboardInterrupt:
            pass
        finally:
            if recording is not None:
                typer.echo(f"{recording.rows} rows are in {csv}.", err=True)


async def _watch(
    items: list[str],
    site: SiteFile,
    seconds: float,
    interval_s: float,
    recording: "Recording | None",
    as_json: bool | None,
) -> None:
    from oasis.cli.plant.targets import connected, loaded, targets

    async with connected() as connections:
        groups = targets(connections, loaded(connections, site), items)
        with _view(as_json) as view:
            await _follow(connections, groups, (seconds, interval_s), view, recording)


async def _follow(
    connections: "Connections",
    groups: "dict[str, list[Point]]",
    times: tuple[float, float],
    view: "View",
    recording: "Recording | None",
) -> None:
    """Show and record what every endpoint gives, in rows of one interval."""
    import asyncio

    from oasis.ui.plant.record import key

    arrived = asyncio.Queue[tuple[str, "Reading"] | None]()
    latest: dict[Key, Reading] = {}
    is_new = False

    async def pump(url: str, source: "AsyncIterator[Reading]") -> None:
        try:
            async for reading in source:
                await arrived.put((url, reading))
        finally:
            arrived.put_nowait(None)

    def tick() -> None:
        nonlocal is_new
        view.tick(_now())
        if recording is not None and is_new:
            recording.add(_now(), latest)
        is_new = False

    async with asyncio.TaskGroup() as tasks:
        for url, points in groups.items():
            tasks.create_task(pump(url, connections.open(url).watch(points, *times)))
        loop, left = asyncio.get_running_loop(), len(groups)
        due = loop.time() + times[1]
        while left:
            try:
                async with asyncio.timeout_at(due):
                    got = await arrived.get()
            except TimeoutError:
                tick()
                due = max(due + times[1], loop.time())
                continue
            if got is None:
                left -= 1
                continue
            url, reading = got
            latest[key(url, reading)] = reading
            is_new = True
            view.show(_now(), url, reading)
        tick()


def _view(as_json: bool | None) -> "View":
    from oasis.ui.plant.live import JsonView, LineView, LiveView

    if as_json or (as_json is None and not sys.stdout.isatty()):
        return JsonView()
    return LiveView() if sys.stdout.isatty() else LineView()


def _now() -> datetime:
    return datetime.now().astimezone()
