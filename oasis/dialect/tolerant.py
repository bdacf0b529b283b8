"""Calls as models really write them: a known tool's name near arguments that fit its schema.

Asked when the dialect's own syntax finds nothing. Strict about what counts: the name is a tool's, the
arguments are an object that has what the tool requires and nothing it does not know. JSON in prose that is
no call stays text.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from oasis.core.tool import ToolSpec
from oasis.dialect.found import Found
from oasis.dialect.values import decode, read_text

_NAME_KEYS = ("name", "tool_name", "tool", "function", "function_name")
_ARGUMENT_KEYS = ("arguments", "parameters", "args", "input", "params")
_XML_CALL = re.compile(r"<(?:function|invoke|tool)[= ](?:name=)?[\"']?(?P<name>[\w.\-]+)[\"']?\s*>")
_XML_PARAMETER = re.compile(
    r"<(?P<tag>parameter|param|arg)[= ](?:name=)?[\"']?(?P<key>[\w.\-]+)[\"']?[^>]*>(?P<value>.*?)</(?P=tag)>", re.S
)
_CHANNEL = re.compile(r"to=(?:functions\.)?(?P<name>[\w.\-]+).{0,80}?<\|message\|>\s*(?=\{)", re.S)
_BEFORE = re.compile(
    r"(?:<tool_call>|<\|tool_call\|>|\[TOOL_CALLS\]|```(?:json|tool_call|tool_code)?|<function_call>)\s*$"
)
_AFTER = re.compile(r"\s*(?:</tool_call>|```|</function_call>|</function>|<\|call\|>)")


def find_loose(text: str, tools: Sequence[ToolSpec]) -> list[Found]:
    """The calls in a message of the model, in order, each once."""
    if not any(tool.name in text for tool in tools):
        return []
    found = [*_channels(text, tools), *_tags(text, tools), *_objects(text, tools), *_functions(text, tools)]
    calls: list[Found] = []
    for call in sorted(found, key=lambda one: (one.start, -one.end)):
        if not calls or call.start >= calls[-1].end:
            calls.append(call)
    return calls


def without(text: str, calls: Sequence[Found]) -> str:
    """The text around the calls."""
    parts: list[str] = []
    at = 0
    for call in calls:
        parts.append(text[at : call.start])
        at = call.end
    return "\n".join(part for part in (p.strip() for p in (*parts, text[at:])) if part)


def _spec(tools: Sequence[ToolSpec], name: object) -> ToolSpec | None:
    if not isinstance(name, str):
        return None
    short = name.removeprefix("functions.")
    return next((tool for tool in tools if tool.name == short), None)


def fits(arguments: object, spec: ToolSpec) -> bool:
    """Whether an object has what the tool requires, nothing it does not know, and types that can be right."""
    if not isinstance(arguments, dict):
        return False
    given = cast("dict[str, Any]", arguments)
    known = cast("Mapping[str, Mapping[str, Any]]", spec.parameters.get("properties", {}))
    required = cast("Sequence[str]", spec.parameters.get("required", ()))
    if any(key not in given for key in required) or any(key not in known for key in given):
        return False
    return all(_is_typed(value, known[key].get("type")) for key, value in given.items())


_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}


def _is_typed(value: object, wanted: object) -> bool:
    names = cast("list[str]", wanted) if isinstance(wanted, list) else [wanted] if isinstance(wanted, str) else []
    allowed = [kind for name in names for kind in _TYPES.get(name, (object,))]
    return not allowed or isinstance(value, tuple(allowed))


def _found(text: str, spec: ToolSpec, arguments: object, start: int, end: int) -> Found | None:
    """The call with what wraps it (a tag, a code fence); None when the arguments do not fit."""
    if not fits(arguments, spec):
        return None
    wrap = _BEFORE.search(text, max(0, start - 40), start)
    closing = _AFTER.match(text, end)
    start, end = (wrap.start() if wrap else start), (closing.end() if closing else end)
    return Found(spec.name, cast("dict[str, Any]", arguments), "", start, end)


def _objects(text: str, tools: Sequence[ToolSpec]) -> Iterator[Found]:
    """`{"name": ..., "arguments": {...}}` under any of the usual keys, alone, in a list, or `{name: {...}}`."""
    at, misses = 0, 0
    while (at := _next_bracket(text, at)) >= 0 and misses < MISSES:
        try:
            value, end = decode(text, at)
        except ValueError:
            at, misses = at + 1, misses + 1
            continue
        values = cast("list[Any]", value) if isinstance(value, list) else [value]
        calls = [(_named(one, tools)) for one in values]
        whole = [_found(text, spec, arguments, at, end) for spec, arguments in calls if spec]
        yield from (Found(c.name, c.arguments, "", c.start, c.end) for c in whole if c)
        at = end if isinstance(value, dict | list) and end > at else at + 1


MISSES = 50
"""Brackets that open nothing, after which the rest of a message is taken for text: each costs a look to its end."""


def _next_bracket(text: str, at: int) -> int:
    found = re.compile(r"\{(?=\s*[\"'}])|\[(?=\s*\{)").search(text, at)
    return found.start() if found else -1


def _named(value: object, tools: Sequence[ToolSpec]) -> tuple[ToolSpec | None, object]:
    """The tool an object names and the arguments it gives."""
    if not isinstance(value, dict):
        return None, None
    given = cast("dict[str, Any]", value)
    inner = given.get("function")
    if isinstance(inner, dict):
        return _named(cast("dict[str, Any]", inner), tools)
    for key in _NAME_KEYS:
        spec = _spec(tools, given.get(key))
        if spec:
            return spec, _arguments(given, key)
    if len(given) == 1:
        ((name, arguments),) = given.items()
        return _spec(tools, name), arguments
    return None, None


def _arguments(given: Mapping[str, Any], name_key: str) -> object:
    for key in _ARGUMENT_KEYS:
        if key in given:
            value = given[key]
            if isinstance(value, str):
                try:
                    return json.loads(value)
                except ValueError:
                    return value
            return value
    return {} if set(given) <= {name_key, "id", "type"} else None


def _channels(text: str, tools: Sequence[ToolSpec]) -> Iterator[Found]:
    """gpt-oss: `<|channel|>commentary to=functions.read <|constrain|>json<|message|>{...}`, the recipient anywhere."""
    for match in _CHANNEL.finditer(text):
        spec = _spec(tools, match["name"])
        if not spec:
            continue
        try:
            arguments, end = decode(text, match.end())
        except ValueError:
            written = text[match.end() :].strip()
            yield Found(spec.name, None, written, _header_start(text, match.start()), len(text), "", "no valid JSON")
            continue
        found = _found(text, spec, arguments, _header_start(text, match.start()), end)
        if found:
            yield found


def _header_start(text: str, at: int) -> int:
    """Back over the marks and words of the channel's header."""
    found = re.search(r"(?:<\|start\|>)?(?:assistant)?\s*(?:<\|channel\|>\w*)?\s*$", text[:at])
    return found.start() if found else at


