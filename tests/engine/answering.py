"""A server on loopback that answers with exactly the bytes a test gives it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

Answer = Callable[[str, asyncio.StreamWriter], Awaitable[None]]
STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"


@dataclass
class Server:
    port: int
    requests: list[str] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


def whole(status: str, body: str, kind: str = "application/json") -> bytes:
    """A complete HTTP answer."""
    data = body.encode()
    return (
        f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(data)}\r\nConnection: close\r\n\r\n".encode()
        + data
    )


def always(answer: bytes) -> Answer:
    """Every request gets these bytes, then the connection ends."""

    async def give(_: str, writer: asyncio.StreamWriter) -> None:
        writer.write(answer)

    return give


def by_path(answers: dict[str, bytes]) -> Answer:
    """Each path gets its bytes, every other one 404."""

    async def give(request: str, writer: asyncio.StreamWriter) -> None:
        writer.write(answers.get(request.split()[1], whole("404 Not Found", '{"error":"no such path"}')))

    return give


@asynccontextmanager
async def answering(answer: Answer, host: str = "127.0.0.1") -> AsyncIterator[Server]:
    """The running server; it keeps the first line of each request."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            running.requests.append(head.splitlines()[0])
            for line in head.lower().splitlines():
                if line.startswith("content-length:"):
                    await reader.readexactly(int(line.split(":")[1]))
            await answer(head, writer)
            await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(handle, host, 0)
    running = Server(server.sockets[0].getsockname()[1])
    async with server:
        yield running
