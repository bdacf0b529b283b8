"""The forms of messages a template may want, and the search for the one it understands."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Final, Literal

from oasis.core.tool import ToolSpec
from oasis.dialect import own
from oasis.dialect.entries import (
    BASE,
    END,
    KEY,
    NAME,
    OTHER_NAME,
    OUT,
    REASON,
    SPECS,
    SYSTEM,
    TWO,
    USER,
    Call,
    Entry,
    call,
    model,
    output,
    user,
)
from oasis.dialect.simpler import simpler
from oasis.dialect.template import Refused, Template
from oasis.errors import DialectFault

REASONING_KEYS: Final = ("reasoning_content", "reasoning", "thinking")


@dataclass(frozen=True, slots=True)
class Form:
    """How messages must look for the template to show all of them.

    output_role      who brings a tool output; "user": outputs of one step in one user message
    has_system       a system message of its own; otherwise it opens the first user message
    empty            the content of a message that holds calls only: "", null or no key at all
    arguments        a call's arguments as an object or as JSON text
    content          text, or a list of parts
    shows_calls      calls appear in the prompt; otherwise they are written in Oasis' own syntax
    lists_tools      tools appear in the prompt
    is_parallel      several calls in one message
    """

    output_role: Literal["tool", "user"] = "tool"
    has_system: bool = True
    empty: Literal["text", "null", "absent"] = "text"
    arguments: Literal["object", "text"] = "object"
    content: Literal["text", "parts"] = "text"
    reasoning_key: str = REASONING_KEYS[0]
    shows_reasoning: bool = False
    shows_calls: bool = True
    lists_tools: bool = True
    is_parallel: bool = True

    def system(self, text: str, tools: Sequence[ToolSpec]) -> str:
        """The system text, with Oasis' own call syntax where the template has none."""
        return text if self.shows_calls else own.explain(text, tools, self.lists_tools)

    def messages(self, entries: Sequence[Entry]) -> list[dict[str, Any]]:
        """The entries as the template wants them."""
        made: list[dict[str, Any]] = []
        carried = ""
        for entry in self._merged(entries):
            if entry.role == "system" and not self.has_system:
                carried = f"{entry.text}\n\n"
                continue
            text = carried + entry.text if entry.role == "user" else entry.text
            carried = "" if entry.role == "user" else carried
            made.append(self._message(replace(entry, text=text)))
        return made

    def _merged(self, entries: Sequence[Entry]) -> list[Entry]:
        """With outputs brought by the user, those of one step are one message."""
        if self.output_role == "tool":
            return list(entries)
        merged: list[Entry] = []
        was_output = False
        for entry in entries:
            if entry.role != "tool":
                merged.append(entry)
            elif was_output:
                merged[-1] = user(f"{merged[-1].text}\n{own.wrap_output(entry.text)}")
            else:
                merged.append(user(own.wrap_output(entry.text)))
            was_output = entry.role == "tool"
        return merged

    def _message(self, entry: Entry) -> dict[str, Any]:
        text = entry.text if self.shows_calls else own.write(entry.text, entry.calls)
        content: Any = [{"type": "text", "text": text}] if self.content == "parts" else text
        message: dict[str, Any] = {"role": entry.role, "content": content}
        if entry.role == "tool":
            message.update(tool_call_id=entry.call_id, name=entry.name)
        if entry.reasoning:
            message[self.reasoning_key] = entry.reasoning
        if entry.calls and self.shows_calls:
            message["tool_calls"] = [self._call(c) for c in entry.calls]
            if not text and self.empty == "absent":
                del message["content"]
            elif not text and self.empty == "null":
                message["content"] = None
        return message

    def _call(self, one: Call) -> dict[str, Any]:
        arguments: Any = dict(one.arguments)
        if self.arguments == "text":
            arguments = json.dumps(arguments, ensure_ascii=False)
        return {"id": one.id, "type": "function", "function": {"name": one.name, "arguments": arguments}}


class Renderer:
    """A template with the form of messages it understands and the arguments it is given."""

    def __init__(self, template: Template, form: Form, kwargs: Mapping[str, Any]) -> None:
        self.template, self.form, self.kwargs = template, form, dict(kwargs)

    def __call__(self, entries: Sequence[Entry], tools: Sequence[ToolSpec] = SPECS, is_open: bool = True) -> str:
        """The prompt; tools the template stumbles over are given in simpler words. Raises Refused."""
        listed: list[dict[str, Any]] = [tool.function() for tool in tools] if self.form.lists_tools else []
        messages = self.form.messages(entries)
        try:
            return self.template.render(messages, listed, is_open, self.kwargs)
        except Refused:
            if not listed:
                raise
            return self.template.render(messages, simpler(listed), is_open, self.kwargs)


def find_form(template: Template, kwargs: Mapping[str, Any]) -> Form:
    """Try every form, keep the one that shows most. Raises DialectFault when none renders."""
    best, form, refusal = -1, Form(), ""
    forms = product(("tool", "user"), (True, False), ("text", "parts"), ("text", "null", "absent"), ("object", "text"))
    for output_role, has_system, content, empty, arguments in forms:
        tried = Form(output_role, has_system, empty, arguments, content)
        try:
            score = _score(Renderer(template, tried, kwargs)(_probe()))
        except Refused as error:
            refusal = refusal or str(error)
            continue
        if score > best:
            best, form = score, tried
        if score == BEST:
            break
    if best < NEEDED:
        reason = f"it refused them all ({refusal})" if best < 0 else "none showed the user's text and the model's"
        raise DialectFault(
            f"The chat template was tried with every form of messages Oasis knows; {reason}.\n"
            "How this model writes a conversation could not be inferred.\n"
            "The chat lane is used: the server renders the messages."
        )
    return _shown(template, form, kwargs)


NEEDED, BEST = 200, 235


def _probe() -> list[Entry]:
    deep = call({KEY: {"zqt": True, "zqv": END}})
    return [*BASE, model(END + "1", REASON), user(TWO), model("", REASON, deep), output()]


def _score(text: str) -> int:
    """What the rendering shows: the conversation itself first, then outputs, calls, system, and clean arguments."""
    turn = text[max(0, text.rfind(TWO)) :]
    return (
        100 * (USER in text and TWO in text)
        + 100 * (END + "1" in text)
        + 8 * (SYSTEM in text)
        + 8 * (OUT in turn)
        + 16 * (NAME in turn and END in turn)
        + 2 * ("True" not in turn)
        + ('\\"zqv' not in turn)
    )


def _shown(template: Template, form: Form, kwargs: Mapping[str, Any]) -> Form:
    """Fill in what the form shows of reasoning, calls and tools."""

    def turn(tried: Form, entries: Sequence[Entry]) -> str:
        try:
            text = Renderer(template, tried, kwargs)(entries)
        except Refused:
            return ""
        return text[max(0, text.rfind(TWO)) :]

    form = replace(form, shows_calls=END in turn(form, _probe()) and NAME in turn(form, _probe()))
    for key in REASONING_KEYS:
        tried = replace(form, reasoning_key=key, shows_reasoning=True)
        if REASON in turn(tried, _probe()):
            form = tried
            break
    head = Renderer(template, form, kwargs)(BASE)
    form = replace(form, lists_tools=NAME in head or form.shows_calls)
    two = (call({KEY: "zqone"}), call({KEY: END}, OTHER_NAME, 2))
    both = turn(form, [*BASE, model(END), user(TWO), model("", "", *two), output(), output("zqo", OTHER_NAME, 2)])
    return replace(form, is_parallel="zqone" in both and END in both)
