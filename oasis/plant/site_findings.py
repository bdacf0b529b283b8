"""What is found in a site file: each fault and hint with its line."""

import difflib
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from oasis.plant.site_lines import Path
from oasis.plant.values import spelled

NAME = re.compile(r"[^\W\d][\w.-]{0,63}")
_WORDS = {str: "text in quotes", bool: "true or false", float: "a number", list: "a list in [ ]", dict: "a table"}
_HUGE = 1e300


@dataclass(frozen=True, slots=True)
class Finding:
    """Something about a line of a site file; line 0 is the file as a whole. What is no error is a hint."""

    line: int
    text: str
    is_error: bool = True


@dataclass
class Seen:
    """What has been found so far."""

    lines: Mapping[Path, int]
    findings: list[Finding] = field(default_factory=list[Finding])
    faults: int = 0

    def say(self, path: Path, text: str, *, is_error: bool = True) -> None:
        """Note something about a key, on its line or on that of the nearest table around it."""
        while path and path not in self.lines:
            path = path[:-1]
        self.findings.append(Finding(self.lines.get(path, 1), text, is_error))
        self.faults += is_error

    def table(self, path: Path, value: object, keys: Mapping[str, tuple[type, ...]]) -> dict[str, Any]:
        """The table's keys that are known and of the right type."""
        named = ".".join(str(key) for key in path)
        if not isinstance(value, dict):
            self.say(path, f"`{named}` must be a table: [{named}]")
            return {}
        good: dict[str, Any] = {}
        for key, given in cast(dict[str, Any], value).items():
            if key not in keys:
                self.say((*path, key), f"{_shown(key)} is no key of [{named}]. {near(key, keys)}")
            elif type(given) not in keys[key]:
                needed = " or ".join(dict.fromkeys(_WORDS[kind] for kind in keys[key] if kind is not int))
                self.say((*path, key), f"`{key}` must be {needed}, not {_word(given)}")
            elif isinstance(given, int | float) and not abs(given) <= _HUGE:
                self.say((*path, key), f"`{key}` must be a finite number")
            elif isinstance(given, str) and not given.isprintable():
                self.say((*path, key), f"`{key}` holds characters that cannot be shown; leave them out")
            else:
                good[key] = given
        return good

    def named(self, path: Path, value: object, what: str) -> dict[str, Any]:
        """A table of named tables, without those whose name cannot be used."""
        if not isinstance(value, dict):
            self.say(path, f"`{path[0]}` must hold a table for each {what}: [{path[0]}.NAME]")
            return {}
        good: dict[str, Any] = {}
        folded: dict[str, str] = {}
        for name, given in cast(dict[str, Any], value).items():
            if not NAME.fullmatch(name):
                shown = spelled(name[:64])
                self.say(
                    (*path, name), f"{shown} is no name for {what}: a letter, then letters, digits, _ . - (at most 64)"
                )
            elif (other := folded.setdefault(name.casefold(), name)) != name:
                self.say((*path, name), f"{what} {name} and {what} {other} differ only in upper and lower case")
            else:
                good[name] = given
        return good


def near(name: str, known: Collection[str]) -> str:
    """What may have been meant by a name that is not known."""
    close = difflib.get_close_matches(name, known, n=3)
    if close:
        return f"Did you mean {' or '.join(f'`{n}`' for n in close)}?"
    shown = [f"`{n}`" for n in sorted(known)[:20]]
    return f"There are: {', '.join(shown)}{', …' if len(known) > len(shown) else ''}." if shown else "There are none."


def _shown(key: str) -> str:
    """A key that may be anything, short and on one line."""
    return f"`{key}`" if key.isprintable() and len(key) <= 64 else spelled(key[:64])


def _word(value: object) -> str:
    """What a value is, in words."""
    for kind, word in ((bool, "true or false"), (int, "a number"), (float, "a number"), *_WORDS.items()):
        if isinstance(value, kind):
            return word
    return "a date or time"