def _tags(text: str, tools: Sequence[ToolSpec]) -> Iterator[Found]:
    """`<function=read>...</function>` with JSON, parameters in tags, or nothing inside; `<read>{...}</read>`."""
    for match in _XML_CALL.finditer(text):
        spec = _spec(tools, match["name"])
        if not spec:
            continue
        closing = re.compile(r"</(?:function|invoke|tool)>").search(text, match.end())
        end = closing.end() if closing else len(text)
        inside = text[match.end() : closing.start() if closing else end]
        found = _found(text, spec, _inside(inside, spec), match.start(), end)
        if found:
            yield found
    for spec in tools:
        for match in re.finditer(rf"<{re.escape(spec.name)}>\s*(?=\{{)", text):
            try:
                arguments, end = decode(text, match.end())
            except ValueError:
                continue
            closing = re.compile(rf"\s*</{re.escape(spec.name)}>").match(text, end)
            found = _found(text, spec, arguments, match.start(), closing.end() if closing else end)
            if found:
                yield found


def _inside(text: str, spec: ToolSpec) -> object:
    text = text.strip()
    if text.startswith("{"):
        try:
            return decode(text, 0)[0]
        except ValueError:
            return None
    known = cast("Mapping[str, Mapping[str, Any]]", spec.parameters.get("properties", {}))
    pairs = [(m["key"], m["value"].removeprefix("\n").removesuffix("\n")) for m in _XML_PARAMETER.finditer(text)]
    return {key: read_text(value, known.get(key, {}).get("type") == "string") for key, value in pairs}


def _functions(text: str, tools: Sequence[ToolSpec]) -> Iterator[Found]:
    """`read(path="a")` and `read({"path": "a"})` where a line, a bracket or a fence begins with it."""
    for spec in tools:
        for match in re.finditer(rf"(?m)(?:^|[\[,`(]|\|>)\s*(?P<name>{re.escape(spec.name)})\(", text):
            arguments, end = _call_arguments(text, match.end())
            if end < 0:
                continue
            start = match.start("name")
            bracket = text[match.start()] == "[" and text[end : end + 1] == "]"
            found = _found(text, spec, arguments, match.start() if bracket else start, end + bracket)
            if found:
                yield found


def _call_arguments(text: str, at: int) -> tuple[object, int]:
    """The arguments after `(` and the end of `)`; the end is -1 when they cannot be read."""
    try:
        if text[at:].lstrip().startswith("{"):
            brace = text.index("{", at)
            value, end = decode(text, brace)
            close = re.compile(r"\s*\)").match(text, end)
            return (value, close.end()) if close else (None, -1)
        made: dict[str, Any] = {}
        pair = re.compile(r"\s*,?\s*(?P<key>\w+)\s*[=:]\s*")
        while match := pair.match(text, at):
            made[match["key"]], at = decode(text, match.end())
        close = re.compile(r"\s*,?\s*\)").match(text, at)
        return (made, close.end()) if close else (None, -1)
    except ValueError:
        return None, -1
