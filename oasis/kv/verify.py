"""Does a restored state go on as a cold one does?"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from oasis.engine.llama import LlamaClient
from oasis.errors import KvFault
from oasis.kv.state_file import ids_in
from oasis.kv.store import Store
from oasis.kv.transfer import Transfer
from oasis.kv.worth import Artifact

TOLERANCE = 0.1
"""A difference of log-probabilities that is always allowed."""
SPREAD = 2.0
"""Beyond it: so many times what two cold computations in other batches differ by.

Batches of another size add in another order, quantised models most of all, so a near tie can fall either way.
"""
_TOP = 5
_NONE = -1000.0
"""In place of the log-probability of a state so broken that the engine has none."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of one state. `is_same`: the same greedy tokens, or parted at a tie within the tolerance.

    `agreeing_tokens` of `tokens` come before they part; `logprob_difference` is the largest of the tokens up to there,
    `tolerance` what is allowed here.
    """

    artifact: str
    is_same: bool
    tokens: int
    agreeing_tokens: int
    logprob_difference: float
    tolerance: float
    computed_cold: int
    computed_restored: int


async def verify(
    client: LlamaClient, store: Store, transfer: Transfer, artifact: Artifact, slot: int, *, tokens: int = 24
) -> Verdict:
    """Continue a state, restored and then cold, by `tokens` greedy tokens in a slot that is then empty.

    Cold twice: the state's ids and what follows apart, as after a restore, and as one prompt, for the tolerance.
    The ids are read from the state's own file. Raises KvFault where it cannot be read or restored, ServerFault.
    """
    ids = None if artifact.place else ids_in(store.path(artifact), artifact.tokens)
    if ids is None or not transfer.is_whole(artifact):
        raise KvFault(f"The saved state {artifact.id[:8]} is not the one that was saved. Remove it: `oasis kv rm`.")
    prompt = [*ids, ids[-1]]
    if not await transfer.restore(slot, artifact):
        raise KvFault(f"The engine does not take the saved state {artifact.id[:8]}; it was dropped.")
    restored, computed_restored = await _continued(client, prompt, slot, tokens)
    await client.erase(slot)
    whole, computed_cold = await _continued(client, prompt, slot, tokens)
    await client.erase(slot)
    await _continued(client, ids, slot, 0)
    cold, _ = await _continued(client, prompt, slot, tokens)
    await client.erase(slot)
    agreeing, difference = _compared(cold, restored)
    tolerance = max(TOLERANCE, SPREAD * _compared(cold, whole)[1])
    is_same = len(cold) == len(restored) and difference <= tolerance
    return Verdict(artifact.id, is_same, len(cold), agreeing, difference, tolerance, computed_cold, computed_restored)


def _compared(cold: Sequence[Mapping[str, Any]], other: Sequence[Mapping[str, Any]]) -> tuple[int, float]:
    """Greedy tokens before they part, and the largest difference of log-probabilities up to there."""
    agreeing, difference = 0, 0.0
    for one, two in zip(cold, other, strict=False):
        difference = max(difference, _difference(one, two))
        if one["id"] != two["id"]:
            break
        agreeing += 1
    return agreeing, difference


def _difference(one: Mapping[str, Any], other: Mapping[str, Any]) -> float:
    """The largest difference of log-probabilities of the tokens that both list among their most probable."""
    first, second = _top(one), _top(other)
    both = first.keys() & second.keys()
    return max((abs(first[i] - second[i]) for i in both), default=-_NONE)


def _top(token: Mapping[str, Any]) -> dict[int, float]:
    entries = token.get("top_logprobs") or [token]
    return {entry["id"]: _NONE if entry["logprob"] is None else float(entry["logprob"]) for entry in entries}


async def _continued(
    client: LlamaClient, prompt: Sequence[int], slot: int, tokens: int
) -> tuple[list[Mapping[str, Any]], int]:
    """The probabilities of each greedy token, and how many tokens of the prompt were computed."""
    settings = {"n_predict": tokens, "temperature": 0, "n_probs": _TOP, "id_slot": slot, "cache_prompt": True}
    body = json.dumps({"prompt": list(prompt), "stream": True, "ignore_eos": True, **settings}).encode()
    found: list[Mapping[str, Any]] = []
    computed = 0
    async for chunk in client.complete(body):
        found += chunk.get("completion_probabilities") or []
        if chunk.get("stop"):
            computed = int(chunk["timings"]["prompt_n"])
    return found, computed
