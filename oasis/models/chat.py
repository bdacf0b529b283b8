"""The chat lane: any OpenAI-compatible server, messages append-only.

The model's message goes back as it came, reasoning included, under the field name it came in. How much of the
prompt the server reuses is then up to its chat template.
"""

import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from oasis.core.events import Prefill, Reasoning, Text
from oasis.core.fold import Message, fold
from oasis.core.items import Assistant, Item, NewItem, Stop, ToolCall
from oasis.core.prefix import Prefix
from oasis.core.transcript import Chunk, Encoder, Request
from oasis.core.usage import Usage
from oasis.engine.faults import explained, refusal, reported
from oasis.engine.http import connect, no_read_limit
from oasis.engine.sse import DONE, events, shown
from oasis.errors import ServerFault, ServerUnreachable
from oasis.models.base import Lane, Reply, Sampling
from oasis.models.call_ids import call_ids

if TYPE_CHECKING:
    import httpx

REASONING_FIELDS = ("reasoning_content", "reasoning", "thinking")


class ChatEncoder:
    """Writes each message as one JSON object."""

    async def head(self, prefix: Prefix) -> Chunk:
        return Chunk(_object({"role": "system", "content": prefix.system}), None)

    async def batch(self, prefix: Prefix, history: Sequence[Item], new: Sequence[NewItem]) -> Chunk:
        del prefix
        last = history[-1] if history else None
        answers_calls = isinstance(last, Assistant) and b'"tool_calls":' in last.wire
        return Chunk(b",".join(_object(_message(m, answers_calls)) for m in fold(new)), None)


def _message(message: Message, answers_calls: bool) -> dict[str, Any]:
    """The message for the server. A call written in text was none for the server: its output goes as the user's."""
    if message.is_output and answers_calls:
        return {"role": "tool", "tool_call_id": message.call_id, "content": message.text}
    text = f"Output of {message.name}:\n{message.text}" if message.is_output else message.text
    return {"role": "user", "content": text}


def _object(fields: Mapping[str, Any]) -> bytes:
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode()


@dataclass
class _Call:
    id: str = ""
    name: str = ""
    arguments: str = ""


@dataclass
class _Received:
    """What has come of a message."""

    text: str = ""
    reasoning: str = ""
    reasoning_field: str = REASONING_FIELDS[0]
    calls: dict[int, _Call] = field(default_factory=dict[int, _Call])
    finish: str = ""
    usage: Mapping[str, Any] = field(default_factory=dict[str, Any])
    timings: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def take(self, delta: Mapping[str, Any]) -> list[Reasoning | Text]:
        parts: list[Reasoning | Text] = []
        for name in REASONING_FIELDS:
            if delta.get(name):
                self.reasoning_field = name
                self.reasoning += delta[name]
                parts.append(Reasoning(delta[name]))
        if delta.get("content"):
            self.text += delta["content"]
            parts.append(Text(delta["content"]))
        for position, call in enumerate(delta.get("tool_calls") or []):
            index = call.get("index")
            held = self.calls.setdefault(position if index is None else index, _Call())
            function = call.get("function") or {}
            held.id = call.get("id") or held.id
            held.name += function.get("name") or ""
            held.arguments += function.get("arguments") or ""
        return parts


