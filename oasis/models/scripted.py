"""A model without a server: its replies are written beforehand. It stands in for a mind in tests of the loop."""

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from inspect import isawaitable

from oasis.core.events import Prefill, Reasoning, Text
from oasis.core.fold import fold
from oasis.core.items import Assistant, Item, NewItem, Stop, ToolCall
from oasis.core.prefix import Prefix
from oasis.core.transcript import Chunk, Encoder, Request
from oasis.core.usage import Usage
from oasis.models.base import Lane, Reply, Sampling


@dataclass(slots=True)
class Held:
    """A reply that never ends: it streams `message`, sets `reached` and waits until the stream is closed."""

    message: Assistant
    reached: asyncio.Event = field(default_factory=asyncio.Event)


_PLAIN = Sampling()

Line = Assistant | Held | Callable[[Request], Assistant | Awaitable[Assistant]]


def reply(text: str = "", *calls: ToolCall, reasoning: str = "", stop: Stop = Stop.END) -> Assistant:
    """A message for a script. Its wire is filled in by the model that plays it."""
    return Assistant(text, reasoning, calls, stop, wire=b"")


def call(name: str, call_id: str = "", /, **arguments: object) -> ToolCall:
    """A well-formed call for a script; its id is the tool's name unless one is given."""
    return ToolCall(call_id or name, name, json.dumps(arguments))


class ByteEncoder:
    """Writes one token per byte of a plain rendering: `[role]text` per message."""

    async def head(self, prefix: Prefix) -> Chunk:
        return _ids(prefix.wire.decode())

    async def batch(self, prefix: Prefix, history: Sequence[Item], new: Sequence[NewItem]) -> Chunk:
        del prefix, history
        messages = fold(new)
        return _ids("".join(f"[{'tool' if m.is_output else 'user'}]{m.text}\n" for m in messages) + "[model]")

    def message(self, message: Assistant) -> Assistant:
        """The message with its generated text and ids; a message that was cut off has no closing token."""
        closing = "" if message.stop is Stop.CANCELLED else "\n"
        written = "".join(f"<call>{c.name} {c.arguments}</call>" for c in message.calls)
        raw = message.raw or (f"<think>{message.reasoning}</think>" * bool(message.reasoning)) + message.text + written
        return replace(message, raw=raw, wire=message.wire or _ids(raw + closing).wire)


class JsonEncoder:
    """Writes one JSON object per message and sees no tokens."""

    async def head(self, prefix: Prefix) -> Chunk:
        return Chunk(_object(role="system", content=prefix.system), None)

    async def batch(self, prefix: Prefix, history: Sequence[Item], new: Sequence[NewItem]) -> Chunk:
        del prefix, history
        objects = [
            _object(role="tool", tool_call_id=m.call_id, content=m.text)
            if m.is_output
            else _object(role="user", content=m.text)
            for m in fold(new)
        ]
        return Chunk(b",".join(objects), None)

    def message(self, message: Assistant) -> Assistant:
        """The message with the object that is sent again."""
        calls = [{"id": c.id, "name": c.name, "arguments": c.arguments} for c in message.calls]
        wire = _object(role="assistant", content=message.text, reasoning=message.reasoning, tool_calls=calls)
        return replace(message, wire=message.wire or wire)


def _ids(text: str) -> Chunk:
    data = text.encode()
    return Chunk(b",".join(b"%d" % byte for byte in data), len(data))


def _object(**fields: object) -> bytes:
    return json.dumps(fields, ensure_ascii=False).encode()


class ScriptedModel:
    """Plays `replies` in order, one for each request, and keeps the requests in `requests`.

    A reply is a message, a function of the request that gives (or raises) one, or a Held message.
    Raises AssertionError, naming the request, when a request comes after the last reply.
    """

    def __init__(
        self,
        replies: Sequence[Line],
        lane: Lane = Lane.TOKENS,
        context_tokens: int | None = None,
        name: str = "scripted",
    ) -> None:
        self.name = name
        self.lane = lane
        self.identity = f"{name}/{lane}"
        self.context_tokens = context_tokens
        self._writer = ByteEncoder() if lane is Lane.TOKENS else JsonEncoder()
        self.encoder: Encoder = self._writer
        self.requests: list[Request] = []
        self.samplings: list[Sampling] = []
        self._replies = list(replies)
        self._played = 0
        self._received = reply()

    @property
    def is_played_out(self) -> bool:
        """Whether every reply of the script was used."""
        return self._played == len(self._replies)

    async def stream(
        self, request: Request, sampling: Sampling = _PLAIN
    ) -> AsyncGenerator[Prefill | Reasoning | Text | Reply, None]:
        self.requests.append(request)
        self.samplings.append(sampling)
        self._received = reply()
        line = self._next(request)
        message = line.message if isinstance(line, Held) else line
        if isawaitable(message):
            message = await message
        if message.reasoning:
            self._received = replace(self._received, reasoning=message.reasoning)
            yield Reasoning(message.reasoning)
        if message.text:
            self._received = replace(self._received, text=message.text)
            yield Text(message.text)
        if isinstance(line, Held):
            line.reached.set()
            await asyncio.Event().wait()
        message = self._writer.message(message)
        yield Reply(message, self._usage(request, message))

    def partial(self) -> Assistant:
        """What was streamed before the stream was closed."""
        return self._writer.message(replace(self._received, stop=Stop.CANCELLED))

    async def close(self) -> None:
        """Nothing to close."""

    def _next(self, request: Request) -> Assistant | Held | Awaitable[Assistant]:
        if self.is_played_out:
            last = request.chunks[-1].wire
            raise AssertionError(
                f"the script has {len(self._replies)} replies and this is request {len(self.requests)}; "
                f"its last chunk is {_readable(last, self.lane)!r}"
            )
        line = self._replies[self._played]
        self._played += 1
        return line(request) if callable(line) else line

    def _usage(self, request: Request, message: Assistant) -> Usage:
        if request.tokens is None or request.new_tokens is None:
            return Usage(is_cache_known=False)
        decoded = message.wire.count(b",") + 1
        return Usage(request.tokens, request.tokens - request.new_tokens, decoded)


def _readable(wire: bytes, lane: Lane) -> str:
    if lane is Lane.CHAT or not wire:
        return wire.decode(errors="replace")[-200:]
    return bytes(int(i) for i in wire.split(b",")).decode(errors="replace")[-200:]
