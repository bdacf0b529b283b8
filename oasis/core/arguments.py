"""The arguments of a tool call, read from the text that a model wrote."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from oasis.core.sound import sound

_ESCAPE = re.compile(r'\\(["\\/bfnrt]|u[0-9a-fA-F]{4})|\\', re.DOTALL)
_FENCED = re.compile(r"```(?:json)?\s*(\{.*\})\s*```", re.DOTALL)
_HALF = re.compile(r"[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Written:
    r"""An object that a model wrote.

    `doubtful` names the arguments whose text had to be repaired, each with its first fault as it was written
    (`\q`): what the model meant there is likely and not certain.
    """

    value: dict[str, Any]
    doubtful: Mapping[str, str]


def read_object(text: str) -> Written:
    r"""The JSON object that `text` is.

    Line breaks inside strings and backslashes that start no escape (`E:\Plant\a.st`) are taken as meant, half a
    character (`\ud800` alone) is U+FFFD; a code block around the object, and an object written as a JSON string, are
    unwrapped. Nothing is added, so a text that was cut off is never completed.
    Raises ValueError, in words for the model, for everything else.
    """
    if not text.strip():
        raise ValueError("the arguments are empty; they must be a JSON object")
    try:
        fenced = _FENCED.fullmatch(text.strip())
        value, mark = _load(fenced[1] if fenced else text)
        if isinstance(value, str) and value.lstrip().startswith("{"):
            return read_object(value)
        if not isinstance(value, dict):
            raise ValueError(f"the arguments are {_kind(value)}; they must be a JSON object")
        doubtful: dict[str, str] = {}
        return Written(_cleaned(cast("dict[str, Any]", value), mark, doubtful), doubtful)
    except RecursionError as fault:
        raise ValueError("the arguments are nested too deeply") from fault


def _load(text: str) -> tuple[Any, str]:
    """The value, and the mark that stands behind each backslash that was repaired; empty when none was."""
    try:
        return json.loads(text, strict=False), ""
    except json.JSONDecodeError as fault:
        mark = _unused(text)
        repaired = _ESCAPE.sub(lambda m: m[0] if m[1] else rf"\\{mark}", text)
        try:
            return json.loads(repaired, strict=False), mark
        except json.JSONDecodeError:
            where = f"line {fault.lineno} column {fault.colno}"
            raise ValueError(f"the arguments are not JSON: {fault.msg} at {where}") from fault


def _unused(text: str) -> str:
    """A character of the private use area that `text` has neither as it is nor escaped."""
    folded = text.casefold()
    return next(c for c in map(chr, range(0xE000, 0xF900)) if c not in text and f"\\u{ord(c):04x}" not in folded)


def _cleaned(value: dict[str, Any], mark: str, doubtful: dict[str, str]) -> dict[str, Any]:
    """`value` without marks and halves of characters; what was repaired goes into `doubtful`."""
    cleaned: dict[str, Any] = {}
    for name, part in value.items():
        faults: list[str] = []
        plain = _plain(name, mark, [])
        cleaned[plain] = _plain(part, mark, faults)
        if faults:
            doubtful[plain] = faults[0]
    return cleaned


def _plain(value: Any, mark: str, faults: list[str]) -> Any:
    if isinstance(value, str):
        if mark and (at := value.find(mark)) >= 0:
            faults.append("\\" + value[at + 1 : at + 2])
            value = value.replace(mark, "")
        if half := _HALF.search(value):
            faults.append(f"\\u{ord(half[0]):04x}")
            value = sound(value)
        return value
    if isinstance(value, list):
        return [_plain(part, mark, faults) for part in cast("list[Any]", value)]
    if isinstance(value, dict):
        parts = cast("dict[str, Any]", value).items()
        return {_plain(name, mark, faults): _plain(part, mark, faults) for name, part in parts}
    return value


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    names = {bool: "a boolean", int: "a number", float: "a number", str: "a string", list: "a list"}
    return names[type(value)]
