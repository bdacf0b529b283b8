"""Markdown files that carry YAML front matter: tool descriptions and skills."""

from collections.abc import Mapping
from typing import Any, cast

from oasis.core.tool import ToolSpec

FENCE = "---"


def split(text: str) -> tuple[Mapping[str, Any], str]:
    """The front matter as a mapping and the body after it; an empty mapping where there is none.

    Raises ValueError when the front matter is opened and not closed, or is not a YAML mapping.
    """
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    if lines[0].rstrip() != FENCE:
        return {}, "\n".join(lines).strip()
    end = next((n for n, line in enumerate(lines[1:], 1) if line.rstrip() == FENCE), None)
    if end is None:
        raise ValueError("the front matter is opened with --- and never closed")
    return _mapping("\n".join(lines[1:end])), "\n".join(lines[end + 1 :]).strip()


def _mapping(text: str) -> Mapping[str, Any]:
    import yaml  # noqa: PLC0415

    try:
        value = yaml.safe_load(text)
    except yaml.YAMLError as fault:
        raise ValueError(f"the front matter is not YAML: {fault}") from fault
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise ValueError("the front matter is not a list of `name: value`")
    return cast("dict[str, Any]", value)


def tool_spec(name: str, text: str) -> ToolSpec:
    """The specification that a tool's .md file holds: `parameters` and `required` in front, the description after.

    Raises ValueError as `split` does.
    """
    front, body = split(text)
    schema: dict[str, Any] = {"type": "object", "properties": dict(front.get("parameters") or {})}
    if required := front.get("required"):
        schema["required"] = list(required)
    schema["additionalProperties"] = False
    return ToolSpec(name, body, schema)
