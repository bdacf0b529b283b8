"""Conversations for tests: tools, messages as a template writes them, and the whole prompt step by step."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache

from oasis.core.items import Assistant, Item, NewItem, Stop, ToolCall, ToolOutput, User
from oasis.core.prefix import Prefix
from oasis.core.tool import ToolSpec
from oasis.dialect.check import to_stop
from oasis.dialect.dialect import Dialect, Parsed
from oasis.dialect.marks import before_mark, common_start
from oasis.dialect.parts import text_of

TEXT, WHOLE, FLAG = {"type": "string"}, {"type": "integer"}, {"type": "boolean"}
READ = ToolSpec(
    "read",
    "Read a file.",
    {
        "type": "object",
        "properties": {"path": TEXT, "offset": WHOLE},
        "required": ["path"],
        "additionalProperties": False,
    },
)
WRITE = ToolSpec(
    "write",
    "Write a file.",
    {
        "type": "object",
        "properties": {
            "path": TEXT,
            "body": TEXT,
            "mode": {"type": ["string", "null"]},
            "lines": {"type": "array", "items": {"type": "array", "items": WHOLE}},
            "force": FLAG,
        },
        "required": ["path", "body"],
        "additionalProperties": False,
    },
)
NOW = ToolSpec("now", "The time.", {"type": "object", "properties": {}, "additionalProperties": False})
TOOLS = (READ, WRITE, NOW)
PREFIX = Prefix("You are Oasis.", TOOLS)


def call(number: int, name: str, **arguments: object) -> ToolCall:
    return ToolCall(f"call{number:05d}", name, json.dumps(arguments, ensure_ascii=False))


def said(text: str = "", reasoning: str = "", *calls: ToolCall, stop: Stop = Stop.END, raw: str = "") -> Assistant:
    return Assistant(text, reasoning, calls, stop, b"", raw)


def answer(one: ToolCall, text: str) -> ToolOutput:
    return ToolOutput(one.id, one.name, text)


def first(dialect: Dialect, text: str = "Go.", prefix: Prefix = PREFIX) -> str:
    """The first prompt as the dialect writes it."""
    return text_of(dialect.head(prefix)) + text_of(dialect.batch(prefix, [], [User(text)]))


@cache
def opening(dialect: Dialect, text: str) -> str:
    return first(dialect, text)


def raw_of(dialect: Dialect, message: Assistant, text: str = "Go.") -> str:
    """The message after a first question as the template writes it, up to its stop.

    Where the template drops the reasoning that its prompt opens, it is put in: a model always writes it.
    """
    prompt = opening(dialect, text)
    shown = dialect.rendering_closed(PREFIX, [User(text), message])
    start = common_start(shown, prompt)
    if start < len(prompt):
        start = before_mark(shown, start)
    raw = to_stop(dialect, message, shown[start:]).rstrip("\n")
    opened, gap = dialect.thinking.open, dialect.thinking.gap
    if message.reasoning and message.reasoning in raw and not shown.startswith(prompt):
        return raw[raw.index(message.reasoning) :]
    if opened and prompt.rstrip().endswith(opened) and not (message.reasoning and message.reasoning in raw):
        return f"{message.reasoning or 'Thought.'}{gap}{raw.removeprefix(dialect.thinking.close).lstrip()}"
    return raw


def read_back(dialect: Dialect, raw: str, tools: Sequence[ToolSpec] = TOOLS) -> Parsed:
    return dialect.parse(raw, tools, ids())


def ids() -> Callable[[], str]:
    return iter(f"n{i}" for i in range(1000)).__next__


def calls_of(parsed: Parsed) -> list[tuple[str, object]]:
    return [(c.name, c.fault or json.loads(c.arguments)) for c in parsed.calls]


def wanted(message: Assistant) -> list[tuple[str, object]]:
    return [(c.name, json.loads(c.arguments)) for c in message.calls]


def follow(dialect: Dialect, history: Sequence[Item], message: Assistant, new: Sequence[NewItem]) -> str:
    return text_of(dialect.batch(PREFIX, [*history, message], new))


def with_raw(message: Assistant, raw: str) -> Assistant:
    return replace(message, raw=raw)
