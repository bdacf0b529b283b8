"""A chat server whose answers a test writes beforehand, down to the byte."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.connections import closed, ended

Part = bytes | asyncio.Event


def sse(*objects: object) -> bytes:
    """The objects as server-sent events."""
    return b"".join(b"data: " + json.dumps(o).encode() + b"\n\n" for o in objects)


def delta(finish: str | None = None, **fields: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}


def stream(*parts: Part, end: bytes = b"data: [DONE]\n\n") -> list[Part]:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
    return [head, *parts, end]


def answer(status: str, body: object) -> list[Part]:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    head = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(data)}\r\nConnection: close\r\n\r\n"
    return [head.encode() + data]


@dataclass
class ScriptedServer:
    """Gives the next answer to each POST; an Event in an answer is waited for before what follows it.

    To a GET it is an OpenAI-compatible server with one model, `m`.
    """

    answers: Sequence[Sequence[Part]]
    url: str = ""
    requests: list[dict[str, Any]] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    tasks: set[asyncio.Task[None]] = field(default_factory=set)

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.tasks.add(asyncio.current_task())
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            if head.startswith(b"GET "):
                is_listing = head.startswith(b"GET /v1/models ")
                found = answer("200 OK", {"data": [{"id": "m"}]}) if is_listing else answer("404 Not Found", {})
                writer.write(found[0])
                return await writer.drain()
            length = next(
                (int(h.split(b":")[1]) for h in head.lower().split(b"\r\n") if h.startswith(b"content-length")), 0
            )
            body = await reader.readexactly(length)
            self.bodies.append(body)
            self.requests.append(json.loads(body or b"{}"))
            for part in self.answers[len(self.requests) - 1]:
                if isinstance(part, asyncio.Event):
                    await part.wait()
                    continue
                writer.write(part)
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            await closed(writer)


@asynccontextmanager
async def serving(*answers: Sequence[Part]) -> AsyncIterator[ScriptedServer]:
    server = ScriptedServer(answers)
    listener = await asyncio.start_server(server.handle, "127.0.0.1", 0)
    server.url = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}"
    async with listener:
        try:
            yield server
        finally:
            await ended(server.tasks)
