"""One server's connection, held by one task of its own from its start to its end.

The SDK's clients are made of task groups, which must be left by the task that entered them: `_hold` is that task.
Requests may come from any task.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping
from typing import Any

import anyio
import mcp_types as types
from mcp import ClientSession, MCPError
from mcp.client._transport import TransportStreams
from mcp.client.subscriptions import SubscriptionLost, listen
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from oasis import __version__
from oasis.errors import ToolFault
from oasis.tools.mcp import faults
from oasis.tools.mcp.allowance import Allowance
from oasis.tools.mcp.counted import Counted
from oasis.tools.mcp.offers import Listed
from oasis.tools.mcp.plain import plain
from oasis.tools.mcp.server import Server
from oasis.tools.mcp.stdio import stdio
from oasis.tools.mcp.web import web

MAX_PAGES = 50
MAX_LISTED = 1_000
MAX_RELISTS = 50
MAX_RESTARTS = 3
CLOSE_S = 3.0
_MAX_FAULT_CHARS = 400
_NO_HANDSHAKE = (types.UNSUPPORTED_PROTOCOL_VERSION, types.METHOD_NOT_FOUND)


class Died(ToolFault):
    """The server ended while a call ran: whether the call took effect is unknown."""


class _Forgotten(ToolFault):
    """A server over HTTP that was started anew refused the session it does not know: nothing was run."""


class Connection:
    """A server that is running, or was: a call to one that is gone starts it again, once.

    `listed` is its last list of tools, None until it gave one.
    """

    def __init__(self, server: Server) -> None:
        self.server = server
        self.listed: list[Listed] | None = None
        self._session: ClientSession | None = None
        self._task: asyncio.Task[None] | None = None
        self._scope = anyio.CancelScope()
        self._allowance = Allowance()
        self._starting = asyncio.Lock()
        self._wake = asyncio.Event()
        self._is_closed = False
        self._has_changed = False
        self._is_forgotten = False
        self._relists = 0
        self._restarts = 0
        self._why: list[str] = []

    @property
    def is_running(self) -> bool:
        return self._session is not None

    @property
    def fault(self) -> str:
        """Why it does not run, in a few words without controls; empty when it does or when nothing is known."""
        return "" if self.is_running or not self._why else plain(self._why[0], _MAX_FAULT_CHARS)

    async def start(self) -> ClientSession:
        """Start the server and take its list of tools. Raises ToolFault, in words, where that fails."""
        ready: asyncio.Future[ClientSession] = asyncio.get_running_loop().create_future()
        self._scope = anyio.CancelScope()
        self._task = asyncio.create_task(self._hold(ready), name=f"mcp {self.server.name}")
        try:
            return await ready
        except asyncio.CancelledError:
            self._scope.cancel()
            raise

    async def close(self) -> None:
        """End the server. Returns when it is gone; after CLOSE_S it is not waited for politely."""
        self._is_closed = True
        self._wake.set()
        if self._task is None:
            return
        if self._session is None:
            self._scope.cancel()  # not the task: that would break off the ending of the child
        await asyncio.wait([self._task], timeout=CLOSE_S)
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> types.CallToolResult:
        """Run a tool. A cancelled or timed-out call is cancelled at the server too.

        Raises Died, and ToolFault for everything else that goes wrong.
        """
        try:
            return await self._request(tool, arguments)
        except _Forgotten:
            return await self._request(tool, arguments)

    async def _request(self, tool: str, arguments: Mapping[str, Any]) -> types.CallToolResult:
        session = await self._live()
        self._allowance.renew()
        request = types.CallToolRequest(params=types.CallToolRequestParams(name=tool, arguments=dict(arguments)))
        try:
            # Not session.call_tool: it checks the result by the server's own schema, whose `pattern` would run here.
            result = await session.send_request(
                request, types.CallToolResult, request_read_timeout_seconds=self.server.timeout_s
            )
        except MCPError as error:
            raise await self._fault(error) from error
        except (ValidationError, RuntimeError) as error:
            said = "answered with no tool result; it may be broken"
            raise ToolFault(f"The MCP server {self.server.name} {said}.") from error
        self._restarts = 0
        return result

    async def live(self) -> None:
        """Have the server running, started again where it is gone. Raises ToolFault where it cannot be."""
        await self._live()

    async def _live(self) -> ClientSession:
        async with self._starting:
            if self._session is not None:
                return self._session
            if self._is_closed:
                raise ToolFault(f"The MCP server {self.server.name} was closed with the session.")
            if self._restarts >= MAX_RESTARTS:
                raise ToolFault(
                    f"The MCP server {self.server.name} is gone{self._because()} and was started {MAX_RESTARTS} times "
                    "in vain; it is not started again. Go on without it, and tell the user."
                )
            self._restarts += 1
            if self._task is not None:
                await asyncio.gather(self._task, return_exceptions=True)
            return await self.start()

    async def _fault(self, error: MCPError) -> ToolFault:
        name = self.server.name
        if error.code == types.REQUEST_TIMEOUT:
            return ToolFault(
                f"The MCP server {name} did not answer within {self.server.timeout_s:g} s. The call was cancelled; it "
                "may have had part of its effect."
            )
        if self._is_forgotten:
            await self._gone()
            return _Forgotten(f"The MCP server {name} does not know its own session. Nothing was run.")
        if error.code == types.CONNECTION_CLOSED:
            await self._gone()
            return Died(
                f"The MCP server {name} ended while this ran{self._because()}. Whether it took effect is unknown: "
                "check before repeating it. The next call starts the server again."
            )
        self._restarts = 0
        return ToolFault(f"The MCP server {name} refused: {plain(error.message, _MAX_FAULT_CHARS)}")

    async def _gone(self) -> None:
        """Leave a connection that is of no more use, so that the next call makes another."""
        if self._task is not None:
            self._session = None
            self._wake.set()
            await asyncio.wait([self._task], timeout=CLOSE_S)

    def _because(self) -> str:
        return f" ({plain(self._why[0], _MAX_FAULT_CHARS)})" if self._why else ""

    async def _hold(self, ready: asyncio.Future[ClientSession]) -> None:
        """The whole life of one connection."""
        self._allowance, self._why, self._is_forgotten = Allowance(), [], False
        self._wake.clear()
        try:
            with self._scope:
                await self._live_through(ready)
        except Exception as error:
            self._why.append(faults.words(error))
            if not ready.done():
                ready.set_exception(ToolFault(self._no_start(error)))
        finally:
            self._session = None
            if not ready.done():
                ready.set_exception(ToolFault(f"MCP server {self.server.name} was closed while it started."))

    async def _live_through(self, ready: asyncio.Future[ClientSession]) -> None:
        async with self._streams() as (incoming, outgoing):
            counted = Counted(incoming, self._allowance, self._why, self._lost)
            async with ClientSession(
                counted,
                outgoing,
                message_handler=self._hear,
                client_info=types.Implementation(name="oasis", version=__version__),
            ) as session:
                await self._begin(session, ready)
                async with anyio.create_task_group() as group:
                    group.start_soon(self._follow, session)
                    await self._serve(session)
                    group.cancel_scope.cancel()

    def _streams(self) -> contextlib.AbstractAsyncContextManager[TransportStreams]:
        if self.server.command:
            return stdio(self.server, self._allowance, self._why)
        return web(self.server, self._allowance, self._forget)

    async def _begin(self, session: ClientSession, ready: asyncio.Future[ClientSession]) -> None:
        """Agree on the protocol, list the tools. The time-out is told before a hanging server is ended."""
        try:
            with anyio.fail_after(self.server.start_s):
                try:
                    await session.initialize()
                except MCPError as error:
                    if error.code not in _NO_HANDSHAKE:
                        raise
                    await session.discover()
                self.listed = await _list(session)
        except Exception as error:
            if isinstance(error, TimeoutError):
                self._why.insert(0, f"it did not start within {self.server.start_s:g} s")
            if not ready.done():
                ready.set_exception(ToolFault(self._no_start(error)))
            raise
        self._session = session
        if not ready.done():
            ready.set_result(session)

    def _no_start(self, error: Exception) -> str:
        name = self.server.name
        if isinstance(error, TimeoutError):
            return f"MCP server {name} did not start within {self.server.start_s:g} s ({self.server.place})."
        why = self._why[0] if self._why and faults.is_closed(error) else faults.words(error)
        return f"MCP server {name} did not start ({self.server.place}): {plain(why, _MAX_FAULT_CHARS).rstrip('.')}."

    async def _serve(self, session: ClientSession) -> None:
        """Stay until the connection is lost, given up or closed; take a changed list when it is announced."""
        while self._session is session and not self._is_closed:
            await self._wake.wait()
            self._wake.clear()
            if self._has_changed and self._session is session and self._relists < MAX_RELISTS:
                self._has_changed = False
                self._relists += 1
                with contextlib.suppress(MCPError, ValidationError, RuntimeError, TimeoutError):
                    with anyio.fail_after(self.server.start_s):
                        self.listed = await _list(session)

    async def _follow(self, session: ClientSession) -> None:
        """From 2026-07-28 on a server tells of its changes only who listens."""
        if session.protocol_version in MODERN_PROTOCOL_VERSIONS:
            with contextlib.suppress(MCPError, SubscriptionLost):
                async with listen(session, tools_list_changed=True) as changes:
                    async for _ in changes:
                        self._change()

    async def _hear(self, message: object) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            self._change()

    def _change(self) -> None:
        self._has_changed = True
        self._wake.set()

    def _forget(self) -> None:
        self._is_forgotten = True

    def _lost(self) -> None:
        self._session = None
        self._wake.set()


async def _list(session: ClientSession) -> list[Listed]:
    """All pages of the server's list, MAX_LISTED tools at most; none where it knows of no tools."""
    try:
        return [tool async for tool in _tools(session)][:MAX_LISTED]
    except MCPError as error:
        if error.code == types.METHOD_NOT_FOUND:
            return []
        raise


async def _tools(session: ClientSession) -> AsyncIterator[Listed]:
    cursor: str | None = None
    for _ in range(MAX_PAGES):
        page = await session.list_tools(params=types.PaginatedRequestParams(cursor=cursor) if cursor else None)
        for tool in page.tools:
            yield Listed(tool.name, tool.description or tool.title or "", tool.input_schema)
        cursor = page.next_cursor
        if not cursor:
            return
