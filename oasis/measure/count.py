"""How many prompt tokens were new, counted from what a recorder saw and nothing else."""

import json
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from oasis.core.divergence import common_prefix
from oasis.engine.llama import LlamaClient
from oasis.measure.blame import common_ids
from oasis.measure.record import Exchange


def new_ids(exchanges: Sequence[Exchange], epochs: Mapping[int, int] | None = None) -> list[int]:
    """New tokens of each request of ids: what follows the prompt before it and what the server generated.

    The last generated token was sampled and never decoded: it is new. Where a request does not continue the one
    before it, everything from the parting on is new. `epochs`: number of each request that begins an epoch (from 0),
    with the tokens of its head; all behind the head is new there.
    """
    prompts: list[list[int]] = [json.loads(exchange.body)["prompt"] for exchange in exchanges]
    counts = [len(prompts[0])] if prompts else []
    heads = epochs or {}
    for number, ((before, after), exchange) in enumerate(zip(pairwise(prompts), exchanges, strict=False), 1):
        answer = exchange.answer
        generated = int(answer.timings.get("predicted_n", len(answer.tokens)))
        # llama.cpp leaves ids out of a stream within a UTF-8 character; then the number alone is known
        known = answer.tokens if len(answer.tokens) == generated else ()
        held = common_ids([*before, *known], after)
        is_continued = held == len(before) + len(known)
        kept = min(held, heads.get(number, held))
        counts.append(len(after) - (len(before) + generated - 1 if is_continued else kept))
    return counts


class ChatCount:
    """Counts requests of messages by what the server's own template makes of them."""

    def __init__(self, client: LlamaClient) -> None:
        self._client = client

    async def new(self, exchanges: Sequence[Exchange], written: Sequence[str]) -> list[int]:
        """New tokens of each request. `written`: the text decoded in answer to each.

        New is what the template writes after the newest message of the model, its closing token included, and
        what was changed in older messages: an edited line is a new line.
        """
        bodies: list[dict[str, Any]] = [json.loads(exchange.body) for exchange in exchanges]
        counts = [len(await self.prompt(bodies[0]))] if bodies else []
        for (before, after), text in zip(pairwise(bodies), written, strict=False):
            piece = _after(await self.rendered(after), text)
            counts.append(await self._tokens(piece) + await self._edited(before["messages"], after["messages"]))
        return counts

    async def prompt(self, body: Mapping[str, Any]) -> list[int]:
        """The whole prompt's ids, as the server makes them of a chat request."""
        return await self._client.tokenize(await self.rendered(body), True, add_special=True)

    async def rendered(self, body: Mapping[str, Any]) -> str:
        """The prompt that the server's template makes of a chat request."""
        wanted = ("messages", "tools", "tool_choice", "chat_template_kwargs")
        return await self._client.apply_template({key: body[key] for key in wanted if key in body})

    async def _tokens(self, text: str) -> int:
        return len(await self._client.tokenize(text, True)) if text else 0

    async def _edited(self, before: Sequence[Mapping[str, Any]], after: Sequence[Mapping[str, Any]]) -> int:
        """Tokens of what was put in the place of older content."""
        texts = [
            _replaced(str(old.get("content") or ""), str(new.get("content") or ""))
            for old, new in zip(before, after, strict=False)
        ]
        return sum([await self._tokens(text) for text in texts if text])


def _after(prompt: str, written: str) -> str:
    """What follows the last place where the model's message stands.

    A template may drop or rewrite the beginning of it, so its end is searched: all of it, then its last lines.
    """
    lines = written.splitlines(keepends=True)
    for first in range(len(lines)):
        end = "".join(lines[first:]).strip()
        if len(end) > 2 and (at := prompt.rfind(end)) >= 0:
            return prompt[at + len(end) :]
    return prompt


def _replaced(old: str, new: str) -> str:
    """The lines of `new` that are not `old`'s."""
    if old == new:
        return ""
    start = common_prefix(old.encode(), new.encode())
    rest = min(len(old.encode()), len(new.encode())) - start
    end = common_prefix(old.encode()[::-1][:rest], new.encode()[::-1][:rest])
    data = new.encode()
    begin = data.rfind(b"\n", 0, start) + 1
    stop = data.find(b"\n", len(data) - end)
    return data[begin : stop if stop >= 0 else len(data)].decode(errors="replace")
