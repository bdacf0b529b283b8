"""On which line a TOML document has each key. tomllib does not say, and a fault is explained with its line."""

import re
import tomllib
from bisect import bisect_right

from oasis.errors import ConfigError

Path = tuple[str | int, ...]
"""Keys from the root; a number is a place in an array."""

_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_SPACE = re.compile(r"[ \t]*")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_LITERAL = re.compile(r"'[^'\n]*'")
_BASIC = re.compile(r'"(?:\\.|[^"\\\n])*"')
_LONG = re.compile(r"'''[\s\S]*?'{3,5}|\"\"\"(?:\\[\s\S]|[^\\])*?\"{3,5}")
_SCALAR = re.compile(r"[^,\]}#\n]+")


def lines_of(text: str) -> dict[Path, int]:
    """The line of each key and table of a valid TOML document (line feeds only), counted from 1.

    Raises ConfigError for a place that it cannot follow.
    """
    return _Scanner(text).scan()


class _Scanner:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._breaks = [n for n, char in enumerate(text) if char == "\n"]
        self._lines: dict[Path, int] = {}
        self._arrays: dict[Path, int] = {}

    def scan(self) -> dict[Path, int]:
        table: Path = ()
        while self._skip(_BLANK) < len(self._text):
            if self._text.startswith("[", self._at):
                table = self._header()
            else:
                self._pair(table)
        return self._lines

    def _header(self) -> Path:
        is_array = self._text.startswith("[[", self._at)
        line = self._line()
        self._at += 2 if is_array else 1
        path = self._within_arrays(self._key(), is_array)
        if is_array:
            self._arrays[path] = self._arrays.get(path, -1) + 1
            self._note(path, line)
            path = (*path, self._arrays[path])
        self._note(path, line)
        self._take("]]" if is_array else "]")
        return path

    def _within_arrays(self, keys: Path, is_array: bool) -> Path:
        """A header's keys with the place of the last element of each array of tables on the way."""
        path: Path = ()
        for number, key in enumerate(keys):
            path = (*path, key)
            if path in self._arrays and not (is_array and number == len(keys) - 1):
                path = (*path, self._arrays[path])
        return path

    def _pair(self, table: Path) -> None:
        line = self._line()
        path = (*table, *self._key())
        self._note(path, line, len(table))
        self._take("=")
        self._value(path)

    def _note(self, path: Path, line: int, known: int = 0) -> None:
        for length in range(known + 1, len(path) + 1):
            self._lines.setdefault(path[:length], line)

    def _key(self) -> Path:
        keys: list[str | int] = []
        while True:
            self._skip(_SPACE)
            for form in (_BARE_KEY, _BASIC, _LITERAL):
                if found := form.match(self._text, self._at):
                    break
            else:
                raise self._lost()
            self._at = found.end()
            keys.append(found[0] if form is _BARE_KEY else str(tomllib.loads(f"k = {found[0]}")["k"]))
            self._skip(_SPACE)
            if not self._text.startswith(".", self._at):
                return tuple(keys)
            self._at += 1

    def _value(self, path: Path) -> None:
        self._skip(_SPACE)
        match self._text[self._at : self._at + 1]:
            case "[":
                self._array(path)
            case "{":
                self._inline(path)
            case _:
                for form in (_LONG, _BASIC, _LITERAL, _SCALAR):
                    if found := form.match(self._text, self._at):
                        self._at = found.end()
                        return
                raise self._lost()

    def _array(self, path: Path) -> None:
        self._at += 1
        number = 0
        while self._skip(_BLANK) < len(self._text) and self._text[self._at] != "]":
            self._note((*path, number), self._line(), len(path))
            self._value((*path, number))
            number += 1
            if self._text.startswith(",", self._skip(_BLANK)):
                self._at += 1
        self._take("]")

    def _inline(self, path: Path) -> None:
        self._at += 1
        while self._skip(_BLANK) < len(self._text) and self._text[self._at] != "}":
            self._pair(path)
            if self._text.startswith(",", self._skip(_BLANK)):
                self._at += 1
        self._take("}")

    def _skip(self, form: re.Pattern[str]) -> int:
        found = form.match(self._text, self._at)
        self._at = found.end() if found else self._at
        return self._at

    def _take(self, mark: str) -> None:
        self._skip(_SPACE)
        if not self._text.startswith(mark, self._at):
            raise self._lost()
        self._at += len(mark)

    def _line(self) -> int:
        return bisect_right(self._breaks, self._at - 1) + 1

    def _lost(self) -> ConfigError:
        return ConfigError(f"line {self._line()} is written in a way whose keys cannot be located; write it plainly")
