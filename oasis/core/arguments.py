"""The arguments of a tool call, read from the text that a model wrote."""

import json
import re
from typing import Any, cast

_ESCAPE = re.compile(r'\\(["\\/bfnrt]|u[0-9a-fA-F]{4})|\\', re.DOTALL)


def read_object(text: str) -> dict[str, Any]:
    r"""The JSON object that `text` is.

    Line breaks inside strings and backslashes that start no escape (`E:\Plant\a.st`) are taken as meant;
    nothing is added, so a text that was cut off is never completed.
    Raises ValueError, in words for the model, for everything else.
    """
    if not text.strip():
        raise ValueError("the arguments are empty; they must be a JSON object")
    try:
        value = _load(text)
    except RecursionError as fault:
        raise ValueError("the arguments are nested too deeply") from fault
    if not isinstance(value, dict):
        raise ValueError(f"the arguments are {_kind(value)}; they must be a JSON object")
    return cast("dict[str, Any]", value)


def _load(text: str) -> Any:
    try:
        return json.loads(text, strict=False)
    except json.JSONDecodeError as fault:
        repaired = _ESCAPE.sub(lambda m: m[0] if m[1] else r"\\", text)
        try:
            return json.loads(repaired, strict=False)
        except json.JSONDecodeError:
            where = f"line {fault.lineno} column {fault.colno}"
            raise ValueError(f"the arguments are not JSON: {fault.msg} at {where}") from fault


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    names = {bool: "a boolean", int: "a number", float: "a number", str: "a string", list: "a list"}
    return names[type(value)]
