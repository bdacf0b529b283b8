"""`oasis plant write`: one tag of the site file, as a person approves it."""

from typing import TYPE_CHECKING, Annotated

import typer

from oasis.cli.plant.options import AsJson, SiteFile, prints_json

if TYPE_CHECKING:
    from oasis.plant.site import Site
    from oasis.plant.values import Value

Yes = Annotated[
    bool, typer.Option("--yes", help="Do not ask: only for a tag that the site file marks `unattended = true`.")
]


def write(
    tag: Annotated[str, typer.Argument(metavar="TAG", help="A tag of the site file that may be written.")],
    value: Annotated[str, typer.Argument(metavar="VALUE", help="In the tag's unit; on or off for a bit.")],
    site: SiteFile = None,
    yes: Yes = False,
    json: AsJson = None,
) -> None:
    """Write one tag: show the plan, ask, send it once, read back.

    oasis plant write set_point 75 --site plant.toml

    The plan shows tag, before, after, limits and the bytes that would be sent. Nothing is sent before it is approved at
    the terminal, and all of it is in the audit. Exit codes: 0 written, 1 nothing was sent, 3 rejected by the device,
    4 unknown: look at the plant, it is not sent again.
    """
    import asyncio

    asyncio.run(_write(tag, value, site, yes, prints_json(json)))


async def _write(tag: str, value: str, site: SiteFile, yes: bool, as_json: bool) -> None:
    from oasis.cli.plant.approve import carried_out, check_can_ask, tell, writing

    async with writing(site, "write") as writer:
        check_can_ask(yes)
        plan = await writer.plan(tag, _value(writer.site, tag, value))
        written = await carried_out(writer, plan, yes)
    tell(plan, written, as_json)


def _value(site: "Site", name: str, text: str) -> "Value":
    """What was typed, as the tag's type has it; an unknown tag's stays text. Raises WriteRefused."""
    from oasis.errors import WriteRefused
    from oasis.plant.limits import parsed

    tag = site.tags.get(name)
    if tag is None:
        return text
    try:
        return parsed(tag.point.form, text)
    except ValueError as fault:
        raise WriteRefused(f"{name} was not written: {fault}. Nothing was sent.") from fault
