"""/site and /plan: what may be written to the plant, and what was."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from oasis.ui.terminal.commands.base import Command
from oasis.ui.terminal.paint import words

if TYPE_CHECKING:
    from oasis.plant.site import Site
    from oasis.ui.terminal.terminal import Terminal

_NO_SITE = (
    "There is no site file, so devices are only read. Start with --site FILE (yours, not the project's) to have tags, "
    "limits and writing."
)


async def _site(terminal: "Terminal", argument: str) -> None:
    plant = terminal.conversation.box.plant if terminal.conversation.box else None
    if plant is None or plant.site is None:
        terminal.say(_NO_SITE)
        return
    site = plant.site
    terminal.feed.say(
        words(f"{site.name}: {site.path}", "bold"),
        words(f"sha256 {site.digest[:16]}, as it was when the session began", "dim"),
        _tags(site, argument),
    )
    if plant.writer is None:
        terminal.say("Writing is not possible in this session.")


def _tags(site: "Site", wanted: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for name in ("tag", "where", "unit", "may be written"):
        table.add_column(name, overflow="fold")
    for name, tag in sorted(site.tags.items()):
        if wanted and wanted.casefold() not in name.casefold():
            continue
        style = "bold red" if tag.is_writable else ""
        where = f"{tag.url} {tag.point.address}"
        table.add_row(Text(name), Text(where, "dim"), Text(tag.point.form.unit), Text(tag.limits, style))
    return table


def _names(terminal: "Terminal") -> Sequence[str]:
    plant = terminal.conversation.box.plant if terminal.conversation.box else None
    return sorted(plant.site.tags) if plant and plant.site else ()


COMMANDS = (Command("site", "[TAG]", "the site file: tags, limits, whether writing is possible", _site, _names),)
