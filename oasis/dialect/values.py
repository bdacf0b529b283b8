"""One value at the beginning of a text: JSON, JSON with lone backslashes, or a Python literal."""

import ast
import json
import re
from typing import Any

_LENIENT = json.JSONDecoder(strict=False)
_LONE_BACKSLASH = re.compile(r'\\(?!["\\/bfnrt]|u[0-9a-fA-F]{4})')


def decode(text: str, at: int) -> tuple[Any, int]:
    """The value at `at` and where it ends. Raises ValueError when there is none."""
    try:
        return _LENIENT.raw_decode(text, at)
    except (ValueError, RecursionError):
        end = literal_end(text, at)
    piece = text[at:end]
    for read in (_with_backslashes, ast.literal_eval):
        try:
            return read(piece), end
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
    raise ValueError(f"no value at {at}")


def _with_backslashes(piece: str) -> Any:
    """JSON in which a path was written with single backslashes."""
    return json.loads(_LONE_BACKSLASH.sub(r"\\\\", piece), strict=False)


def literal_end(text: str, at: int) -> int:
    """Where the bracketed, quoted or bare value at `at` ends, by its quotes and brackets. Raises ValueError."""
    depth, quote, i = 0, "", at
    while i < len(text):
        char = text[i]
        if quote:
            if char == "\\":
                i += 1
            elif char == quote:
                quote = ""
                if not depth:
                    return i + 1
        elif char in "\"'":
            quote = char
        elif char in "[{(":
            depth += 1
        elif char in "]})":
            depth -= 1
            if depth <= 0:
                return i + 1 if depth == 0 else i
        elif not depth and (char == "," or char.isspace()):
            return i
        i += 1
    if depth or quote or at >= len(text):
        raise ValueError("the value is not closed")
    return i


def read_text(text: str, is_string: bool) -> Any:
    """A parameter's text as a value: itself where a string is wanted, else JSON, a Python literal, or itself."""
    if text.startswith("<![CDATA[") and text.endswith("]]>"):
        return text[9:-3]
    if is_string:
        return text
    for read in (json.loads, ast.literal_eval):
        try:
            return read(text.strip())
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
    return text


def decode_bare(text: str, at: int, quote: str) -> tuple[Any, int]:
    """A JSON-like value whose keys are bare and whose strings stand between two equal marks (gemma-4).

    Raises ValueError.
    """
    if text.startswith(quote, at):
        end = text.index(quote, at + len(quote))
        return text[at + len(quote) : end], end + len(quote)
    if text[at : at + 1] == "{":
        return _bare_object(text, at + 1, quote)
    if text[at : at + 1] == "[":
        return _bare_list(text, at + 1, quote)
    found = re.compile(r"[^,\]}\s]+").match(text, at)
    if not found:
        raise ValueError(f"no value at {at}")
    words = {"None": None, "True": True, "False": False}
    word = found.group()
    return (words[word] if word in words else json.loads(word)), found.end()


def _bare_object(text: str, at: int, quote: str) -> tuple[dict[str, Any], int]:
    made: dict[str, Any] = {}
    while (at := _skip(text, at)) < len(text):
        if text[at] == "}":
            return made, at + 1
        if text.startswith(quote, at):
            key, at = decode_bare(text, at, quote)
            colon = text.index(":", at)
        else:
            colon = text.index(":", at)
            key = text[at:colon].strip()
        made[str(key)], at = decode_bare(text, _skip(text, colon + 1), quote)
    raise ValueError("the object is not closed")


def _bare_list(text: str, at: int, quote: str) -> tuple[list[Any], int]:
    made: list[Any] = []
    while (at := _skip(text, at)) < len(text):
        if text[at] == "]":
            return made, at + 1
        value, at = decode_bare(text, at, quote)
        made.append(value)
    raise ValueError("the list is not closed")


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in ", \n\t\r":
        at += 1
    return at
