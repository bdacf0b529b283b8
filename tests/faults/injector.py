"""Stands between client and engine and spoils answers: a reset, half a line, 503, slow headers, garbage."""

import asyncio
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from socket import SO_LINGER, SOL_SOCKET

from tests.connections import closed, ended


class Fault(StrEnum):
    RESET_BEFORE = "the connection is reset before an answer"
    RESET_IN_STREAM = "the connection is reset in mid-stream"
    HALF_A_LINE = "the stream ends in the middle of a line"
    LOADING = "503, the model is loading"
    SLOW_HEADERS = "the headers come byte by byte"
    GARBAGE = "garbage in the stream"


LOADING = b'{"error":{"message":"Loading model","type":"unavailable_error","code":503}}'


@dataclass
class Injector:
    """A proxy to the engine at `port`; `plan` names the fault of the n-th completion (from 0).

    The first `loading` answers to /props say that the model is being loaded.
    """

    port: int
    plan: dict[int, Fault]
    url: str = ""
    completions: int = 0
    injected: list[Fault] = field(default_factory=list)
    loading: int = 0
    tasks: set[asyncio.Task[None]] = field(default_factory=set)

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.tasks.add(asyncio.current_task())
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            fields = dict(line.split(b": ", 1) for line in head.split(b"\r\n")[1:] if b": " in line)
            length = next((int(v) for k, v in fields.items() if k.lower() == b"content-length"), 0)
            await self._answer(head, await reader.readexactly(length), writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            await closed(writer)

    async def _answer(self, head: bytes, body: bytes, writer: asyncio.StreamWriter) -> None:
        fault = None
        if head.startswith((b"POST /completion ", b"POST /v1/chat/completions ")):
            fault = self.plan.get(self.completions)
            self.completions += 1
        if fault:
            self.injected.append(fault)
        if fault is Fault.RESET_BEFORE:
            _reset(writer)
            return
        if head.startswith(b"GET /props ") and self.loading:
            self.loading -= 1
            fault = Fault.LOADING
        if fault is Fault.LOADING:
            writer.write(
                b"HTTP/1.1 503 Unavailable\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(LOADING) + LOADING
            )
            await writer.drain()
            return
        upstream, sender = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            sender.write(
                head.replace(b"keep-alive", b"close").replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n", 1) + body
            )
            await self._forward(upstream, writer, fault)
        finally:
            await closed(sender)

    async def _forward(self, upstream: asyncio.StreamReader, writer: asyncio.StreamWriter, fault: Fault | None) -> None:
        head = await upstream.readuntil(b"\r\n\r\n")
        for part in [head[n : n + 1] for n in range(len(head))] if fault is Fault.SLOW_HEADERS else [head]:
            writer.write(part)
            await writer.drain()
        lines = 0
        while data := await upstream.read(1 << 16):
            lines += data.count(b'"content":')
            if fault in (Fault.RESET_IN_STREAM, Fault.HALF_A_LINE, Fault.GARBAGE) and lines >= 2:
                await self._spoil(data, writer, fault)
                return
            writer.write(data)
            await writer.drain()

    async def _spoil(self, data: bytes, writer: asyncio.StreamWriter, fault: Fault) -> None:
        if fault is Fault.GARBAGE:
            garbage = b"data: \xff\xfe{{{\n\n"
            writer.write(b"%x\r\n" % len(garbage) + garbage + b"\r\n")
        else:
            writer.write(data[: max(1, len(data) // 2)])
        await writer.drain()
        if fault is Fault.RESET_IN_STREAM:
            _reset(writer)


def _reset(writer: asyncio.StreamWriter) -> None:
    writer.get_extra_info("socket").setsockopt(SOL_SOCKET, SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


@asynccontextmanager
async def injecting(engine_url: str, plan: dict[int, Fault]) -> AsyncIterator[Injector]:
    injector = Injector(int(engine_url.rsplit(":", 1)[1]), plan)
    listener = await asyncio.start_server(injector.handle, "127.0.0.1", 0)
    injector.url = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}"
    async with listener:
        try:
            yield injector
        finally:
            await ended(injector.tasks)
