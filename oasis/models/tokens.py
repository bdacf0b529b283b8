"""The token lane: the prompt is a list of ids that only grows.

What the model generated is appended as the ids the server returned, never rendered again, so reuse is exact by
construction on every template and every kind of memory.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from oasis.core.events import Prefill, Reasoning, Text
from oasis.core.items import Assistant, Item, NewItem, Stop
from oasis.core.prefix import Prefix
from oasis.core.transcript import Chunk, Encoder, Request
from oasis.core.usage import Usage
from oasis.dialect.dialect import Dialect, Grammar, Streamer
from oasis.engine.llama import LlamaClient
from oasis.errors import ServerFault
from oasis.models.base import Lane, Reply, Sampling
from oasis.models.call_ids import call_ids
from oasis.models.tokenise import Tokeniser

if TYPE_CHECKING:
    from oasis.kv.runtime import Runtime

_CUT_CALL = "the message was cut off before the call was complete"


class TokenEncoder:
    """Writes a prompt as token ids in a dialect."""

    def __init__(self, tokeniser: Tokeniser, dialect: Dialect) -> None:
        self._tokeniser = tokeniser
        self._dialect = dialect

    async def head(self, prefix: Prefix) -> Chunk:
        return chunk_of(await self._tokeniser.ids(self._dialect.head(prefix), opens_prompt=True))

    async def batch(self, prefix: Prefix, history: Sequence[Item], new: Sequence[NewItem]) -> Chunk:
        return chunk_of(await self._tokeniser.ids(self._dialect.batch(prefix, history, new)))


def chunk_of(ids: Sequence[int]) -> Chunk:
    """The chunk of a run of ids."""
    return Chunk(b",".join(b"%d" % i for i in ids), len(ids))


class TokenModel:
    """A llama.cpp server, driven by token ids in one slot."""

    lane = Lane.TOKENS

    def __init__(
        self,
        client: LlamaClient,
        dialect: Dialect,
        *,
        name: str,
        identity: str,
        slot: int | None = None,
        context_tokens: int | None = None,
        constrains_calls: bool = True,
        kv: "Runtime | None" = None,
    ) -> None:
        """With `kv` the slot is the one it leases, filled from what was saved before each request."""
        self.name = name
        self.identity = identity
        self.context_tokens = context_tokens
        self.client = client
        self.dialect = dialect
        self.kv = kv
        self.slot = kv.slot if kv else slot
        self.tokeniser = Tokeniser(client, dialect.marks)
        self.encoder: Encoder = TokenEncoder(self.tokeniser, dialect)
        self._constrains_calls = constrains_calls
        self._stop_ids: frozenset[int] | None = None
        self._ids: list[int] = []
        self._shown: list[str] = []
        self._before_tokens, self._before_ms = 0, 0.0
        """What the KV runtime had computed for the request before it was sent; part of its cost."""

    async def stream(
        self,
        request: Request,
        sampling: Sampling = Sampling(),  # noqa: B008 (frozen)
    ) -> AsyncGenerator[Prefill | Reasoning | Text | Reply, None]:
        self._ids, self._shown = [], []
        stops = await self._stops()
        self._before_tokens, self._before_ms = 0, 0.0
        if self.kv:
            self.slot = await self.kv.ready(request.wire, request.chunks[0].tokens or 0)
            before = self.kv.take_prefilled()
            self._before_tokens, self._before_ms = before.tokens, before.ms
        try:
            async with aclosing(self._answer(request, sampling, stops)) as parts:
                async for part in parts:
                    yield part
        except (GeneratorExit, asyncio.CancelledError):
            if self.kv:
                self.kv.left(_joined(request.wire, chunk_of(self._ids).wire), prompted=request.tokens or 0)
            raise

    async def _answer(
        self, request: Request, sampling: Sampling, stops: frozenset[int]
    ) -> AsyncGenerator[Prefill | Reasoning | Text | Reply, None]:
        shown = self.dialect.streamer()
        last: Mapping[str, Any] = {}
        is_closed = False
        async with aclosing(self.client.complete(self._body(request, sampling))) as chunks:
            async for last in chunks:
                progress = last.get("prompt_progress")
                if progress:
                    cached = progress["cache"] - self._before_tokens
                    yield Prefill(progress["total"], cached, progress["processed"])
                if last.get("stop") or is_closed:
                    break
                ids: list[int] = last.get("tokens") or []
                self._ids += ids
                for part in await self._show(shown, ids, last.get("content", "")):
                    yield part
                is_closed = not stops.isdisjoint(ids)
        for part in shown.close():
            yield part
        message, usage = await self._message(request, last), usage_of(last, request.tokens or 0)
        yield Reply(message, self._told(request, message, usage))

    def _told(self, request: Request, message: Assistant, usage: Usage) -> Usage:
        """Tell the KV runtime what the slot holds now; the usage with what the runtime had computed for it."""
        if self.kv is None:
            return usage
        self.kv.done(
            _joined(request.wire, message.wire),
            message.undecoded,
            cached_tokens=usage.cached_tokens,
            computed_tokens=usage.computed_tokens,
            prefill_ms=usage.prefill_ms,
        )
        return replace(
            usage,
            cached_tokens=usage.cached_tokens - self._before_tokens,
            prefill_ms=usage.prefill_ms + self._before_ms,
        )

    def partial(self) -> Assistant:
        """What had come when the stream was closed. No call of it is run."""
        raw = "".join(self._shown)
        parsed = self.dialect.parse(raw, (), lambda: "")
        wire = chunk_of(self._ids).wire
        return Assistant(parsed.text, parsed.reasoning, (), Stop.CANCELLED, wire, raw)

    async def close(self) -> None:
        await self.client.aclose()

    def _body(self, request: Request, sampling: Sampling) -> bytes:
        """The request's JSON; the ids are put in as they stand in the transcript."""
        settings: dict[str, Any] = {
            "stream": True,
            "cache_prompt": True,
            "return_tokens": True,
            "return_progress": True,
            "timings_per_token": True,
            "n_predict": sampling.max_tokens or -1,
        }
        if self.slot is not None:
            settings["id_slot"] = self.slot
        if sampling.temperature is not None:
            settings["temperature"] = sampling.temperature
        if sampling.grammar:
            settings["grammar"] = sampling.grammar
        elif self._constrains_calls and (grammar := self.dialect.grammar(request.prefix.tools)):
            settings |= _lazy(grammar)
        return b'{"prompt":[' + request.wire + b"]," + json.dumps(settings).encode()[1:]

    async def _stops(self) -> frozenset[int]:
        if self._stop_ids is None:
            found = [await self.client.tokenize(stop, True) for stop in self.dialect.stops]
            self._stop_ids = frozenset(ids[0] for ids in found if len(ids) == 1)
        return self._stop_ids

    async def _show(self, shown: Streamer, ids: Sequence[int], content: str) -> list[Reasoning | Text]:
        """What these ids let the user see. `content` leaves control tokens out, so marks come from the ids."""
        if not self._ids or not ids:
            return []
        if not (await self.tokeniser.mark_ids()).isdisjoint(ids):
            content = await self.client.detokenize(ids)
        self._shown.append(content)
        return shown.feed(content)

    async def _message(self, request: Request, last: Mapping[str, Any]) -> Assistant:
        """The whole message, parsed from its ids.

        An end-of-generation token that is not the dialect's own is left out: it was sampled, never decoded, and the
        message is closed as the template closes it.
        """
        is_foreign = last.get("stop_type") == "eos" and self._ids and self._ids[-1] not in await self._stops()
        if is_foreign:
            self._ids.pop()
        undecoded = int(bool(last.get("stop")) and not is_foreign)
        raw = await self.client.detokenize(self._ids) if self._ids else ""
        stopped = last.get("stop_type")
        is_cut = stopped == "limit" or bool(last.get("truncated"))
        parsed = self.dialect.parse(raw, request.prefix.tools, call_ids(request))
        calls = tuple(replace(c, fault=c.fault or _CUT_CALL) for c in parsed.calls) if is_cut else parsed.calls
        stop = Stop.LENGTH if is_cut else Stop.END
        return Assistant(parsed.text, parsed.reasoning, calls, stop, chunk_of(self._ids).wire, raw, undecoded)


def _joined(*wires: bytes) -> bytes:
    return b",".join(wire for wire in wires if wire)


def usage_of(last: Mapping[str, Any], prompt_tokens: int) -> Usage:
    """What the server says a call cost. Raises ServerFault where it says nothing."""
    timings = last.get("timings")
    if not timings:
        raise ServerFault(
            "The server's last answer holds no `timings`; what was computed is not known. Update llama.cpp."
        )
    computed = int(timings["prompt_n"])
    return Usage(
        prompt_tokens,
        prompt_tokens - computed,
        int(timings["predicted_n"]),
        float(timings["prompt_ms"]),
        float(timings["predicted_ms"]),
    )


def _lazy(grammar: Grammar) -> dict[str, Any]:
    triggers = [{"type": 1, "value": word} for word in grammar.triggers]
    return {
        "grammar": grammar.gbnf,
        "grammar_lazy": True,
        "grammar_triggers": triggers,
        "preserved_tokens": list(grammar.preserved),
    }
