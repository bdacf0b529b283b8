"""`oasis plant write`: tags of the site file, each as a person approves it."""

from typing import Annotated

import typer

from oasis.cli.plant.options import AsJson, SiteFile, prints_json

Yes = Annotated[
    bool, typer.Option("--yes", help="Do not ask: only for a tag that the site file marks `unattended = true`.")
]


def write(
    values: Annotated[
        list[str],
        typer.Argument(
            metavar="TAG VALUE",
            help="A tag of the site file that may be written, and the value in its unit (on or off for a bit).",
        ),
    ],
    site: SiteFile = None,
    yes: Yes = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show the plans and send nothing; each is from the value there now.")
    ] = False,
    hold: Annotated[
        float,
        typer.Option(
            min=0,
            metavar="SECONDS",
            help="Seconds to keep the connection afterwards; a bus leaves OP when it is closed.",
        ),
    ] = 0.0,
    json: AsJson = None,
) -> None:
    """Write a tag: show the plan, ask, send it once, read back. Several are written one after another.

    oasis plant write set_point 75 --site plant.toml

    The plan shows tag, before, after, limits and the bytes that would be sent. Nothing is sent before it is approved at
    the terminal, and all of it is in the audit; --dry-run ends with the plan. What is not written ends the command,
    with exit code 1 (nothing was sent), 3 (the device rejected it) or 4 (unknown: look at the plant, it is not sent
    again).
    """
    import asyncio

    if option := next((text for text in values if text.startswith("--")), ""):
        raise typer.BadParameter(f"there is no option {option}")
    if len(values) % 2:
        raise typer.BadParameter(f"{values[-1]!r} has no value: give TAG VALUE, or several such pairs")
    pairs = list(zip(values[::2], values[1::2], strict=True))
    asyncio.run(_write(pairs, site, yes, dry_run, hold, prints_json(json)))


async def _write(
    pairs: list[tuple[str, str]], site: SiteFile, yes: bool, dry_run: bool, hold_s: float, as_json: bool
) -> None:
    import asyncio

    from oasis.cli.plant.approve import carried_out, check_can_ask, told, told_planned, writing

    if not dry_run:
        check_can_ask(yes)
    async with writing(site, "write") as writer:
        for tag, value in pairs:
            plan = await writer.plan(tag, value)
            if dry_run:
                told_planned(plan, as_json)
                continue
            if code := told(plan, await carried_out(writer, plan, yes), as_json):
                raise typer.Exit(code)
        await asyncio.sleep(0 if dry_run else hold_s)
