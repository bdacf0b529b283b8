"""Tool schemas in the few words every template understands."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

_KNOWN = ("type", "description", "properties", "required", "items", "enum", "default")


def simpler(tools: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The tools with one type for each value.

    Some templates write types out in words and fail on a union or a schema without a type (Hermes 2 Pro recurses
    without end on a list of types).
    """
    made: list[dict[str, Any]] = []
    for tool in tools:
        function = dict(tool["function"])
        function["parameters"] = _plain(function["parameters"])
        made.append({**tool, "function": function})
    return made


def _plain(schema: Mapping[str, Any]) -> dict[str, Any]:
    union = next((schema[key] for key in ("anyOf", "oneOf", "allOf") if schema.get(key)), None)
    if union and "type" not in schema:
        first = next((one for one in union if one.get("type") != "null"), union[0])
        schema = {**first, **{key: value for key, value in schema.items() if key in ("description", "default")}}
    plain = {key: value for key, value in schema.items() if key in _KNOWN}
    kind = plain.get("type", "string")
    if isinstance(kind, list):
        kinds = cast("list[str]", kind)
        kind = next((one for one in kinds if one != "null"), "string")
    plain["type"] = kind
    if isinstance(plain.get("properties"), Mapping):
        plain["properties"] = {key: _plain(value) for key, value in plain["properties"].items()}
    if kind == "array":
        plain["items"] = _plain(plain["items"]) if isinstance(plain.get("items"), Mapping) else {"type": "string"}
    return plain
