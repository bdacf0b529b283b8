"""Completion in the input: commands and their arguments after `/`, files of the project after `@`."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from prompt_toolkit.completion import CompleteEvent, Completer, Completion, ThreadedCompleter
from prompt_toolkit.document import Document

if TYPE_CHECKING:
    from oasis.ui.terminal.workplace import Workplace

MAX_FILES = 20_000
MAX_SHOWN = 30
FRESH_S = 10.0


class Files:
    """The project's files without what .gitignore leaves out, looked up again after ten seconds."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._names: list[str] = []
        self._looked_at = -FRESH_S

    def names(self) -> list[str]:
        """Relative paths with forward slashes."""
        from oasis.tools.walk import files  # noqa: PLC0415

        if time.monotonic() - self._looked_at > FRESH_S:
            found = islice(files(self._root, self._root), MAX_FILES)
            self._names = [path.relative_to(self._root).as_posix() for path in found]
            self._looked_at = time.monotonic()
        return self._names


def fuzzy(word: str, names: Iterable[str], most: int = MAX_SHOWN) -> list[str]:
    """The names that hold the letters of `word` in their order, nearest first."""
    scored: list[tuple[tuple[int, int, int], str]] = []
    for name in names:
        if (score := _score(word.casefold(), name.casefold())) is not None:
            scored.append((score, name))
    return [name for _, name in sorted(scored)[:most]]


def _score(word: str, name: str) -> tuple[int, int, int] | None:
    """Lower is nearer: a whole hit in the file's own name, then one in the path, then scattered letters."""
    own = name.rpartition("/")[2]
    if word in own:
        return (0 if own.startswith(word) else 1, own.index(word), len(name))
    if word in name:
        return (2, name.index(word), len(name))
    first = at = -1
    for letter in word:
        at = name.find(letter, at + 1)
        if at < 0:
            return None
        first = at if first < 0 else first
    return (3, at - first, len(name))


def completer(place: "Workplace") -> Completer:
    """Completion of this session's input, in a thread of its own."""

    def summaries() -> dict[str, str]:
        from oasis.ui.terminal.commands.registry import COMMANDS  # noqa: PLC0415

        return {command.name: command.summary for command in COMMANDS.values()}

    def arguments(name: str) -> Sequence[str]:
        from oasis.ui.terminal.commands.registry import arguments_of  # noqa: PLC0415

        return arguments_of(place, name)

    return ThreadedCompleter(InputCompleter(summaries, arguments, Files(place.start.project)))


class InputCompleter(Completer):
    """Completes `/command argument` and `@path`."""

    def __init__(
        self, commands: Callable[[], Mapping[str, str]], arguments: Callable[[str], Sequence[str]], files: Files
    ) -> None:
        """`commands` gives names and what they do. `arguments`: what may follow a command's name, likeliest first."""
        self._commands, self._arguments, self._files = commands, arguments, files

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        before = document.text_before_cursor
        if before.startswith("/") and "\n" not in before:
            yield from self._of_command(before)
            return
        word = before.split()[-1] if before and not before[-1].isspace() else ""
        if word.startswith("@"):
            for name in fuzzy(word[1:], self._files.names()):
                written = f"@{name}" if " " not in name else f'@"{name}"'
                yield Completion(written, start_position=-len(word), display=name)

    def _of_command(self, before: str) -> Iterable[Completion]:
        name, blank, rest = before[1:].partition(" ")
        if not blank:
            commands = self._commands()
            for found in fuzzy(name, commands):
                yield Completion(f"/{found}", start_position=-len(before), display_meta=commands[found])
            return
        offered = self._arguments(name)
        for argument in fuzzy(rest, offered) if rest else offered[:MAX_SHOWN]:
            yield Completion(argument, start_position=-len(rest))
