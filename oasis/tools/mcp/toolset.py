"""The tools of a session's servers: frozen in the head, called, compared with what the servers offer later."""

import json
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from oasis.core.items import Status
from oasis.core.tool import Arguments, Outcome, Preview, Risk, Tool, ToolSpec
from oasis.errors import ToolFault
from oasis.tools.clip import clip_line, one_line, visible
from oasis.tools.mcp import news
from oasis.tools.mcp.offers import offers

if TYPE_CHECKING:
    from oasis.tools.mcp.connection import Connection

MAX_TITLE_CHARS = 120


@dataclass(frozen=True, slots=True)
class Standing:
    """How a server does now: where it is, whether it runs, the names of its tools in the head, what went wrong."""

    name: str
    place: str
    is_running: bool
    tools: tuple[str, ...]
    fault: str


class Mcp:
    """The tools of the connected servers.

    tools   as they stand in the head: sorted by server, then tool; only `keep` and `take_up` change them
    said    what a person should know of the start: servers that are down, tools left out
    """

    def __init__(
        self, connections: Sequence["Connection"], spill: Path, taken: Collection[str], said: list[str]
    ) -> None:
        self.said = said
        self._connections = connections
        self._spill = spill
        self._taken = taken
        self._frozen: dict[str, list[ToolSpec]] = {}
        self._compared: dict[str, object] = {}
        self._told: dict[str, str] = {}
        self._orphans: list[str] = []
        self.tools: tuple[Tool, ...] = ()
        self.said += self._freeze()

    def news(self) -> str | None:
        """What the servers' tools have become since the head was frozen; each change is told once."""
        orphans, self._orphans = self._orphans, []
        said = [news.is_not_connected(orphans)] if orphans else []
        return "\n".join([*said, *filter(None, map(self._news_of, self._connections))]) or None

    def standing(self) -> tuple[Standing, ...]:
        """Every server, those that are down too, in the order of their tools."""
        return tuple(
            Standing(
                one.server.name,
                one.server.place,
                one.is_running,
                tuple(spec.name for spec in self._frozen[one.server.name]),
                one.fault,
            )
            for one in self._connections
        )

    def take_up(self) -> tuple[Tool, ...]:
        """The tools as they are now, for the head of a new epoch; they are frozen from here on."""
        self._freeze()
        return self.tools

    def keep(self, specs: Sequence[ToolSpec], others: Collection[str]) -> tuple[Tool, ...]:
        """Go on with the specifications of a session that is resumed, all but those that are named in `others`.

        They stay as they are, whatever the servers offer now; `news` then tells what differs. A call goes to the server
        that the name belongs to; where there is none, or it has no such tool any more, its output says so.
        """
        now = {tool.spec.name: tool for tool in self.tools}
        kept = [spec for spec in specs if spec.name not in others]
        self.tools = tuple(
            replace(now[spec.name], spec=spec) if spec.name in now else self._tool_by_name(spec) for spec in kept
        )
        prefixes = [connection.server.prefix for connection in self._connections]
        for connection in self._connections:
            name = connection.server.name
            self._frozen[name] = [spec for spec in kept if _prefix(spec) == connection.server.prefix]
            self._compared.pop(name, None)
        self._orphans = [spec.name for spec in kept if _prefix(spec) not in prefixes]
        return self.tools

    def _freeze(self) -> list[str]:
        tools: list[Tool] = []
        said: list[str] = []
        for connection in self._connections:
            name = connection.server.name
            made, faults = offers(connection.server, connection.listed or (), self._taken)
            self._frozen[name], self._compared[name] = [offer.spec for offer in made], connection.listed
            tools += [self._tool(connection, offer.tool, offer.spec) for offer in made]
            said += faults
        self.tools = tuple(tools)
        self._told.clear()
        return said

    def _news_of(self, connection: "Connection") -> str:
        name = connection.server.name
        if name in self._compared and self._compared[name] is connection.listed:
            return ""
        self._compared[name] = connection.listed
        if connection.listed is None:
            return news.is_down(name) if self._frozen[name] else ""
        made, _ = offers(connection.server, connection.listed, self._taken)
        said = news.difference(self._frozen[name], [offer.spec for offer in made])
        if said == self._told.get(name, ""):
            return ""
        self._told[name] = said
        return news.changed(name, said)

    def _tool(self, connection: "Connection", name: str, spec: ToolSpec) -> Tool:
        async def run(arguments: Arguments) -> Outcome:
            return await _run(connection, name, arguments, self._spill)

        risk = Risk.READ if connection.server.only_reads(name) else Risk.EXEC
        return Tool(spec, risk, _preview(connection.server.name, name), run)

    def _tool_by_name(self, spec: ToolSpec) -> Tool:
        """A tool of an earlier run whose server is down or does not list it: looked for when it is called."""
        prefix = _prefix(spec)
        connection = next((c for c in self._connections if c.server.prefix == prefix), None)

        async def run(arguments: Arguments) -> Outcome:
            if connection is None:
                raise ToolFault(
                    f"{spec.name} is not there in this run: the MCP server or pack that it came from is not connected. "
                    "Go on without it, or tell the user to connect it and resume."
                )
            await connection.live()
            made, _ = offers(connection.server, connection.listed or (), self._taken)
            offer = next((one for one in made if one.spec.name == spec.name), None)
            if offer is None:
                raise ToolFault(f"The MCP server {connection.server.name} has no tool {spec.name} any more.")
            return await _run(connection, offer.tool, arguments, self._spill)

        server = connection.server.name if connection else prefix
        return Tool(spec, Risk.EXEC, _preview(server, spec.name), run)


def _prefix(spec: ToolSpec) -> str:
    """The beginning of a tool's name: its server's."""
    return spec.name.partition("_")[0]


def _preview(server: str, tool: str) -> Callable[[Arguments], Awaitable[Preview]]:
    async def preview(arguments: Arguments) -> Preview:
        subject = json.dumps(arguments, ensure_ascii=False, sort_keys=True)
        title = clip_line(one_line(f"MCP {server}: {tool} {subject}"), MAX_TITLE_CHARS)
        return Preview(title, subject, visible(json.dumps(arguments, ensure_ascii=False, indent=2)))

    return preview


async def _run(connection: "Connection", tool: str, arguments: Arguments, spill: Path) -> Outcome:
    from oasis.tools.mcp.connection import Died  # noqa: PLC0415
    from oasis.tools.mcp.reply import outcome  # noqa: PLC0415

    try:
        result = await connection.call(tool, arguments)
    except Died as fault:
        return Outcome(str(fault), Status.UNKNOWN)
    return await outcome(result, connection.server.name, spill)
