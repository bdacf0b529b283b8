"""What is inferred of a template, and why some get the chat lane."""

import pytest

from oasis.dialect.check import check, expected_reuse, kept_history, verify
from oasis.dialect.infer import infer
from oasis.dialect.pieces import Depends
from oasis.errors import DialectFault
from tests.dialect.templates import BRACKETS, FORGETFUL, HERMES, MOVING, REAL, WRITTEN, dialect

SMOLLM2 = (
    "{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}"
    "{{ '<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n' }}{% endif %}"
    "{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)


@pytest.mark.parametrize("name", WRITTEN)
def test_a_dialect_passes_its_check(name: str) -> None:
    check(dialect(name))


def test_the_facts_of_a_template_with_json_calls() -> None:
    facts = dialect("hermes").facts
    assert {
        key: facts[key] for key in ("calls", "call_section", "call_close", "reasoning_open", "reasoning_close")
    } == {
        "calls": "json",
        "call_section": "<tool_call>",
        "call_close": "</tool_call>",
        "reasoning_open": "<think>",
        "reasoning_close": "</think>",
    }
    assert (facts["generation_prompt"], dialect("hermes").stops) == ("<|im_start|>assistant\n", ("<|im_end|>",))


def test_the_marks_are_those_of_the_template() -> None:
    marks = set(dialect("hermes").marks)
    assert {"<|im_start|>", "<|im_end|>", "<think>", "</think>", "<tool_call>", "</tool_call>"} <= marks


def test_a_counter_makes_a_dialect_depend_on_the_number_of_calls() -> None:
    assert (dialect("hermes").depends, dialect("counted").depends) == (Depends.LAST, Depends.CALLS)


def test_smollm2_gets_the_token_lane_with_oasis_own_calls() -> None:
    made = infer(SMOLLM2, "<|im_start|>", "<|im_end|>")
    check(made)
    assert (made.facts["calls"], made.is_appending) == ("oasis", True)


def test_a_block_after_the_last_message_gives_the_chat_lane() -> None:
    with pytest.raises(DialectFault, match="after the last message"):
        infer(MOVING)


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("{{ raise_exception('no') }}", "refused them all"),
        ("{% for m in messages %}{% if m.role == 'user' %}{{ m.content }}{% endif %}{% endfor %}", "none showed"),
        ("", "none showed"),
        ("{% if %}", "not valid jinja"),
    ],
)
def test_a_template_that_cannot_be_used_says_why(source: str, why: str) -> None:
    with pytest.raises(DialectFault, match=why) as caught:
        infer(source)
    assert "chat lane" in str(caught.value)


def test_a_dialect_that_does_not_hold_fails_its_check() -> None:
    from dataclasses import replace

    made = dialect("counted")
    with pytest.raises(DialectFault, match="did not pass its check"):
        check(replace(made, depends=Depends.LAST))


def test_every_fault_of_a_wrong_dialect_is_told() -> None:
    from dataclasses import replace

    made = replace(dialect("hermes"), syntax=None)
    assert "cannot be read back" in next(iter(verify(made)))


def test_digests_tell_templates_and_choices_apart() -> None:
    digests = [infer(HERMES).digest, infer(HERMES, "<s>", "</s>", {"keep": 1}).digest, infer(HERMES, "", "").digest]
    assert len({*digests, dialect("forgetful").digest}) == 4
    assert infer(HERMES).digest == digests[0]


def test_what_a_template_offers_to_keep_history_is_found() -> None:
    assert kept_history(FORGETFUL) == {"keep_thoughts": True}
    assert kept_history(HERMES) == {}


def test_the_reuse_to_expect_is_told() -> None:
    without, with_it = expected_reuse(FORGETFUL, {}), expected_reuse(FORGETFUL, kept_history(FORGETFUL))
    assert (without.within_turn, without.across_turn, without.keeps_reasoning) == (True, False, False)
    assert (with_it.within_turn, with_it.across_turn, with_it.keeps_reasoning, with_it.kept) == (True, True, True, 1.0)
    assert 0 < without.kept < 1
    assert "appends within a turn" in without.sentence()


def test_a_template_that_moves_its_tools_keeps_little() -> None:
    reuse = expected_reuse(BRACKETS, {})
    assert not reuse.across_turn


def test_arguments_the_user_set_are_kept() -> None:
    assert infer(FORGETFUL, kwargs={"keep_thoughts": False}).facts["chat_template_kwargs"] == {"keep_thoughts": False}


@pytest.mark.skipif(not REAL.exists(), reason="no real templates at hand")
@pytest.mark.parametrize(
    ("name", "kwargs"),
    [
        ("GLM-4.7-Flash", {"clear_thinking": False}),
        ("NVIDIA-Nemotron-3-Nano-30B-A3B-BF16", {"truncate_history_thinking": False}),
    ],
)
def test_real_templates_are_asked_to_keep_their_history(name: str, kwargs: dict[str, bool]) -> None:
    assert kwargs.items() <= dialect(name).facts["chat_template_kwargs"].items()
