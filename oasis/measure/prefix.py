"""What the head consists of, what each part costs, and whether it is still what it was."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from oasis.core.divergence import Divergence, common_prefix, diverge
from oasis.core.prefix import Prefix
from oasis.core.tool import ToolSpec
from oasis.engine.llama import LlamaClient
from oasis.errors import ConfigError
from oasis.measure.blame import common_ids
from oasis.models.tokens import TokenModel

CLOSING = "end of the head"
BYTES_PER_TOKEN = 4
"""For the estimate made where no tokeniser is at hand; said as such wherever it is shown."""


@dataclass(frozen=True, slots=True)
class PartCost:
    """One part of the head. `cold_ms` is None where nothing was prefilled."""

    name: str
    text_bytes: int
    tokens: int
    cold_ms: float | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """How the head differs from the frozen one: the first differing byte, whose it is, and what it costs."""

    place: str
    divergence: Divergence
    bytes_added: int


def parts(prefix: Prefix) -> list[tuple[str, Prefix]]:
    """Name of each part, and the prefix up to and with it: the system text, then one tool after another."""
    grown = [("system text", Prefix(prefix.system, ()))]
    for count, tool in enumerate(prefix.tools, 1):
        grown.append((tool.name, Prefix(prefix.system, prefix.tools[:count])))
    return grown


def estimate(prefix: Prefix) -> list[PartCost]:
    """The parts with a token for every BYTES_PER_TOKEN bytes: a guess that has to be called one."""
    sizes = _own_bytes(prefix)
    return [PartCost(name, size, -(-size // BYTES_PER_TOKEN)) for name, size in sizes]


async def count(model: TokenModel, prefix: Prefix, *, prefill: bool) -> list[PartCost]:
    """The parts with the tokens that this model's dialect and tokeniser make of them.

    A part's tokens end where a head with another part in the next one's place leaves it; what closes the head is a
    part of its own. With `prefill` each part is computed cold, one after another in the model's slot, and `cold_ms` is
    what the server says that took.
    """
    whole = await _head(model, prefix)
    ends = [common_ids(await _head(model, _with_other(grown)), whole) for _, grown in parts(prefix)]
    ends.append(len(whole))
    times = await _prefill(model.client, model.slot, whole, ends) if prefill else [None] * len(ends)
    named = [*_own_bytes(prefix), (CLOSING, 0)]
    return [
        PartCost(name, size, end - start, time)
        for (name, size), (start, end), time in zip(named, pairwise([0, *ends]), times, strict=True)
    ]


def compare(frozen: bytes, prefix: Prefix) -> Change | None:
    """Where the head's bytes leave the frozen ones; None while they are the same."""
    now = prefix.wire
    parting = diverge(frozen, now)
    if parting is None:
        return None
    return Change(_place(frozen, now), parting, len(now) - len(frozen))


def frozen_prefix(frozen: bytes, source: str) -> Prefix:
    """The prefix that a frozen file holds. Raises ConfigError where it holds none."""
    try:
        system, *tools = [json.loads(line) for line in frozen.decode().splitlines()]
        functions: list[dict[str, Any]] = [tool["function"] for tool in tools]
        specs = tuple(ToolSpec(f["name"], f["description"], f["parameters"]) for f in functions)
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigError(
            f"{source} is no frozen prefix: {error}. Write it with `oasis prefix --update --fixture {source}`."
        ) from error
    return Prefix(str(system), specs)


def _own_bytes(prefix: Prefix) -> list[tuple[str, int]]:
    return [("system text", len(prefix.system.encode())), *((tool.name, len(tool.wire)) for tool in prefix.tools)]


def _with_other(prefix: Prefix) -> Prefix:
    """The prefix with one more tool, unlike any other."""
    return Prefix(prefix.system, (*prefix.tools, ToolSpec("\N{SNOWMAN}", "\N{SNOWMAN}", {"type": "object"})))


async def _head(model: TokenModel, prefix: Prefix) -> list[int]:
    chunk = await model.encoder.head(prefix)
    return [int(i) for i in chunk.wire.split(b",") if i]


async def _prefill(client: LlamaClient, slot: int | None, whole: Sequence[int], ends: Sequence[int]) -> list[float]:
    """Milliseconds of prefill for each part, the first in an empty slot."""
    times: list[float] = []
    for number, end in enumerate(ends):
        body = {"prompt": list(whole[:end]), "n_predict": 0, "stream": True, "cache_prompt": number > 0}
        if slot is not None:
            body["id_slot"] = slot
        async for last in client.complete(json.dumps(body).encode()):
            if last.get("stop"):
                times.append(float(last["timings"]["prompt_ms"]))
    return times


def _place(frozen: bytes, now: bytes) -> str:
    """Which part the first differing byte belongs to, in words."""
    line = now.count(b"\n", 0, common_prefix(frozen, now))
    if line == 0:
        return "the system text"
    names = [_name(text.splitlines()[line]) for text in (frozen, now) if line < len(text.splitlines())]
    if len(names) == 2 and names[0] == names[1]:
        return f"tool {names[0]}"
    if len(names) == 2:
        return f"tool {line}: {names[0]} became {names[1]}"
    return f"what follows the last tool of the {'frozen head' if len(frozen) < len(now) else 'head now'}"


def _name(line: bytes) -> str:
    try:
        return str(json.loads(line)["function"]["name"])
    except (ValueError, KeyError, TypeError):
        return "(no tool)"
