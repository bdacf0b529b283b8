"""What a session has of the plant: connections, the site file, the writer behind its only door."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from oasis.core.tool import Tool
from oasis.plant.connections import Connections
from oasis.plant.pack import Pack
from oasis.plant.tools import plant_tools

if TYPE_CHECKING:
    from oasis.plant.site import Site
    from oasis.plant.writer import Writer


class Plant:
    """The plant as one session sees it. Nothing is sent before a tool is used; close it."""

    def __init__(
        self,
        connections: Connections,
        words: Sequence[str],
        site: "Site | None" = None,
        writer: "Writer | None" = None,
    ) -> None:
        self.connections = connections
        self.site = site
        self.writer = writer
        self.tools: tuple[Tool, ...] = plant_tools(connections, words, site, writer)

    async def close(self) -> None:
        await self.connections.close()


def plant(packs: Sequence[Pack], words: Sequence[str]) -> Plant:
    """A plant to read, with the packs' drivers."""
    return Plant(Connections(packs), words)
