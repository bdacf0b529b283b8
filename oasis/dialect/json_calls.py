"""Calls as JSON that holds the name: `{"name": ..., "arguments": ...}`, a list of such, or `{name: {...}}`."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from oasis.core.tool import ToolSpec
from oasis.dialect.found import Found
from oasis.dialect.values import decode

Path = tuple[str | int, ...]
_START = re.compile(r"[\[{]")


def path_to(value: object, wanted: object) -> Path | None:
    """Where `wanted` sits in a value decoded from JSON: the keys that lead to it, None when it is not there."""
    if value == wanted:
        return ()
    pairs: list[tuple[str | int, object]] = []
    if isinstance(value, dict):
        pairs = list(cast("dict[str | int, object]", value).items())
    elif isinstance(value, list):
        pairs = list(enumerate(cast("list[object]", value)))
    for key, inner in pairs:
        path = path_to(inner, wanted)
        if path is not None:
            return (key, *path)
    return None


def at_path(value: Any, path: Path) -> Any:
    """The value there. Raises KeyError, IndexError, TypeError."""
    for key in path:
        value = value[key]
    return value


@dataclass(frozen=True, slots=True)
class JsonCalls:
    """`name_path` is None where the name is the key and the arguments its value."""

    section: str
    close: str
    name_path: Path | None
    arguments_path: Path
    id_path: Path | None

    @property
    def mode(self) -> str:
        return "json" if self.name_path is not None else "json-key"

    def find(self, text: str, at: int, tools: Sequence[ToolSpec]) -> list[Found]:
        start = text.find(self.section, at) if self.section else at
        if start < 0:
            return []
        if not self.section and text[at:].lstrip()[:1] not in ("{", "["):
            return []
        calls: list[Found] = []
        cursor = start + len(self.section)
        while match := _START.search(text, cursor):
            opening = self._opening(text, cursor, match.start(), start if not calls else cursor)
            if calls and opening is None:
                break
            begin = start if opening is None else opening
            try:
                value, cursor = decode(text, match.start())
            except ValueError:
                cursor = self._end_of_broken(text, match.start())
                calls.append(self._broken(text, begin, match.start(), cursor, tools))
                continue
            found = [self._read(one, text, begin, match.start(), cursor) for one in _each(value)]
            calls += [one for one in found if one is not None]
            if not any(found) and not self.section:
                break
        return calls

    def _opening(self, text: str, cursor: int, brace: int, start: int) -> int | None:
        """Where the call whose brace is at `brace` begins; None when text of another kind stands before it."""
        between = text[cursor:brace]
        if self.section and self.section in between:
            return cursor + between.rindex(self.section)
        rest = between.replace(self.close, "") if self.close else between
        return start if not rest.strip(" \n\t\r;,]") else None

    def _read(self, value: Any, text: str, begin: int, at: int, end: int) -> Found | None:
        try:
            if self.name_path is None:
                ((name, arguments),) = cast("Mapping[str, Any]", value).items()
            else:
                name, arguments = at_path(value, self.name_path), at_path(value, self.arguments_path)
            written_id = at_path(value, self.id_path) if self.id_path else ""
        except (KeyError, IndexError, TypeError, ValueError, AttributeError):
            return self._nameless(value, text, begin, at, end)
        if isinstance(arguments, str):
            try:
                arguments = json.loads(arguments if arguments.strip() else "{}")
            except ValueError as error:
                return Found(str(name), None, str(arguments), begin, end, str(written_id), f"no JSON: {error}")
        if not isinstance(name, str):
            return None
        if not isinstance(arguments, dict):
            written = json.dumps(arguments, ensure_ascii=False)
            return Found(name, None, written, begin, end, str(written_id), "the arguments are not an object")
        return Found(name, cast("Mapping[str, Any]", arguments), "", begin, end, str(written_id))

    def _nameless(self, value: Any, text: str, begin: int, at: int, end: int) -> Found | None:
        """JSON after the opening that is not a whole call: a call whose arguments are missing, or nothing."""
        if not isinstance(value, dict) or self.name_path is None or not self.section:
            return None
        try:
            name = at_path(value, self.name_path)
        except (KeyError, IndexError, TypeError):
            return None
        if not isinstance(name, str):
            return None
        others = set(cast("dict[str, Any]", value)) - {self.name_path[-1], "id"}
        if not others:
            return Found(name, {}, "", begin, end)
        return Found(name, None, text[at:end], begin, end, "", f"no {self.arguments_path[-1]!r} in the call")

    def _end_of_broken(self, text: str, at: int) -> int:
        ends = [text.find(mark, at + 1) for mark in (self.close, self.section) if mark]
        return min((end for end in ends if end >= 0), default=len(text))

    def _broken(self, text: str, begin: int, at: int, end: int, tools: Sequence[ToolSpec]) -> Found:
        written = text[at:end].strip()
        names = re.findall(r'"([\w.\-]+)"', written)
        known = {tool.name for tool in tools}
        name = next((n for n in names if n in known), "")
        if not name:
            after = re.search(r'"(?:name|tool_name|function)"\s*:\s*"([\w.\-]*)"', written)
            name = after.group(1) if after else ""
        return Found(name, None, written, begin, end, "", "the call is not valid JSON")


def _each(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else [value]
