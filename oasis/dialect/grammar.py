"""A grammar that makes a triggered call valid JSON of its tool's schema (llama.cpp's GBNF, lazy)."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from oasis.core.tool import ToolSpec
from oasis.dialect.marks import marks_in

_BASE = r"""
space ::= [ \n\t]{0,8}
string ::= "\"" char* "\""
char ::= [^"\\\x7F\x00-\x1F] | "\\" (["\\/bfnrt] | "u" [0-9a-fA-F]{4})
integer ::= "-"? ("0" | [1-9] [0-9]{0,17})
number ::= integer ("." [0-9]{1,18})? ([eE] [-+]? [0-9]{1,3})?
boolean ::= "true" | "false"
null ::= "null"
value ::= string | number | boolean | null | any-object | any-array
any-object ::= "{" space (string space ":" space value (space "," space string space ":" space value)*)? space "}"
any-array ::= "[" space (value (space "," space value)*)? space "]"
id ::= [a-zA-Z0-9_.:\-]{1,64}
counter ::= [0-9]{1,6}
""".strip()
_BASIC = {"string", "integer", "number", "boolean", "null"}


@dataclass(frozen=True, slots=True)
class Grammar:
    """`gbnf` begins at the trigger; llama.cpp wants each trigger among the `preserved` tokens."""

    gbnf: str
    triggers: tuple[str, ...]
    preserved: tuple[str, ...]


NAME, ARGUMENTS, ID, COUNTER = "\ue000", "\ue001", "\ue002", "\ue003"


def call_grammar(call: str, between: str | None, trigger: str, tools: Sequence[ToolSpec]) -> Grammar:
    """The grammar for one call after another.

    call     the text of a call from its trigger on, the variable parts as private-use characters
    between  what stands between two calls, None where a second one is not written
    """
    rules: dict[str, str] = {}
    names: list[str] = []
    for tool in tools:
        rule = f"call-{_word(tool.name)}"
        rules[f"arguments-{_word(tool.name)}"] = object_rule(tool.parameters, _word(tool.name), rules)
        rules[rule] = _call_rule(call, tool.name, f"arguments-{_word(tool.name)}")
        names.append(rule)
    one = " | ".join(names)
    root = f"({one})"
    if between is not None:
        root += f" ({literal(between) if between else 'space'} ({one}))*"
    lines = [f"root ::= {root}", *(f"{name} ::= {body}" for name, body in rules.items()), _BASE]
    return Grammar("\n".join(lines), (trigger,), tuple(dict.fromkeys([trigger, *marks_in(call)])))


def _call_rule(call: str, name: str, arguments: str) -> str:
    made: list[str] = []
    for piece in re.split(f"([{NAME}{ARGUMENTS}{ID}{COUNTER}])", call):
        if piece == NAME:
            made.append(literal(name))
        elif piece == ARGUMENTS:
            made.append(arguments)
        elif piece == ID:
            made.append("id")
        elif piece == COUNTER:
            made.append("counter")
        elif piece:
            made.append(literal(piece))
    return " ".join(made)


def literal(text: str) -> str:
    """A GBNF literal."""
    escaped = (
        text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")
    )
    return f'"{escaped}"'


def _word(name: str) -> str:
    """A rule's name for a tool's: letters, digits and dashes, distinct for distinct names."""
    return re.sub(r"[^a-zA-Z0-9]", lambda m: f"-{ord(m.group()):x}-", name)


def schema_rule(schema: Mapping[str, Any], name: str, rules: dict[str, str]) -> str:
    """The rule for a schema: type, enum, const, properties, required, items; anything else is any value."""
    if "const" in schema:
        return literal(json.dumps(schema["const"], ensure_ascii=False))
    if "enum" in schema:
        values = cast("Sequence[object]", schema["enum"])
        return "(" + " | ".join(literal(json.dumps(value, ensure_ascii=False)) for value in values) + ")"
    kind = schema.get("type")
    if isinstance(kind, list):
        kinds = cast("list[str]", kind)
        return "(" + " | ".join(schema_rule({**schema, "type": one}, f"{name}-{one}", rules) for one in kinds) + ")"
    if kind in ("object", "array"):
        return _nested(schema, name, rules)
    return str(kind) if kind in _BASIC else "value"


def _nested(schema: Mapping[str, Any], name: str, rules: dict[str, str]) -> str:
    """The rule for an object or an array, added to `rules` under `name`."""
    if schema["type"] == "object" and "properties" not in schema:
        return "any-object"
    if schema["type"] == "object":
        rules[name] = object_rule(schema, name, rules)
    else:
        item = schema_rule(cast("Mapping[str, Any]", schema.get("items") or {}), f"{name}-item", rules)
        rules[name] = f'"[" space ({item} (space "," space {item})*)? space "]"'
    return name


def object_rule(schema: Mapping[str, Any], name: str, rules: dict[str, str]) -> str:
    """An object with its required properties, then any of the optional ones, in the schema's order."""
    known = cast("Mapping[str, Mapping[str, Any]]", schema.get("properties") or {})
    required = [key for key in known if key in schema.get("required", ())]
    optional = [key for key in known if key not in required]
    pairs: dict[str, str] = {}
    for number, key in enumerate([*required, *optional]):
        value = schema_rule(known[key], f"{name}-{number}", rules)
        pairs[key] = f'{literal(json.dumps(key, ensure_ascii=False))} space ":" space {value}'
    comma = ' space "," space '
    fixed = comma.join(pairs[key] for key in required)
    if not optional:
        return f'"{{" space {fixed} space "}}"' if fixed else '"{" space "}"'
    if fixed:
        rest = " ".join(f'(space "," space {pairs[key]})?' for key in optional)
        return f'"{{" space {fixed} {rest} space "}}"'
    return f'"{{" space ({_any_of([pairs[key] for key in optional])})? space "}}"'


def _any_of(pairs: list[str]) -> str:
    """Any of the pairs in order, at least one."""
    choices: list[str] = []
    for first in range(len(pairs)):
        rest = " ".join(f'(space "," space {pair})?' for pair in pairs[first + 1 :])
        choices.append(f"{pairs[first]} {rest}".strip())
    return " | ".join(choices)
