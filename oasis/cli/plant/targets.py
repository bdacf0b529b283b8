"""Which points a command line means: URLs with items, or tags of a site file."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from oasis.errors import ConfigError, ToolFault

if TYPE_CHECKING:
    from oasis.plant.connections import Connections
    from oasis.plant.site import Site, Tag
    from oasis.plant.values import Point


@asynccontextmanager
async def connected() -> "AsyncGenerator[Connections, None]":
    """Connections with the drivers of all installed packs, closed at the end."""
    from oasis.packs import find_packs
    from oasis.plant.connections import Connections

    connections = Connections(list(find_packs().values()))
    try:
        yield connections
    finally:
        await connections.close()


def loaded(connections: "Connections", site: Path | None) -> "Site | None":
    """The site file, where one is named. Raises ConfigError for one with a fault."""
    from oasis.plant.site_file import load

    return load(site, connections.open) if site is not None else None


def targets(connections: "Connections", site: "Site | None", arguments: Sequence[str]) -> "dict[str, list[Point]]":
    """The points of each endpoint by canonical URL, in order. No arguments: all tags. Raises ToolFault."""
    from oasis.plant.targets import grouped

    tags: Mapping[str, Tag] = site.tags if site else {}
    groups = grouped(connections.open, tags, arguments or tags, lambda text: _no_tag(text, site))
    if empty := next((url for url, points in groups.items() if not points), ""):
        raise ToolFault(f"No item was given for {empty}. `oasis plant scan '{empty}'` says what there is.")
    if not groups:
        raise ToolFault("Nothing was named. Give a URL and items, or tags with --site FILE.")
    return groups


def needs_site(site: "Site | None") -> "Site":
    """The site. Raises ConfigError without one."""
    if site is None:
        raise ConfigError(
            "Without a site file nothing is written: it says what may be. Name yours with --site FILE; "
            "`oasis plant site new URL` writes a first one."
        )
    return site


def _no_tag(text: str, site: "Site | None") -> str:
    from oasis.plant.site_findings import near

    if site is None:
        return f"{text[:60]!r} is no URL, and without --site FILE there are no tags. Give a URL first, then items."
    return f"{text[:60]!r} is no tag of {site.path}. {near(text, site.tags)}"
