"""The tools of a session, and the way from a model's call to one of them."""

import difflib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from oasis.core.arguments import read_object
from oasis.core.items import Status, ToolCall
from oasis.core.tool import Arguments, Outcome, Tool, ToolSpec

MAX_FAULT_CHARS = 600


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
            return Outcome(self._unknown(call.name), Status.ERROR)
        if call.fault:
            return _refused(tool.spec, call.fault)
        try:
            arguments = read_object(call.arguments)
        except ValueError as fault:
            return _refused(tool.spec, str(fault))
        fitted = {
            name: _coerced(value, tool.spec.parameters.get("properties", {}).get(name, {}))
            for name, value in arguments.items()
            if value is not None or name in tool.spec.parameters.get("required", ())
        }
        fault = _misfit(fitted, tool.spec.parameters)
        return _refused(tool.spec, fault) if fault else (tool, fitted)

    def _named(self, name: str) -> Tool | None:
        wanted = name.strip()
        exact = [tool for tool in self.tools if tool.spec.name == wanted]
        found = exact or [tool for tool in self.tools if tool.spec.name.casefold() == wanted.casefold()]
        return found[0] if len(found) == 1 else None

    def _unknown(self, name: str) -> str:
        names = [tool.spec.name for tool in self.tools]
        near = difflib.get_close_matches(name.casefold(), names, 1, 0.4) or [n for n in names if n in name.casefold()]
        hint = f" Nearest: {near[0]}." if near else ""
        return f"Not run: there is no tool {name[:80]!r}.{hint} The tools are: {', '.join(names)}."[:MAX_FAULT_CHARS]


def _refused(spec: ToolSpec, fault: str) -> Outcome:
    """What was wrong, then as much of the schema as helps: first without descriptions, then names only."""
    opening = f"Not run: {fault[:300].rstrip('.')}. Call {spec.name} again with arguments of this schema: "
    for schema in (_bare(spec.parameters), _names(spec.parameters)):
        text = opening + json.dumps(schema, ensure_ascii=False, separators=(",", ":"))
        if len(text) <= MAX_FAULT_CHARS:
            break
    return Outcome(text[:MAX_FAULT_CHARS], Status.ERROR)


def _bare(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    properties = {
        name: {key: part for key, part in value.items() if key != "description"}
        for name, value in schema.get("properties", {}).items()
    }
    return {**schema, "properties": properties}


def _names(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"properties": sorted(schema.get("properties", {})), "required": list(schema.get("required", ()))}


def _coerced(value: Any, schema: Mapping[str, Any]) -> Any:
    """`value` as the schema's type where only one reading is possible, otherwise as it is."""
    kind = schema.get("type")
    if kind in ("integer", "number") and isinstance(value, str | float):
        number = _number(value)
        return value if number is None or (kind == "integer" and number != int(number)) else number
    if kind == "boolean" and isinstance(value, str):
        return {"true": True, "false": False}.get(value.strip().lower(), value)
    if kind == "string" and isinstance(value, int | float) and not isinstance(value, bool):
        return json.dumps(value)
    if kind == "array" and value is not None:
        items = cast("list[Any]", value) if isinstance(value, list) else [value]
        return [_coerced(item, schema.get("items", {})) for item in items]
    return value


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
    fault = faults[0]
    where = ".".join(str(step) for step in fault.absolute_path)
    return f"{where + ': ' if where else ''}{fault.message[:200]}"
