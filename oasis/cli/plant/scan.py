"""`oasis plant scan`: what is there."""

from typing import TYPE_CHECKING, Annotated

import typer

from oasis.cli.plant.options import PARTLY, AsJson, prints_json

if TYPE_CHECKING:
    from oasis.plant.driver import Budget, Scan


def scan(
    url: Annotated[
        str, typer.Argument(metavar="URL", help="modbus://HOST/UNIT, opc.tcp://HOST, ethercat://IFNAME ...")
    ],
    items: Annotated[list[str] | None, typer.Argument(metavar="[ITEM...]", help="Only what is below these.")] = None,
    seconds: Annotated[float, typer.Option(min=0.1, max=3600, metavar="SECONDS", help="Stop after so long.")] = 60.0,
    requests: Annotated[
        int, typer.Option(min=1, max=1_000_000, metavar="N", help="Stop after so many requests.")
    ] = 600,
    json: AsJson = None,
) -> None:
    """Find out what a device, a gateway or a bus is and holds. Reads only.

    Exit code 3 when it stopped before the end, for its budget.
    """
    import asyncio

    asyncio.run(_scan(url, items or [], seconds, requests, prints_json(json)))


async def _scan(url: str, items: list[str], seconds: float, requests: int, as_json: bool) -> None:
    from oasis.cli.plant.targets import connected
    from oasis.plant.driver import Budget
    from oasis.ui.plant.progress import progress

    async with connected() as connections:
        driver = connections.open(url)
        budget = Budget(requests, seconds)
        async with progress(budget):
            done = await driver.scan(items, budget)
        _show(driver.url, done, budget, as_json)


def _show(url: str, done: "Scan", budget: "Budget", as_json: bool) -> None:
    if as_json:
        from oasis.ui.plant import rows

        typer.echo(rows.line(rows.scan(url, done, budget.spent)))
    else:
        from oasis.ui.plant.page import console
        from oasis.ui.plant.tables import show_scan

        show_scan(console(), url, done, budget.spent)
    if done.stopped:
        raise typer.Exit(PARTLY)
