"""Calls as models really write them are found; what is no call stays text."""

import pytest

from oasis.dialect.tolerant import find_loose, fits, without
from tests.dialect.conversations import READ, TOOLS, WRITE, calls_of, read_back
from tests.dialect.templates import dialect, real

LOOSE = {
    "json block": 'I read it.\n```json\n{"name": "read", "arguments": {"path": "a"}}\n```',
    "bare json": '{"name": "read", "arguments": {"path": "a"}}',
    "parameters": '{"name": "read", "parameters": {"path": "a"}}',
    "arguments as text": '{"name": "read", "arguments": "{\\"path\\": \\"a\\"}"}',
    "nested function": '{"type": "function", "function": {"name": "read", "arguments": {"path": "a"}}}',
    "tool key": '{"tool": "read", "input": {"path": "a"}}',
    "name as key": '{"read": {"path": "a"}}',
    "list": '[{"name": "read", "arguments": {"path": "a"}}]',
    "tag with parameters": "<function=read>\n<parameter=path>\na\n</parameter>\n</function>",
    "tag with json": '<function=read>{"path": "a"}</function>',
    "invoke": '<invoke name="read"><parameter name="path">a</parameter></invoke>',
    "own tag": '<read>{"path": "a"}</read>',
    "unclosed tag": '<tool_call>\n{"name": "read", "arguments": {"path": "a"}}',
    "gpt-oss channel": '<|channel|>commentary to=functions.read <|constrain|>json<|message|>{"path": "a"}<|call|>',
    "gpt-oss recipient first": '<|start|>assistant to=functions.read<|channel|>commentary json<|message|>{"path": "a"}',
    "python call": 'read(path="a")',
    "python list": '[read(path="a")]',
    "python with object": 'read({"path": "a"})',
    "functions prefix": '{"name": "functions.read", "arguments": {"path": "a"}}',
}


@pytest.mark.parametrize("text", LOOSE.values(), ids=LOOSE.keys())
def test_a_known_tool_near_arguments_that_fit_is_a_call(text: str) -> None:
    found = find_loose(text, TOOLS)
    assert [(call.name, call.arguments) for call in found] == [("read", {"path": "a"})]


@pytest.mark.parametrize("text", LOOSE.values(), ids=LOOSE.keys())
def test_what_wraps_a_call_is_not_left_in_the_text(text: str) -> None:
    assert without(text, find_loose(text, TOOLS)) in ("", "I read it.")


PROSE = {
    "another name": '{"name": "pump", "arguments": {"path": "a"}}',
    "arguments that do not fit": '{"name": "read", "arguments": {"file": "a"}}',
    "a required one missing": '{"name": "read", "arguments": {"offset": 1}}',
    "a wrong type": '{"name": "read", "arguments": {"path": 1}}',
    "a package file": 'Your package.json:\n```json\n{"name": "read", "version": "1.0.0", "scripts": {"now": "x"}}\n```',
    "a tool in prose": "You can read (path) it with read or write.",
    "a method": 'x = file.read(path="a")',
    "broken json": '{"name": "read", "arguments": {"path":',
    "a schema": '{"type": "object", "properties": {"path": {"type": "string"}}}',
}


@pytest.mark.parametrize("text", PROSE.values(), ids=PROSE.keys())
def test_json_in_prose_that_is_no_call_stays_text(text: str) -> None:
    assert find_loose(text, TOOLS) == []
    parsed = read_back(dialect("hermes"), text)
    assert (parsed.calls, parsed.text, parsed.is_repaired) == ((), text, False)


def test_two_calls_are_found_in_order() -> None:
    text = '```json\n{"name": "now", "arguments": {}}\n```\nthen\n```json\n{"name": "read", "arguments": {"path": "b"}}\n```'
    parsed = read_back(dialect("hermes"), text)
    assert (calls_of(parsed), parsed.text) == ([("now", {}), ("read", {"path": "b"})], "then")


def test_a_repaired_message_says_so() -> None:
    assert read_back(dialect("hermes"), LOOSE["json block"]).is_repaired
    assert not read_back(dialect("hermes"), '<tool_call>\n{"name": "now", "arguments": {}}\n</tool_call>').is_repaired


@pytest.mark.parametrize(
    "raw",
    [
        "<|channel|>analysis<|message|>I read it.<|end|><|start|>assistant<|channel|>commentary to=functions.read "
        '<|constrain|>json<|message|>{"path": "a"}<|call|>',
        "<|channel|>analysis<|message|>I read it.<|end|><|start|>assistant to=functions.read<|channel|>commentary "
        '<|constrain|>json<|message|>{"path": "a"}<|call|>',
    ],
)
def test_the_channels_gpt_oss_really_writes_are_read(raw: str) -> None:
    parsed = read_back(real("openai-gpt-oss-120b"), raw)
    assert (parsed.reasoning, parsed.text, calls_of(parsed)) == ("I read it.", "", [("read", {"path": "a"})])


def test_gpt_oss_final_channel_is_text() -> None:
    raw = "<|channel|>analysis<|message|>Easy.<|end|><|start|>assistant<|channel|>final<|message|>It is 4.<|return|>"
    parsed = read_back(real("openai-gpt-oss-120b"), raw)
    assert (parsed.reasoning, parsed.text) == ("Easy.", "It is 4.")


def test_the_marks_that_end_a_gpt_oss_message_do_not_end_its_reasoning() -> None:
    assert "<|end|>" not in real("openai-gpt-oss-120b").stops


def test_arguments_fit_when_required_ones_are_there_and_none_is_unknown() -> None:
    assert fits({"path": "a"}, READ)
    assert fits({"path": "a", "body": "b", "mode": None, "lines": [[1]]}, WRITE)
    assert not fits({"path": "a", "body": "b", "mode": 1}, WRITE)
    assert not fits(["a"], READ)
    assert not fits({"path": "a", "offset": "1"}, READ)


def test_a_large_message_without_calls_is_read_in_passing() -> None:
    text = 'read {"a": [' * 3000
    assert find_loose(text, TOOLS) == []
