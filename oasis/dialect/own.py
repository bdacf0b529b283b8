"""The call syntax of Oasis' own, for templates that show none: JSON between plain tags, explained in the head."""

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from oasis.core.tool import ToolSpec
from oasis.dialect.entries import Call

OPEN, CLOSE = "<tool_call>", "</tool_call>"
OUTPUT_OPEN, OUTPUT_CLOSE = "<tool_output>", "</tool_output>"


@cache
def _explanation() -> str:
    return (Path(__file__).parent / "own_calls.md").read_text(encoding="utf-8").strip()


def explain(system: str, tools: Sequence[ToolSpec], is_listed: bool) -> str:
    """The system text with the call syntax after it, and the tools unless the template lists them itself."""
    if not tools:
        return system
    listed = "" if is_listed else "\n\n# Tools\n\n" + "\n".join(_line(tool) for tool in tools)
    return f"{system}{listed}\n\n{_explanation()}".strip()


def _line(tool: ToolSpec) -> str:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return json.dumps(function, ensure_ascii=False)


def write(text: str, calls: Sequence[Call]) -> str:
    """A message of the model in this syntax."""
    blocks = [
        f"{OPEN}\n{json.dumps({'name': c.name, 'arguments': c.arguments}, ensure_ascii=False)}\n{CLOSE}" for c in calls
    ]
    return "\n".join([text, *blocks] if text else blocks)


def wrap_output(text: str) -> str:
    return f"{OUTPUT_OPEN}\n{text}\n{OUTPUT_CLOSE}"
