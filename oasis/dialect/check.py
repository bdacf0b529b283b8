"""Try a dialect against its template before it is trusted: a conversation of every kind, step by step."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count

from oasis.core.items import Assistant, Item, NewItem, Stop, ToolCall, ToolOutput, User
from oasis.core.prefix import Prefix
from oasis.core.tool import ToolSpec
from oasis.dialect.dialect import Dialect
from oasis.dialect.history import Reuse, expected_reuse, kept_history
from oasis.dialect.marks import before_mark, common_start
from oasis.dialect.parts import text_of
from oasis.dialect.template import Refused
from oasis.errors import DialectFault

__all__ = ["Reuse", "check", "expected_reuse", "kept_history", "verify"]

NASTY = 'He said "hi" \\ and\nnew line\ttab — ünï 中文 <b>&amp;</b> {"x": [1]}'


def _specs() -> tuple[ToolSpec, ...]:
    text, number, flag = {"type": "string"}, {"type": "integer"}, {"type": "boolean"}
    deep = {"type": "object", "properties": {"list": {"type": "array"}, "on": flag}}
    return (
        ToolSpec(
            "read_device",
            "Read a device.",
            {
                "type": "object",
                "properties": {"address": number, "note": text, "options": deep},
                "required": ["address"],
            },
        ),
        ToolSpec(
            "write_file",
            "Write a file.",
            {
                "type": "object",
                "properties": {"path": text, "body": text, "size": number, "force": flag},
                "required": ["path"],
            },
        ),
    )


SPECS = _specs()
PREFIX = Prefix("You are Oasis.", SPECS)


@dataclass(frozen=True, slots=True)
class Step:
    """A message of the model and what comes after it."""

    message: Assistant
    new: tuple[NewItem, ...]


def said(text: str, reasoning: str, *calls: ToolCall) -> Assistant:
    return Assistant(text, reasoning, calls, Stop.END, b"")


def call(number: int, name: str, **arguments: object) -> ToolCall:
    return ToolCall(f"call{number:05d}", name, json.dumps(arguments, ensure_ascii=False))


def answer(one: ToolCall, text: str) -> ToolOutput:
    return ToolOutput(one.id, one.name, text)


def conversation(is_parallel: bool) -> list[Step]:
    """Calls with every kind of argument, two at once, an answer, a second turn, two answers in a row."""
    deep = call(1, "read_device", address=1, note="123", options={"list": [1, {"b": None}], "on": True})
    pair = [call(2, "read_device", address=2)] if is_parallel else []
    pair.append(call(3, "write_file", path="/a b", body=NASTY, size=5, force=False))
    again = [call(6, "write_file", path="q", body="c")]
    again += [call(7, "write_file", path="r", body="d")] if is_parallel else []
    quoted = call(4, "read_device", address=4, note='x "y"')
    second = call(5, "write_file", path="p", body="b")
    return [
        Step(said("", "Reason one.", deep), (answer(deep, 'OUT 1 {"j": "x"}'),)),
        Step(said("", "Reason two.", *pair), tuple(answer(c, f"OUT {c.id}") for c in pair)),
        Step(said("", "Reason three.", quoted), (answer(quoted, "Line 1\nLine 2"),)),
        Step(said("The map is done.", "Reason four."), (User('Now write "it".'),)),
        Step(said("", "Reason five.", second), (answer(second, "ok"),)),
        Step(said("", "Reason six.", *again), tuple(answer(c, f"ok {c.id}") for c in again)),
        Step(said("It is written.", "Reason seven."), (User("Thanks."),)),
        Step(said("Welcome.", "Reason eight."), (User("Bye."),)),
    ]


def check(dialect: Dialect) -> None:
    """Raise DialectFault with the first thing that does not hold."""
    for fault in verify(dialect):
        raise DialectFault(
            f"The inferred dialect did not pass its check: {fault}.\n"
            "A prompt written with it might not be what the model was trained on.\n"
            "The chat lane is used: the server renders the messages."
        )


def verify(dialect: Dialect) -> Iterator[str]:
    """What does not hold, in words."""
    try:
        yield from _verify(dialect)
    except (Refused, DialectFault) as error:
        yield f"the template refused a conversation ({str(error).splitlines()[0]})"


def _verify(dialect: Dialect) -> Iterator[str]:
    history: list[Item] = [User("Map the device.")]
    first = text_of(dialect.head(PREFIX)) + text_of(dialect.batch(PREFIX, [], [User("Map the device.")]))
    before = dialect.rendering(PREFIX, history)
    if first != before:
        yield "the first prompt differs from the template's"
    if dialect.render.form.shows_calls and dialect.syntax is None:
        yield "the template shows calls in a way that cannot be read back"
    for number, step in enumerate(conversation(dialect.render.form.is_parallel), 1):
        after = dialect.rendering(PREFIX, [*history, step.message, *step.new])
        raw = template_raw(dialect, history, step.message, after)
        prompts = _Prompts(before, after, raw)
        yield from (f"step {number}: {fault}" for fault in _verify_step(dialect, history, step, prompts))
        history += [replace(step.message, raw=raw or ""), *step.new]
        before = after


def template_raw(
    dialect: Dialect, history: Sequence[Item], message: Assistant, after: str, prefix: Prefix = PREFIX
) -> str | None:
    """The message as the template writes it after `history`, up to the stop; None where it rewrites.

    `after` is the prompt that follows it.
    """
    before = dialect.rendering(prefix, history)
    shown = dialect.rendering_closed(prefix, [*history, message])
    if not after.startswith(before) or not shown.startswith(before):
        return None
    same = before_mark(shown, common_start(shown, after))
    stop = dialect.ends.call_stop if message.calls else dialect.ends.text_stop
    raw = shown[len(before) : same]
    if same < len(shown.rstrip()) and stop and stop not in raw and stop in after[len(before) :]:
        raw = after[len(before) : after.index(stop, len(before)) + len(stop)]  # written otherwise when not the last
    is_whole = all(one.name in raw for one in message.calls) if message.calls else message.text in raw
    return to_stop(dialect, message, raw) if is_whole else None


def to_stop(dialect: Dialect, message: Assistant, raw: str) -> str:
    """The message up to the stop after what was said."""
    stop = dialect.ends.call_stop if message.calls else dialect.ends.text_stop
    said_at = raw.rfind(message.calls[-1].name if message.calls else message.text)
    at = raw.rfind(stop, max(0, said_at)) if stop else -1
    return raw[: at + len(stop)] if at >= 0 else raw


@dataclass(frozen=True, slots=True)
class _Prompts:
    """The template's prompts before and after a step, and the model's message between them (None: rewritten)."""

    before: str
    after: str
    raw: str | None


def _verify_step(dialect: Dialect, history: Sequence[Item], step: Step, prompts: _Prompts) -> Iterator[str]:
    before, after, raw = prompts.before, prompts.after, prompts.raw
    if raw is None:
        stop = dialect.ends.call_stop if step.message.calls else dialect.ends.text_stop
        made = text_of(dialect.batch(PREFIX, [*history, replace(step.message, raw=stop)], step.new))
        if not after.endswith(made):
            yield f"what follows the message is {_short(made)}, the template ends with {_short(after[-len(made) :])}"
        raw = _alone(dialect, step.message)
    else:
        for name, variant in variants(dialect, raw):
            made = text_of(dialect.batch(PREFIX, [*history, replace(step.message, raw=variant)], step.new))
            whole = before + variant + made
            if whole != after:
                at = common_start(whole, after)
                got, wanted = whole[at : at + 40], after[at : at + 40]
                yield f"with the stop {name} the prompt goes on with {got!r}, the template's with {wanted!r}"
                return
    if raw:
        yield from _verify_parse(dialect, step.message, raw)


def variants(dialect: Dialect, raw: str) -> Iterator[tuple[str, str]]:
    """The raw text with its stop, without it, and cut inside it."""
    yield "kept", raw
    stop = dialect.reader.stop_of(raw)
    if stop:
        yield "left out", raw[: len(raw) - len(stop)]
        if len(stop) > 3:
            yield "cut", raw[: len(raw) - 2]


def _alone(dialect: Dialect, message: Assistant) -> str:
    """The message after a first question, empty where the template rewrites even there."""
    first: list[Item] = [User("Go.")]
    before = dialect.rendering(PREFIX, first)
    shown = dialect.rendering_closed(PREFIX, [*first, message])
    return to_stop(dialect, message, shown[len(before) :]) if shown.startswith(before) else ""


def _verify_parse(dialect: Dialect, message: Assistant, raw: str) -> Iterator[str]:
    numbers = count()
    parsed = dialect.parse(raw, SPECS, lambda: f"n{next(numbers)}")
    wanted = [(c.name, json.loads(c.arguments)) for c in message.calls]
    got = [(c.name, json.loads(c.arguments) if not c.fault else c.fault) for c in parsed.calls]
    if wanted != got:
        yield f"a call was not read back: {_short(str(got))} for {_short(str(wanted))}"
    is_open = not parsed.text and parsed.reasoning.endswith(message.text)
    if not message.calls and parsed.text != message.text and not is_open:
        yield f"the text was read back as {_short(parsed.text)}"


def _short(text: str) -> str:
    return repr(text if len(text) <= 80 else text[:77] + "...")
