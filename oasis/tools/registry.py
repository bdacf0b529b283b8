"""The tools of a session, and the way from a model's call to one of them."""

import contextlib
import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from oasis.core.arguments import read_object
from oasis.core.items import Status, ToolCall
from oasis.core.tool import Arguments, Outcome, Tool, ToolSpec
from oasis.tools import meant
from oasis.tools.clip import one_line

MAX_FAULT_CHARS = 600
EXACT = frozenset({"content", "old", "new", "command"})
"""Arguments in which a likely reading is not enough: a repaired path leads to the file or to none, a repaired text
damages a file."""
_CLOSING = "\n[not run]"
_LEFT_IN = re.compile(r"^(?:functions|default_api|tools?)[.:/]|<\|.*$", re.DOTALL)
"""gpt-oss names its recipients `functions.read`, and what parses it leaves that, or `<|channel|>commentary`, in."""


@dataclass(frozen=True, slots=True)
class Registry:
    """Built-in tools first, packs' and servers' tools last; the order is the order in the head."""

    tools: tuple[Tool, ...]

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        return tuple(tool.spec for tool in self.tools)

    def find(self, call: ToolCall) -> tuple[Tool, Arguments] | Outcome:
        """The tool to run and its checked arguments, or what to tell the model instead of running anything."""
        tool = self._named(call.name)
        if tool is None:
            return _not_run(self._unknown(call.name))
        if call.fault:
            return _refused(tool.spec, call.fault)
        try:
            written = read_object(call.arguments)
        except ValueError as fault:
            return _refused(tool.spec, str(fault))
        for name, escape in written.doubtful.items():
            if name in EXACT:
                return _not_run(_broken_escape(name, escape))
        fitted = {
            name: _coerced(value, tool.spec.parameters.get("properties", {}).get(name, {}))
            for name, value in written.value.items()
            if value is not None or name in tool.spec.parameters.get("required", ())
        }
        fault = _misfit(fitted, tool.spec.parameters)
        return _refused(tool.spec, fault) if fault else (tool, fitted)

    def _named(self, name: str) -> Tool | None:
        """The tool of this name in any case, also behind a namespace or before a mark that a server left in it."""
        wanted = _LEFT_IN.sub("", name.strip())
        exact = [tool for tool in self.tools if tool.spec.name == wanted]
        found = exact or [tool for tool in self.tools if tool.spec.name.casefold() == wanted.casefold()]
        return found[0] if len(found) == 1 else None

    def _unknown(self, name: str) -> str:
        names = ", ".join(tool.spec.name for tool in self.tools)
        hint = meant.tool(name[:80], self.specs)
        return f"Not run: there is no tool {name[:80]!r}. {hint}{' ' if hint else ''}The tools are: {names}."


def _broken_escape(name: str, escape: str) -> str:
    if len(escape) > 2:
        return f"Not run: {name} has {escape} in it, which is half a character. Write the character itself."
    return (
        f"Not run: {name} has {one_line(escape)} in it, which is no JSON escape, so other backslashes in it may be "
        "read wrongly too (\\t as a tab, \\n as a line break). Write each backslash as \\\\ and send the call again."
    )


def _refused(spec: ToolSpec, fault: str) -> Outcome:
    """What was wrong, then the names and types of the arguments, and one line of [ ] to close with."""
    said = fault[:300].rstrip(".")
    end = "" if said.endswith("?") else "."
    return _not_run(f"Not run: {said}{end} Call {spec.name} again with {_described(spec.parameters)}.")


def _not_run(text: str) -> Outcome:
    return Outcome(f"{text[: MAX_FAULT_CHARS - len(_CLOSING)]}{_CLOSING}", Status.ERROR)


def _described(schema: Mapping[str, Any]) -> str:
    """Names and types, the required ones first, on one line."""
    properties, required = schema.get("properties", {}), schema.get("required", ())
    if not properties:
        return "no arguments: {}"
    names = sorted(properties, key=lambda name: name not in required)
    spelled = [f'"{n}" ({_type(properties[n])}{", required" if n in required else ""})' for n in names]
    return ", ".join(spelled)


def _type(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return " or ".join(json.dumps(value, ensure_ascii=False) for value in schema["enum"][:8])
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    kind = schema.get("type", "any")
    return " or ".join(cast("list[str]", kind)) if isinstance(kind, list) else str(kind)


def _coerced(value: Any, schema: Mapping[str, Any]) -> Any:
    """`value` as the schema's type where only one reading is possible, otherwise as it is."""
    kind = schema.get("type")
    if kind in ("integer", "number") and isinstance(value, str | float):
        number = _number(value)
        return value if number is None or (kind == "integer" and number != int(number)) else number
    if kind == "boolean" and isinstance(value, str):
        return {"true": True, "false": False}.get(value.strip().lower(), value)
    if kind == "string" and isinstance(value, bool | int | float):
        return json.dumps(value)
    if kind == "array" and value is not None:
        items = cast("list[Any]", value) if isinstance(value, list) else _listed(value)
        return [_coerced(item, schema.get("items", {})) for item in items]
    return value


def _listed(value: Any) -> list[Any]:
    """One value as a list: a text that is a JSON list is what it says."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        with contextlib.suppress(ValueError):
            read: object = json.loads(value)
            if isinstance(read, list):
                return cast("list[Any]", read)
    return [value]


def _number(value: str | float) -> float | None:
    try:
        number = float(value)
    except ValueError:
        return None
    if not math.isfinite(number):
        return None
    return int(number) if number == int(number) and abs(number) < 2**53 else number


def _misfit(arguments: Arguments, schema: Mapping[str, Any]) -> str:
    """What does not fit, in words; empty when all does."""
    from jsonschema import Draft202012Validator  # noqa: PLC0415

    faults = sorted(Draft202012Validator(schema).iter_errors(arguments), key=lambda e: (len(e.path), str(e.path)))
    if not faults:
        return ""
    if misnamed := _misnamed(arguments, schema):
        return misnamed
    fault = faults[0]
    where = ".".join(str(step) for step in fault.absolute_path)
    return f"{where + ': ' if where else ''}{fault.message[:200]}"


def _misnamed(arguments: Arguments, schema: Mapping[str, Any]) -> str:
    """Which arguments are unknown or missing, and what an unknown one is likely to mean; empty when none is."""
    known = list(schema.get("properties", {}))
    unknown = [name for name in arguments if name not in known] if not schema.get("additionalProperties", True) else []
    missing = [name for name in schema.get("required", ()) if name not in arguments]
    free = [name for name in known if name not in arguments]
    likely = meant.arguments(unknown[:3], free, missing)
    said = [
        f"unknown argument {_quoted(name)}" + (f": did you mean {_quoted(known)}?" if known else "")
        for name, known in zip(unknown, likely, strict=False)
    ]
    if not unknown:
        said = [f"argument {_quoted(name)} is missing" for name in missing[:3]]
    return "; ".join(said)


def _quoted(name: str) -> str:
    return json.dumps(name[:60])
