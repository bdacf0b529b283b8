"""Which slot of a shared llama.cpp server a session takes."""

from collections.abc import Mapping, Sequence
from typing import Any

from oasis.engine.llama import LlamaClient


async def choose_slot(client: LlamaClient) -> int | None:
    """The free slot whose loss costs least, None when none is free.

    Raises ServerFault where the server was started without its slots endpoint.
    """
    return pick(await client.slots())


def pick(slots: Sequence[Mapping[str, Any]]) -> int | None:
    """Of the slots not at work, one never used, else the one holding the fewest tokens; the lowest id of equals."""
    free = [slot for slot in slots if not slot.get("is_processing")]
    return min(free, key=_loss, default={"id": None})["id"]


def _loss(slot: Mapping[str, Any]) -> tuple[int, int]:
    """Tokens a slot holds. llama.cpp gives the count once a slot has been used, and with it what was decoded."""
    return int(slot.get("n_prompt_tokens", 0)), int(slot["id"])
