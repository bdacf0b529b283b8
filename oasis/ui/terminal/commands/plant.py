"""/site and /plan: what may be written to the plant, what was, and a write of the person's own."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from oasis.errors import ConfigError
from oasis.ui.terminal.commands.base import Command
from oasis.ui.terminal.paint import words

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table
    from rich.text import Text

    from oasis.plant.plant import Plant
    from oasis.plant.site import Site
    from oasis.ui.terminal.workplace import Workplace

MAX_WRITES = 20
_NO_SITE = (
    "There is no site file, so devices are only read. Start with --site FILE (a file of yours, not the project's) to "
    "have tags, limits and writing."
)


def _with_site(place: "Workplace") -> "tuple[Plant, Site]":
    """The plant and its site file. Raises ConfigError where there is none."""
    plant = place.conversation.equipped.box.plant
    if plant is None or plant.site is None:
        raise ConfigError(_NO_SITE)
    return plant, plant.site


async def _site(place: "Workplace", argument: str) -> None:
    plant, site = _with_site(place)
    place.feed.say(
        words(f"{site.name}: {site.path}", "bold"),
        words(f"sha256 {site.digest[:16]}, as it was when the session began", "dim"),
        *_tags(site, argument, place.brush.width),
    )
    if plant.safe_state:
        place.feed.say(words(plant.safe_state))
    elif plant.safe_changes:
        denied = f"You did not approve the safe values ({plant.safe_changes}): at the end tags are left as they are."
        place.feed.say(words(denied))


def _tags(site: "Site", wanted: str, width: int) -> "list[RenderableType]":
    """The tags whose name holds this word, device by device."""
    from oasis.ui.terminal.columns import in_columns  # noqa: PLC0415

    by_device: dict[str, list[tuple[Text, ...]]] = {}
    for name, tag in sorted(site.tags.items()):
        if wanted.casefold() in name.casefold():
            where, unit = words(tag.point.address, "dim"), words(tag.point.form.unit)
            limits = words(tag.limits, "bold red" if tag.is_writable else "")
            by_device.setdefault(tag.url, []).append((words(name), where, unit, limits))
    names = tuple(words(name, "dim") for name in ("tag", "where", "unit", "may be written"))
    parts = [part for url, rows in by_device.items() for part in (words(url, "dim"), *rows)]
    return in_columns([names, *parts], width)


def _table(*columns: str) -> "Table":
    from rich.table import Table  # noqa: PLC0415

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for name in columns:
        table.add_column(name, overflow="fold")
    return table


async def _plan(place: "Workplace", argument: str) -> None:
    plant, _ = _with_site(place)
    tag, _, value = argument.partition(" ")
    if not tag:
        _show_writes(place, plant)
        return
    if not value.strip():
        place.say("Write the value behind the tag: /plan TAG VALUE. Nothing is sent before you approve it.")
        return
    await place.conversation.open_session()
    plan = await plant.plan(tag, value.strip())
    place.feed.announce(plan.body)
    if not await place.desk.approve(plan.title):
        place.say("Not written.")
        return
    from oasis.ui.terminal.permission import BY  # noqa: PLC0415

    written = await plant.carry_out(plan.token, BY)
    place.feed.say(words(written.words))
    place.conversation.tell(f"The engineer wrote to the plant: {written.words}")


def _show_writes(place: "Workplace", plant: "Plant") -> None:
    """The newest writes in the audit."""
    from oasis.plant.audit_report import WRITES, single_writes  # noqa: PLC0415

    path = plant.audit_path
    writes = single_writes(path)[-MAX_WRITES:] if path and path.exists() else []
    if not writes:
        place.say("Nothing has been planned for this site yet. /plan TAG VALUE plans a write.")
        return
    shown = [WRITES.index(name) for name in ("Write", "Tag", "Before", "After", "Read back", "Unit", "Outcome")]
    table = _table(*(WRITES[n] for n in shown))
    for write in writes:
        table.add_row(*(words(write[n]) for n in shown))
    place.feed.say(table)


def _names(place: "Workplace") -> Sequence[str]:
    equipment = place.conversation.equipment
    plant = equipment.box.plant if equipment else None
    return sorted(plant.site.tags) if plant and plant.site else ()


def _writable(place: "Workplace") -> Sequence[str]:
    equipment = place.conversation.equipment
    plant = equipment.box.plant if equipment else None
    return sorted(n for n, tag in plant.site.tags.items() if tag.is_writable) if plant and plant.site else ()


COMMANDS = (
    Command(
        "plan",
        "[TAG VALUE]",
        "writes to the plant so far; plan one of your own",
        _plan,
        _writable,
        is_for_idle=True,
        bare_shows=True,
    ),
    Command("site", "[TAG]", "the site file: tags, limits, whether writing is possible", _site, _names),
)
