"""The connection to a server over streamable HTTP."""

import contextlib
import ipaddress
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from typing import cast
from urllib.parse import urlsplit

import httpx2
from mcp.client._transport import TransportStreams
from mcp.client.streamable_http import MCP_SESSION_ID, streamable_http_client

from oasis.tools.mcp.allowance import MAX_MESSAGE_BYTES, Allowance, Flooded
from oasis.tools.mcp.server import Server

CONNECT_S = 10.0


@contextlib.asynccontextmanager
async def web(
    server: Server, allowance: Allowance, forget: Callable[[], None]
) -> AsyncGenerator[TransportStreams, None]:
    """Carry the messages of `server`. On this machine no proxy of the environment stands between.

    `forget` is told when the server does not know the session any more: 404 to a request that names one
    (https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management).
    """
    limits = httpx2.Timeout(CONNECT_S, read=None)

    async def bounded(response: httpx2.Response) -> None:
        if response.status_code == 404 and MCP_SESSION_ID in response.request.headers:
            forget()
        response.stream = _Bounded(cast(httpx2.AsyncByteStream, response.stream), allowance)

    async with (
        httpx2.AsyncClient(
            headers=dict(server.headers),
            timeout=limits,
            trust_env=not is_here(server.url),
            event_hooks={"response": [bounded]},
        ) as client,
        streamable_http_client(server.url, http_client=client, max_sse_event_size=MAX_MESSAGE_BYTES) as streams,
    ):
        yield streams


def is_here(url: str) -> bool:
    """Does the address name this machine?"""
    host = urlsplit(url).hostname or ""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class _Bounded(httpx2.AsyncByteStream):
    """A response's body that ends with a fault when more comes than a server may send."""

    def __init__(self, body: httpx2.AsyncByteStream, allowance: Allowance) -> None:
        self._body = body
        self._allowance = allowance

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for block in self._body:
            try:
                self._allowance.take_bytes(len(block))
            except Flooded as flood:
                raise httpx2.StreamError(str(flood)) from flood
            yield block

    async def aclose(self) -> None:
        await self._body.aclose()
