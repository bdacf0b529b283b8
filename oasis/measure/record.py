"""A recorder between a client and a model server: forwards every byte and keeps what was asked and what it cost.

It reads the server's own `timings` out of the answers and counts by itself, so that what Oasis books can be held
against something that Oasis did not write down.
"""

import asyncio
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self, cast
from urllib.parse import urlsplit

from oasis.engine.http import host_of

_LARGEST_HEAD_BYTES = 1 << 20
_PIECE_BYTES = 1 << 16


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server answered, as far as it has come.

    `timings` are llama.cpp's of the whole answer, empty where it was cut off or holds none. `tokens` are the ids it
    brought (only with `return_tokens`).
    """

    status: int = 0
    timings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    tokens: Sequence[int] = ()
    is_complete: bool = False


@dataclass
class Exchange:
    """One request, and the bytes of its answer that have passed."""

    method: str
    path: str
    body: bytes
    raw: bytearray = field(default_factory=bytearray)

    @property
    def is_completion(self) -> bool:
        """Whether this asked the model to write."""
        return self.method == "POST" and self.path.endswith(("/completion", "/completions"))

    @property
    def answer(self) -> Answer:
        return read_answer(bytes(self.raw))

    @property
    def computed_tokens(self) -> int:
        """Prompt tokens the server says it prefilled. Raises KeyError where the answer was cut off."""
        return int(self.answer.timings["prompt_n"])


class Recorder:
    """A proxy on loopback in front of `upstream`; use it in an `async with` block and give `url` to the client."""

    def __init__(self, upstream: str) -> None:
        parts = urlsplit(upstream.rstrip("/"))
        self._is_secure = parts.scheme == "https"
        self._host, self._port = host_of(upstream), parts.port or (443 if self._is_secure else 80)
        self._netloc, self._folder = parts.netloc.rpartition("@")[2], parts.path
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.Task[None]] = set()
        self.exchanges: list[Exchange] = []
        self.url = ""

    @property
    def completions(self) -> list[Exchange]:
        """The exchanges that asked the model to write, in order."""
        return [exchange for exchange in self.exchanges if exchange.is_completion]

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        port = self._server.sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        server = cast(asyncio.Server, self._server)
        server.close()
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)
        await server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = cast("asyncio.Task[None]", asyncio.current_task())
        self._open.add(task)
        try:
            await self._forward(reader, writer)
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass  # one side went away; the other sees the connection end
        except asyncio.CancelledError:
            pass  # the recorder is being closed
        finally:
            self._open.discard(task)
            writer.close()

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One request; the connection ends with its answer, which the answer's header says."""
        head = await reader.readuntil(b"\r\n\r\n")
        method, path, headers = _request_head(head)
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        exchange = Exchange(method, path, body)
        self.exchanges.append(exchange)
        up_reader, up_writer = await asyncio.open_connection(
            self._host, self._port, limit=_LARGEST_HEAD_BYTES, ssl=self._is_secure or None
        )
        try:
            up_writer.write(self._redirected(head) + body)
            await up_writer.drain()
            answer = asyncio.create_task(_relay(up_reader, writer, exchange.raw))
            gone = asyncio.create_task(reader.read(1))
            try:
                await asyncio.wait((answer, gone), return_when=asyncio.FIRST_COMPLETED)
            finally:
                gone.cancel()
                answer.cancel()
                await asyncio.gather(answer, gone, return_exceptions=True)
        finally:
            up_writer.close()

    def _redirected(self, head: bytes) -> bytes:
        """The request's head for the upstream server, with `Connection: close`."""
        first, *lines = head.rstrip().split(b"\r\n")
        method, path, version = first.split(b" ", 2)
        kept = [line for line in lines if not line.lower().startswith((b"connection:", b"host:"))]
        start = b" ".join([method, self._folder.encode() + path, version])
        return b"\r\n".join([start, b"Host: " + self._netloc.encode(), *kept, b"Connection: close", b"", b""])


async def _relay(source: asyncio.StreamReader, sink: asyncio.StreamWriter, kept: bytearray) -> None:
    while piece := await source.read(_PIECE_BYTES):
        kept += piece
        sink.write(piece)
        await sink.drain()


def _request_head(head: bytes) -> tuple[str, str, dict[str, str]]:
    first, *lines = head.decode("latin-1").split("\r\n")
    method, path, _ = first.split(" ", 2)
    fields = (line.partition(":") for line in lines if line)
    return method, path.partition("?")[0], {name.strip().lower(): value.strip() for name, _, value in fields}


def read_answer(raw: bytes) -> Answer:
    """Read a server's answer, streamed or not, up to where it has come."""
    head, _, body = raw.partition(b"\r\n\r\n")
    if not head:
        return Answer()
    if b"transfer-encoding: chunked" in head.lower():
        body = _unchunked(body)
    timings: Mapping[str, Any] = {}
    tokens: list[int] = []
    is_complete = False
    for said in _objects(body):
        tokens += [] if "prompt_progress" in said else said.get("tokens") or []
        if said.get("stop") or "choices" in said:
            timings = said.get("timings") or timings
        is_complete = is_complete or bool(said.get("stop")) or _is_finished(said)
    return Answer(int(head.split(b" ", 2)[1]), timings, tokens, is_complete)


def _is_finished(answer: Mapping[str, Any]) -> bool:
    choices: list[dict[str, Any]] = answer.get("choices") or []
    return any(choice.get("finish_reason") for choice in choices)


def _unchunked(body: bytes) -> bytes:
    whole, at = bytearray(), 0
    while (end := body.find(b"\r\n", at)) >= 0:
        size = int(body[at:end].split(b";")[0] or b"0", 16)
        whole += body[end + 2 : end + 2 + size]
        at = end + 4 + size
    return bytes(whole)


def _objects(body: bytes) -> list[dict[str, Any]]:
    """The JSON objects of an answer: the body, or the data of each event."""
    lines = [line[5:] for line in body.split(b"\n") if line.startswith(b"data:")] or [body]
    objects: list[dict[str, Any]] = []
    for line in lines:
        with suppress(ValueError):
            value: object = json.loads(line)
            if isinstance(value, dict):
                objects.append(cast(dict[str, Any], value))
    return objects