class ChatModel:
    """A model behind /v1/chat/completions.

    `extra` is sent with every request as it is: the template's arguments that keep history, a pinned slot.
    """

    lane = Lane.CHAT

    def __init__(
        self,
        base_url: str,
        model_name: str,
        *,
        identity: str,
        api_key: str = "",
        extra: Mapping[str, Any] | None = None,
        is_llama: bool = False,
        context_tokens: int | None = None,
    ) -> None:
        self.name = model_name
        self.identity = identity
        self.context_tokens = context_tokens
        self.encoder: Encoder = ChatEncoder()
        self.base_url = base_url.rstrip("/").removesuffix("/v1")
        self._api_key = api_key
        self._settings: dict[str, Any] = {
            "model": model_name,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        if is_llama:
            self._settings |= {"return_progress": True, "cache_prompt": True}
        self.extra = dict(extra or {})
        self._settings |= self.extra
        self._http: httpx.AsyncClient | None = None
        self._received = _Received()

    async def stream(
        self,
        request: Request,
        sampling: Sampling = Sampling(),  # noqa: B008 (frozen)
    ) -> AsyncGenerator[Prefill | Reasoning | Text | Reply, None]:
        self._received = received = _Received()
        is_done = False
        async with aclosing(self._chunks(self._body(request, sampling))) as chunks:
            async for chunk in chunks:
                received.usage = chunk.get("usage") or received.usage
                received.timings = chunk.get("timings") or received.timings
                if progress := chunk.get("prompt_progress"):
                    yield Prefill(progress["total"], progress["cache"], progress["processed"])
                for choice in chunk.get("choices") or []:
                    received.finish = choice.get("finish_reason") or received.finish
                    is_done = is_done or bool(received.finish)
                    for part in received.take(choice.get("delta") or {}):
                        yield part
        if not is_done:
            raise ServerUnreachable(f"The server at {self.base_url} ended the stream before the message was complete.")
        yield Reply(self._message(request), _usage(received))

    def partial(self) -> Assistant:
        """What had come when the stream was closed. No call of it is run."""
        received = self._received
        text = received.text or "(interrupted)"
        wire = _object(message_object(text, received.reasoning, (), received.reasoning_field))
        return Assistant(received.text, received.reasoning, (), Stop.CANCELLED, wire)

    async def close(self) -> None:
        if self._http is not None:
            await self._http.aclose()
            self._http = None

    def _message(self, request: Request) -> Assistant:
        """The whole message. Calls written in the text count where the server found none."""
        from oasis.dialect.tolerant import find_loose, without  # noqa: PLC0415

        received, next_id = self._received, call_ids(request)
        is_cut = received.finish == "length"
        fault = "the message was cut off before the call was complete" if is_cut else ""
        calls = tuple(
            ToolCall(c.id or next_id(), c.name, c.arguments or "{}", fault) for _, c in sorted(received.calls.items())
        )
        wire = _object(message_object(received.text, received.reasoning, calls, received.reasoning_field))
        text = received.text
        if not calls and not is_cut:
            found = find_loose(received.text, request.prefix.tools)
            text = without(received.text, found)
            calls = tuple(call.as_call(next_id()) for call in found)
        return Assistant(text, received.reasoning, calls, Stop.LENGTH if is_cut else Stop.END, wire)

    def _body(self, request: Request, sampling: Sampling) -> bytes:
        settings = dict(self._settings)
        if sampling.max_tokens:
            settings["max_tokens"] = sampling.max_tokens
        if sampling.temperature is not None:
            settings["temperature"] = sampling.temperature
        if sampling.grammar:
            settings["grammar"] = sampling.grammar
            if request.prefix.tools:
                # llama.cpp takes a grammar beside tools with this only; the prompt stays the same
                settings["tool_choice"] = "none"
        tools = b",".join(tool.wire for tool in request.prefix.tools)
        body = _object(settings)[:-1] + b',"messages":[' + request.wire + b"]"
        return body + (b',"tools":[' + tools + b"]}" if tools else b"}")

    async def _chunks(self, body: bytes) -> AsyncGenerator[dict[str, Any], None]:
        if self._http is None:
            self._http = connect(self.base_url, api_key=self._api_key)
        headers = {"Content-Type": "application/json", "Accept": "text/event-stream"}
        url = "/v1/chat/completions"
        with explained(self.base_url):
            async with self._http.stream(
                "POST", url, content=body, headers=headers, timeout=no_read_limit()
            ) as response:
                if response.status_code >= 400:
                    raise refusal(
                        response.status_code, (await response.aread()).decode(errors="replace"), self.base_url
                    )
                async with aclosing(events(response)) as stream:
                    async for data in stream:
                        if data == DONE:
                            return
                        yield self._chunk(data)

    def _chunk(self, data: str) -> dict[str, Any]:
        try:
            chunk: Any = json.loads(data)
        except ValueError:
            chunk = None
        if not isinstance(chunk, dict):
            raise ServerFault(
                f"The server at {self.base_url} sent {shown(data)} in a stream of JSON. Check the address."
            )
        if chunk.get("error"):
            raise reported(chunk, self.base_url)
        return chunk


def message_object(
    text: str, reasoning: str, calls: Sequence[ToolCall], reasoning_field: str = REASONING_FIELDS[0]
) -> dict[str, Any]:
    """A message of the model as it is sent again.

    Arguments that are no JSON object are wrapped: servers refuse them for good.
    """
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if reasoning:
        message[reasoning_field] = reasoning
    if calls:
        message["tool_calls"] = [
            {"id": c.id, "type": "function", "function": {"name": c.name, "arguments": _parsable(c.arguments)}}
            for c in calls
        ]
    return message


def _parsable(arguments: str) -> str:
    try:
        is_object = isinstance(json.loads(arguments), dict)
    except ValueError:
        is_object = False
    return arguments if is_object else json.dumps({"malformed": arguments}, ensure_ascii=False)


def _usage(received: _Received) -> Usage:
    """llama.cpp's `timings` where they are; otherwise `usage`, whose cached tokens not every server tells."""
    if timings := received.timings:
        computed, cached = int(timings["prompt_n"]), int(timings.get("cache_n", 0))
        decoded, prefill_ms = int(timings["predicted_n"]), float(timings["prompt_ms"])
        return Usage(computed + cached, cached, decoded, prefill_ms, float(timings["predicted_ms"]))
    usage = received.usage
    details = usage.get("prompt_tokens_details") or {}
    cached = details.get("cached_tokens")
    return Usage(
        int(usage.get("prompt_tokens", 0)),
        int(cached or 0),
        int(usage.get("completion_tokens", 0)),
        is_cache_known=cached is not None,
    )
