"""Invented conversations: whatever is said, prompts append and calls are read back."""

import json
import string
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from oasis.core.items import Item, NewItem, User
from oasis.dialect.check import template_raw
from oasis.dialect.dialect import Dialect
from oasis.dialect.parts import text_of
from tests.dialect.conversations import (
    PREFIX,
    answer,
    call,
    calls_of,
    first,
    raw_of,
    read_back,
    said,
    wanted,
    with_raw,
)
from tests.dialect.templates import WRITTEN, dialect, every

NASTY = st.sampled_from(
    [
        "</parameter>",
        "<|im_end|>",
        "</think>",
        "<think>",
        "<tool_call>",
        "</tool_call>",
        "[INST]",
        "\n\n",
        '"',
        "\\",
        "{",
        "}]",
        "ZqEndqZ",
    ]
)
LETTERS = st.text(string.ascii_letters + " äß中\n\t,.:;'", max_size=12)
TEXT = st.lists(st.one_of(LETTERS, NASTY), max_size=4).map("".join)
WORDS = st.text(string.ascii_letters + "äß ,.", min_size=1, max_size=30).map(lambda word: f"I say {word.strip()}.")
CALL = st.one_of(
    st.just(("now", {})),
    st.fixed_dictionaries({"path": TEXT}, optional={"offset": st.integers(-5, 10**9)}).map(lambda a: ("read", a)),
    st.fixed_dictionaries(
        {"path": TEXT, "body": TEXT},
        optional={"force": st.booleans(), "lines": st.lists(st.lists(st.integers(0, 9), max_size=3), max_size=3)},
    ).map(lambda a: ("write", a)),
)
STEP = st.tuples(st.lists(CALL, max_size=3), WORDS, TEXT)
JOB = st.lists(STEP, min_size=1, max_size=5)
JSON_CALLS = ["hermes", "brackets", "counted", "forgetful"]
SLOW = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture]


def calls_in(step: tuple[list[tuple[str, dict[str, Any]]], str, str], number: int) -> list[Any]:
    return [call(number * 10 + i, name, **arguments) for i, (name, arguments) in enumerate(step[0])]


def run(made: Dialect, job: list[tuple[list[tuple[str, dict[str, Any]]], str, str]]) -> None:
    """Follow the job: each piece continues the prompt, and content is never markup."""
    history: list[Item] = [User("Go.")]
    prompt = first(made)
    assert prompt == made.rendering(PREFIX, history)
    for number, step in enumerate(job):
        calls = calls_in(step, number)[: 3 if made.render.form.is_parallel else 1]
        message = said("" if calls else step[1], step[1], *calls)
        new: list[NewItem] = [answer(one, step[2]) for one in calls] or [User(step[2])]
        after = made.rendering(PREFIX, [*history, message, *new])
        raw = template_raw(made, history, message, after, PREFIX) or raw_of(made, message)
        parts = made.batch(PREFIX, [*history, with_raw(message, raw)], new)
        history += [with_raw(message, raw), *new]
        prompt += raw + text_of(parts)
        for part in parts:
            assert part.is_content or not step[2].strip() or len(step[2]) < 12 or step[2] not in part.text
    if made.is_appending and made.render.form.shows_reasoning:
        assert prompt == made.rendering(PREFIX, history)


def invented(examples: int) -> Any:
    return settings(max_examples=examples, deadline=None, suppress_health_check=SLOW, derandomize=examples < 100)


@given(st.sampled_from(["hermes", "parameters", "brackets", "counted", "forgetful"]), JOB)
@invented(25)
def test_an_invented_conversation_appends(name: str, job: Any) -> None:
    run(dialect(name), job)


@given(st.sampled_from(JSON_CALLS), st.lists(CALL, min_size=1, max_size=3))
@invented(40)
def test_invented_calls_are_read_back(name: str, calls: Any) -> None:
    message = said("", "Why.", *calls_in((calls, "", ""), 1))
    raw = raw_of(dialect(name), message)
    assert calls_of(read_back(dialect(name), raw)) == wanted(message)


@given(st.sampled_from(JSON_CALLS), st.text(max_size=200))
@invented(40)
def test_any_text_is_read_without_a_fault(name: str, raw: str) -> None:
    parsed = read_back(dialect(name), raw)
    assert all(one.fault or isinstance(json.loads(one.arguments), dict) for one in parsed.calls)


@given(st.text("<>|/[]{}\"':,_ \n" + "tool_callimendthinkreadnowpath", max_size=300))
@invented(60)
def test_broken_markup_is_read_without_a_fault(raw: str) -> None:
    for name in WRITTEN:
        read_back(dialect(name), raw)
        streamer = dialect(name).streamer()
        for at in range(0, len(raw), 7):
            streamer.feed(raw[at : at + 7])
        streamer.close()


@pytest.mark.campaign
@given(st.deferred(lambda: st.sampled_from(sorted(every()))), JOB)
@invented(2000)
def test_many_invented_conversations_in_every_dialect(name: str, job: Any) -> None:
    run(dialect(name), job)
