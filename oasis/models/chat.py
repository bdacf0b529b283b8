"""The chat lane: any OpenAI-compatible server, messages append-only.

The model's message goes back as it came, reasoning included, under the field name it came in. How much of the
prompt the server reuses is then up to its chat template.
"""

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from oasis.core.events import Prefill, Reasoning, Text
from oasis.core.items import Assistant, Stop, ToolCall
from oasis.core.transcript import Encoder, Request
from oasis.engine.faults import explained, refusal, reported
from oasis.engine.http import connect, no_read_limit
from oasis.engine.sse import DONE, events, shown
from oasis.errors import ServerFault, ServerUnreachable
from oasis.models.base import Lane, Reply, Sampling
from oasis.models.call_ids import call_ids
from oasis.models.chat_chunk import (
    REASONING_FIELDS,
    CallPiece,
    ChatChunk,
    Delta,
    Function,
    Timings,
    TokenCounts,
    usage_of,
)
from oasis.models.chat_messages import ChatEncoder, encoded, message_object

if TYPE_CHECKING:
    import httpx

_PATH = "/v1/chat/completions"


@dataclass
class _Received:
    """What has come of a message."""

    text: str = ""
    reasoning: str = ""
    reasoning_field: str = REASONING_FIELDS[0]
    calls: dict[int, CallPiece] = field(default_factory=dict[int, CallPiece])
    finish: str = ""
    counts: TokenCounts | None = None
    timings: Timings | None = None

    def take(self, chunk: ChatChunk) -> list[Reasoning | Text]:
        """Add what a chunk brings; what of it is to be shown."""
        self.counts = chunk.usage or self.counts
        self.timings = chunk.timings or self.timings
        parts: list[Reasoning | Text] = []
        for choice in chunk.choices:
            self.finish = choice.finish_reason or self.finish
            parts += self._take_texts(choice.delta)
            for position, piece in enumerate(choice.delta.tool_calls or ()):
                self._take_call(position if piece.index is None else piece.index, piece)
        return parts

    def _take_texts(self, delta: Delta) -> list[Reasoning | Text]:
        parts: list[Reasoning | Text] = []
        name = next((name for name in REASONING_FIELDS if getattr(delta, name)), "")
        if name:
            self.reasoning_field = name
            self.reasoning += getattr(delta, name)
            parts.append(Reasoning(getattr(delta, name)))
        if delta.content:
            self.text += delta.content
            parts.append(Text(delta.content))
        return parts

    def _take_call(self, index: int, piece: CallPiece) -> None:
        held = self.calls.setdefault(index, CallPiece(function=Function(name="", arguments="")))
        held.id = piece.id or held.id
        held.function.name = (held.function.name or "") + (piece.function.name or "")
        held.function.arguments = (held.function.arguments or "") + (piece.function.arguments or "")


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
        async with aclosing(self._chunks(self._body(request, sampling))) as chunks:
            async for chunk in chunks:
                if progress := chunk.prompt_progress:
                    yield Prefill(progress.total, progress.cache, progress.processed)
                for part in received.take(chunk):
                    yield part
        if not received.finish:
            raise ServerUnreachable(f"The server at {self.base_url} ended the stream before the message was complete.")
        yield Reply(self._message(request), usage_of(received.timings, received.counts))

    def partial(self) -> Assistant:
        """What had come when the stream was closed. No call of it is run."""
        received = self._received
        text = received.text or "(interrupted)"
        wire = encoded(message_object(text, received.reasoning, (), received.reasoning_field))
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
            ToolCall(held.id or next_id(), held.function.name or "", held.function.arguments or "{}", fault)
            for _, held in sorted(received.calls.items())
        )
        wire = encoded(message_object(received.text, received.reasoning, calls, received.reasoning_field))
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
        body = encoded(settings)[:-1] + b',"messages":[' + request.wire + b"]"
        return body + (b',"tools":[' + tools + b"]}" if tools else b"}")

    async def _chunks(self, body: bytes) -> AsyncGenerator[ChatChunk, None]:
        if self._http is None:
            self._http = connect(self.base_url, api_key=self._api_key)
        headers = {"Content-Type": "application/json", "Accept": "text/event-stream"}
        asked = self._http.stream("POST", _PATH, content=body, headers=headers, timeout=no_read_limit())
        with explained(self.base_url):
            async with asked as response:
                if response.status_code >= 300:
                    said = (await response.aread()).decode(errors="replace")
                    raise refusal(response.status_code, said, self.base_url)
                async with aclosing(events(response)) as stream:
                    async for data in stream:
                        if data == DONE:
                            return
                        yield self._chunk(data)

    def _chunk(self, data: str) -> ChatChunk:
        try:
            chunk = ChatChunk.model_validate_json(data)
        except ValidationError as error:
            raise ServerFault(
                f"The server at {self.base_url} sent {shown(data)} in a stream of chat chunks. Check the address."
            ) from error
        if chunk.error:
            raise reported({"error": chunk.error}, self.base_url)
        return chunk
