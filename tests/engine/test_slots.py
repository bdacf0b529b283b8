"""Choosing a slot."""

import json
from contextlib import aclosing

import pytest

from oasis.engine.llama import LlamaClient
from oasis.engine.slots import choose_slot, pick


def test_a_slot_never_used_is_taken_before_one_that_holds_tokens() -> None:
    assert pick([{"id": 0, "n_prompt_tokens": 900, "is_processing": False}, {"id": 1, "is_processing": False}]) == 1


def test_of_used_slots_the_one_that_loses_least_is_taken() -> None:
    used = [{"id": i, "n_prompt_tokens": n, "is_processing": i == 2} for i, n in enumerate((900, 40, 3))]
    assert pick(used) == 1


def test_none_is_taken_when_all_are_at_work() -> None:
    assert pick([{"id": 0, "is_processing": True}]) is None


@pytest.mark.engine
async def test_a_slot_at_work_is_left_alone(client: LlamaClient) -> None:
    settings = {"prompt": [65], "n_predict": 30000, "stream": True, "id_slot": 0, "ignore_eos": True}
    async with aclosing(client.complete(json.dumps(settings).encode())) as stream:
        await anext(stream)
        assert await choose_slot(client) == 1
