"""The tools of all MCP servers of a session: started, listed, frozen, and called."""

import asyncio
import contextlib
import json
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from oasis.core.items import Status
from oasis.core.tool import Arguments, Outcome, Preview, Risk, Tool, ToolSpec
from oasis.errors import ToolFault
from oasis.tools.clip import clip_line, one_line, visible
from oasis.tools.mcp.offers import Offer, offers
from oasis.tools.mcp.server import Server

if TYPE_CHECKING:
    from oasis.tools.mcp.connection import Connection

MAX_TITLE_CHARS = 120
MAX_NAMED = 8
_SILENT = logging.NullHandler()


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

    tools   as they stand in the head: sorted by server, then tool, the same until `take_up`
    said    what a person should know of the start: servers that are down, tools left out
    """

    def __init__(
        self, connections: Sequence["Connection"], spill: Path, taken: Collection[str], said: list[str]
    ) -> None:
        self.said = said
        self._connections = connections
        self._spill = spill
        self._taken = taken
        self._frozen: dict[str, list[Offer]] = {}
        self._told: dict[str, str] = {}
        self._seen: dict[str, object] = {}
        self.tools: tuple[Tool, ...] = ()
        self.said += self._freeze()

    def news(self) -> str | None:
        """What a server's list has become since the head was frozen; each change is told once."""
        return "\n".join(filter(None, map(self._news_of, self._connections))) or None

    def standing(self) -> tuple[Standing, ...]:
        """Every server, those that are down too, in the order of their tools."""
        return tuple(
            Standing(
                one.server.name,
                one.server.place,
                one.is_running,
                tuple(offer.spec.name for offer in self._frozen[one.server.name]),
                one.fault,
            )
            for one in self._connections
        )

    def take_up(self) -> tuple[Tool, ...]:
        """The tools as they are now, for the head of a new epoch; they are frozen from here on."""
        self._freeze()
        return self.tools

    def kept(self, specs: Sequence[ToolSpec], others: Collection[str]) -> tuple[Tool, ...]:
        """Tools for the specifications of a session that is resumed, all but those that are named in `others`.

        The specifications stay as they are, whatever the servers offer now. A call goes to the server that the name
        belongs to; where there is none, or it has no such tool any more, its output says so.
        """
        now = {tool.spec.name: tool for tool in self.tools}
        return tuple(
            Tool(spec, now[spec.name].risk, now[spec.name].preview, now[spec.name].run)
            if spec.name in now
            else self._tool_by_name(spec)
            for spec in specs
            if spec.name not in others
        )

    def _freeze(self) -> list[str]:
        tools: list[Tool] = []
        said: list[str] = []
        for connection in self._connections:
            made, faults = offers(connection.server, connection.listed, self._taken)
            self._frozen[connection.server.name] = made
            self._seen[connection.server.name] = connection.listed
            tools += [self._tool(connection, offer.tool, offer.spec) for offer in made]
            said += faults
        self.tools = tuple(tools)
        self._told.clear()
        return said

    def _news_of(self, connection: "Connection") -> str:
        name = connection.server.name
        if self._seen[name] is connection.listed:
            return ""
        self._seen[name] = connection.listed
        before = {offer.spec.name: offer.spec for offer in self._frozen[name]}
        now = {offer.spec.name: offer.spec for offer in offers(connection.server, connection.listed, self._taken)[0]}
        parts = (
            ("new", [one for one in now if one not in before]),
            ("gone", [one for one in before if one not in now]),
            ("changed", [one for one in now if one in before and now[one] != before[one]]),
        )
        said = "; ".join(f"{what}: {_listed(names)}" for what, names in parts if names)
        if said == self._told.get(name, ""):
            return ""
        self._told[name] = said
        if not said:
            return f"The MCP server {name} has the tools again that it had at the beginning."
        return (
            f"The MCP server {name} changed its tools ({said}). Yours stay as they are until the conversation is "
            "compacted or a new session begins; new ones cannot be called before, gone ones give an error."
        )

    def _tool(self, connection: "Connection", name: str, spec: ToolSpec) -> Tool:
        async def run(arguments: Arguments) -> Outcome:
            return await _run(connection, name, arguments, self._spill)

        risk = Risk.READ if connection.server.only_reads(name) else Risk.EXEC
        return Tool(spec, risk, _preview(connection.server.name, name), run)

    def _tool_by_name(self, spec: ToolSpec) -> Tool:
        """A tool of an earlier run whose server is down or does not list it: looked for when it is called."""
        prefix = spec.name.partition("_")[0]
        connection = next((c for c in self._connections if c.server.prefix == prefix), None)

        async def run(arguments: Arguments) -> Outcome:
            if connection is None:
                raise ToolFault(
                    f"{spec.name} is not there in this run: the MCP server or pack that it came from is not connected. "
                    "Go on without it, or tell the user to connect it and resume."
                )
            await connection.live()
            made, _ = offers(connection.server, connection.listed, self._taken)
            offer = next((one for one in made if one.spec.name == spec.name), None)
            if offer is None:
                raise ToolFault(f"The MCP server {connection.server.name} has no tool {spec.name} any more.")
            return await _run(connection, offer.tool, arguments, self._spill)

        server = connection.server.name if connection else prefix
        return Tool(spec, Risk.EXEC, _preview(server, spec.name), run)


@contextlib.asynccontextmanager
async def connected(servers: Sequence[Server], spill: Path, taken: Collection[str] = ()) -> AsyncGenerator[Mcp, None]:
    """Start the servers, all at once, and have their tools; at the end of the block they are gone.

    One that does not start is named in `said` and left out. Outputs too long for a prompt go to files of `spill`.
    `taken`: the names of all other tools, which no server's tool gets.
    """
    chosen, said = _chosen(servers)
    connections = await _connections(chosen, said)
    try:
        faults = await asyncio.gather(*(_started(one) for one in connections))
        yield Mcp(connections, spill, taken, [*said, *filter(None, faults)])
    finally:
        await asyncio.gather(*(one.close() for one in connections))


def _chosen(servers: Sequence[Server]) -> tuple[list[Server], list[str]]:
    """The servers in order of their tools' names, without those whose tools could not be told from another's."""
    kept: dict[str, Server] = {}
    said: list[str] = []
    for server in sorted(servers, key=lambda server: (server.prefix, server.name)):
        other = kept.setdefault(server.prefix, server)
        if other is not server:
            said.append(
                f"MCP server {server.name} was left out: its tools would have the names of those of {other.name}. "
                "Rename one of the two."
            )
    return list(kept.values()), said


async def _connections(servers: Sequence[Server], said: list[str]) -> list["Connection"]:
    """Unstarted connections. The SDK takes a moment to import, in a thread, and only where there are servers."""
    if not servers:
        return []
    for name in ("mcp", "client", "httpx2", "httpcore2"):
        logging.getLogger(name).addHandler(_SILENT)  # what a server sends is not printed on a terminal
    try:
        module = await asyncio.to_thread(import_module, "oasis.tools.mcp.connection")
    except ImportError as error:
        names = ", ".join(server.name for server in servers)
        said.append(f"MCP servers left out ({names}): {error}. Install them with pip install 'oasis-agent[mcp]'.")
        return []
    return [module.Connection(server) for server in servers]


async def _started(connection: "Connection") -> str:
    """Start it; what went wrong, in words, or nothing."""
    try:
        await connection.start()
    except ToolFault as fault:
        return f"{fault} It is left out of this session."
    return ""


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


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else ""
    return f"{', '.join(names[:MAX_NAMED])}{more}"
