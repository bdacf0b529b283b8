"""Starting and ending the MCP servers of a session."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Collection, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from oasis.errors import ToolFault
from oasis.tools.mcp.server import Server
from oasis.tools.mcp.toolset import Mcp

if TYPE_CHECKING:
    from oasis.tools.mcp.connection import Connection

_SILENT = logging.NullHandler()


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
