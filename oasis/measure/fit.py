"""How much of a recorded job an engine can do in minutes."""

import json
from dataclasses import dataclass

from oasis.core.prefix import Prefix
from oasis.engine.llama import LlamaClient
from oasis.engine.tiny import KINDS
from oasis.errors import ConfigError
from oasis.measure.job import Job
from oasis.models.tokens import TokenModel

SHARES = (1, 2, 4, 8, 16, 32)
TINY_SHARE = 8
"""A tiny model has a token for each byte and pays for attention over all of them."""
LANE_S = 240.0
"""Prefill time of a lane that reuses nothing, which is the longest a lane takes."""
MARKUP_TOKENS = 24
"""Of one step, about: roles, call syntax, reasoning marks."""
FULL = 0.9
_PROBE_TOKENS = 512


@dataclass(frozen=True, slots=True)
class Engine:
    """An engine as the fit sees it. `name` is what the user called it."""

    name: str
    context_tokens: int
    prefill_per_s: float


async def fitted(job: Job, model: TokenModel, client: LlamaClient, prefix: Prefix, name: str) -> Job:
    """The job with its outputs cut so that it fits the context and a lane takes minutes.

    Raises ConfigError where even the shortest form does not fit the context.
    """
    if name in KINDS:
        return job.scaled(TINY_SHARE)
    head = len((await model.encoder.head(prefix)).wire.split(b","))
    engine = Engine(name, model.context_tokens or 0, await _speed(client, job, model.slot))
    for share in SHARES:
        cut = job.scaled(share)
        said = len(await client.tokenize(cut.text(), False)) + MARKUP_TOKENS * len(job.steps)
        presented = len(job.steps) * (head + said / 2)
        fits = not engine.context_tokens or head + said < FULL * engine.context_tokens
        if fits and (presented / engine.prefill_per_s < LANE_S or share == SHARES[-1]):
            return cut
    raise ConfigError(
        f"The job's {len(job.steps)} steps need more than the context of {engine.context_tokens:,} tokens, however "
        "much its tool outputs are cut. Give fewer steps (--steps 12), or a server with a longer context."
    )


async def _speed(client: LlamaClient, job: Job, slot: int | None) -> float:
    """Prompt tokens a second, by a prefill of the job's own text."""
    ids = (await client.tokenize(job.text()[: 4 * _PROBE_TOKENS], False))[:_PROBE_TOKENS]
    return float((await prefill(client, ids, slot))["prompt_per_second"])


async def prefill(client: LlamaClient, ids: list[int], slot: int | None) -> dict[str, float]:
    """Fill a slot with `ids`, whatever it held; the server's timings."""
    body = {"prompt": ids, "n_predict": 0, "stream": True, "cache_prompt": False}
    if slot is not None:
        body["id_slot"] = slot
    timings: dict[str, float] = {}
    async for chunk in client.complete(json.dumps(body).encode()):
        timings = chunk.get("timings") or timings
    return timings
