"""Calls with the name in a header and the arguments after it: JSON, bare JSON, or parameters one by one."""

import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, Protocol, cast

from oasis.core.tool import ToolSpec
from oasis.dialect.found import Found, properties
from oasis.dialect.values import decode, decode_bare, read_text


class Body(Protocol):
    """How the arguments after a header are written."""

    @property
    def mode(self) -> str: ...

    def read(self, text: str, at: int, known: Mapping[str, Any]) -> tuple[Any, int]:
        """The arguments at `at` and where they end; `known` are the tool's parameters. Raises ValueError."""
        ...


@dataclass(frozen=True, slots=True)
class JsonBody:
    mode: str = "header+json"

    def read(self, text: str, at: int, known: Mapping[str, Any]) -> tuple[Any, int]:
        return decode(text, at)


@dataclass(frozen=True, slots=True)
class BareBody:
    """Keys without quotes, strings between two equal marks."""

    quote: str
    mode: str = "header+bare"

    def read(self, text: str, at: int, known: Mapping[str, Any]) -> tuple[Any, int]:
        return decode_bare(text, at, self.quote)


@dataclass(frozen=True, slots=True)
class KeywordBody:
    """`key=value, key=value` with values as JSON or Python writes them."""

    between: str
    mode: str = "keywords"

    def read(self, text: str, at: int, known: Mapping[str, Any]) -> tuple[Any, int]:
        made: dict[str, Any] = {}
        pattern = re.compile(r"\s*,?\s*(?P<key>[\w.\-]+)" + self.between)
        while match := pattern.match(text, at):
            try:
                made[match["key"]], at = decode(text, match.end())
            except ValueError:
                made[match["key"]], at = self._unescaped(text, match.end())
        return made, at

    def _unescaped(self, text: str, at: int) -> tuple[str, int]:
        """A string the template did not escape: up to its quote before the next key or the end."""
        quote = re.escape(text[at : at + 1])
        end = re.compile(quote + r"(?=\s*(,\s*\w+=|\)))").search(text, at + 1)
        if text[at : at + 1] not in ("'", '"') or not end:
            raise ValueError("the string is not closed")
        return text[at + 1 : end.start()], end.end()


@dataclass(frozen=True, slots=True)
class ParameterBody:
    """Parameters between marks: `<parameter=key>value</parameter>`.

    open, close    what stands before a key and after a value, white space at the outside left out;
                   `{key}` in `close` stands for the key
    between        a pattern for what stands between key and value
    string_mark    what stands there for a string, where the syntax tells types apart; otherwise empty
    call_close     the mark that follows the last parameter
    """

    open: str
    between: str
    close: str
    string_mark: str
    call_close: str
    mode: str = "parameters"

    def read(self, text: str, at: int, known: Mapping[str, Any]) -> tuple[Any, int]:
        made: dict[str, Any] = {}
        pattern = re.compile(r"\s*" + re.escape(self.open) + r"(?P<key>[\w.\-]+?)(?P<between>" + self.between + ")")
        while match := pattern.match(text, at):
            key = match["key"]
            close = self.close.replace("{key}", key)
            expected = known.keys() - made.keys() if known else None
            end = self._end(text, match.end(), close, pattern, expected)
            value = text[match.end() : end]
            is_string = self._is_string(match["between"], known.get(key))
            made[key] = read_text(value, is_string)
            at = end + len(close)
        if self.call_close and not made and self.call_close not in text[at:]:
            raise ValueError("no parameter and no end of the call")
        return made, at

    def _is_string(self, between: str, schema: Any) -> bool:
        if self.string_mark:
            return between == self.string_mark
        return isinstance(schema, dict) and cast("dict[str, Any]", schema).get("type") == "string"

    def _end(self, text: str, at: int, close: str, pattern: re.Pattern[str], expected: Set[str] | None) -> int:
        """The close after which a known parameter, or the end of the call, follows: a value may hold the mark."""
        ends = [m.start() for m in re.finditer(re.escape(close), text) if m.start() >= at]
        if not ends:
            raise ValueError("a parameter is not closed")
        for end in ends:
            after = end + len(close)
            if text[after:].lstrip().startswith(self.call_close) and self.call_close:
                return end
            following = pattern.match(text, after)
            if following and (expected is None or following["key"] in expected):
                return end
        return ends[0]


@dataclass(frozen=True, slots=True)
class HeadedCalls:
    """`header` has the group `name` and may have `id`; `anchor` must stand before the first header."""

    section: str
    close: str
    header: re.Pattern[str]
    anchor: str
    body: Body

    @property
    def mode(self) -> str:
        return self.body.mode

    def find(self, text: str, at: int, tools: Sequence[ToolSpec]) -> list[Found]:
        start = text.find(self.anchor, at) if self.anchor else at
        calls: list[Found] = []
        if start < 0:
            return calls
        while match := self.header.search(text, start):
            name, known = match["name"], properties(tools, match["name"])
            written_id = match.groupdict().get("id") or ""
            try:
                arguments, start = self.body.read(text, match.end(), known)
                fault = "" if isinstance(arguments, dict) else "the arguments are not an object"
                arguments = cast("Mapping[str, Any]", arguments)
            except (ValueError, IndexError) as error:
                arguments, fault = None, f"the arguments cannot be read: {error}"
                start = self._end_of_broken(text, match.end())
            written = text[match.end() : start].strip() if fault else ""
            if fault and not self._is_call(match.group(), name, tools):
                start = match.end()
                continue
            calls.append(Found(name, None if fault else arguments, written, match.start(), start, written_id, fault))
        return calls

    def _is_call(self, header: str, name: str, tools: Sequence[ToolSpec]) -> bool:
        """Unreadable arguments make a broken call only after a real mark or a known name."""
        return "<" in header or "[" in header or any(tool.name == name for tool in tools)

    def _end_of_broken(self, text: str, at: int) -> int:
        ends = [text.find(self.close, at)] if self.close else []
        following = self.header.search(text, at)
        ends += [following.start()] if following else []
        return min((end for end in ends if end >= 0), default=len(text))
