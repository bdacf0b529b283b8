import json
from collections.abc import AsyncIterator

import pytest

from oasis.engine.embedded import EmbeddedEngine
from oasis.engine.llama import LlamaClient
from oasis.measure.count import ChatCount, new_ids
from oasis.measure.habits import clock, dropped, pruned
from oasis.measure.record import Exchange


def asked(prompt: list[int], tokens: list[int], predicted: int | None = None) -> Exchange:
    timings = {"predicted_n": len(tokens) if predicted is None else predicted}
    answer = json.dumps({"stop": True, "tokens": tokens, "timings": timings}).encode()
    raw = bytearray(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n" + answer)
    return Exchange("POST", "/completion", json.dumps({"prompt": prompt}).encode(), raw)


def test_a_continued_prompt_adds_its_piece_and_the_closing_token():
    assert new_ids([asked([1, 2, 3], [7, 8, 9]), asked([1, 2, 3, 7, 8, 9, 4, 4], [])]) == [3, 3]


def test_ids_that_the_stream_left_out_are_counted_by_their_number():
    assert new_ids([asked([1, 2, 3], [9], predicted=3), asked([1, 2, 3, 7, 8, 9, 4, 4], [])]) == [3, 3]


def test_a_rewritten_prompt_is_new_from_where_it_parts():
    assert new_ids([asked([1, 2, 3], [7]), asked([1, 5, 3, 7, 4], [])]) == [3, 4]


@pytest.fixture
async def counter(dense_engine: EmbeddedEngine) -> AsyncIterator[ChatCount]:
    client = LlamaClient(dense_engine.url)
    yield ChatCount(client)
    await client.aclose()


def chat(*messages: tuple[str, str]) -> list[dict[str, str]]:
    return [{"role": role, "content": content} for role, content in messages]


def said(messages: list[dict[str, str]]) -> Exchange:
    return Exchange("POST", "/v1/chat/completions", json.dumps({"messages": messages}).encode())


async def test_in_a_chat_new_is_what_follows_the_models_message(counter: ChatCount):
    first = chat(("system", "s"), ("user", "one"))
    second = [*first, *chat(("assistant", "fine"), ("user", "two"))]
    piece = "<|im_end|>\n<|im_start|>user\ntwo<|im_end|>\n<|im_start|>assistant\n"
    marks = 4
    length = len(piece.replace("<|im_end|>", "").replace("<|im_start|>", "")) + marks
    counts = await counter.new([said(first), said(second)], ["fine", ""])
    assert counts == [len(await counter.prompt({"messages": first})), length]


async def test_an_edited_line_of_an_older_message_is_new(counter: ChatCount):
    first = chat(("system", "s"), ("user", "one"))
    second = [*first, *chat(("assistant", "fine"), ("user", "two"))]
    [_, plain] = await counter.new([said(first), said(second)], ["fine", ""])
    [_, edited] = await counter.new([said(clock(first, 1)), said(clock(second, 2))], ["fine", ""])
    assert edited - plain == len("Current time: 2026-03-02 09:00:46")


def test_habits_change_what_they_are_named_for_and_leave_the_original_alone():
    tools = [{"role": "tool", "tool_call_id": f"c{n}", "content": f"output {n}"} for n in range(8)]
    messages = [{"role": "system", "content": "s"}, {"role": "assistant", "reasoning_content": "r"}, *tools]
    kept = json.dumps(messages)
    assert clock(messages, 1)[0]["content"] != clock(messages, 2)[0]["content"]
    assert dropped(messages, 1)[1] == {"role": "assistant"}
    messages[1]["content"] = ""
    assert [m["content"] for m in pruned(messages, 1)[2:]].count(tools[0]["content"]) == 0
    assert pruned(messages, 1)[4:] == messages[4:]
    del messages[1]["content"]
    assert json.dumps(messages) == kept
