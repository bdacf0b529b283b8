"""What the person typed, kept across sessions: one JSON string a line, readable by its owner only."""

import json
import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from prompt_toolkit.history import History

MAX_ENTRIES = 2_000
MAX_CHARS = 20_000


class InputHistory(History):
    """History in a file of the user's state folder; one that cannot be read or written is no reason to stop."""

    def __init__(self, place: Callable[[], Path]) -> None:
        """`place` gives the file when it is first needed."""
        super().__init__()
        self._place = place

    @property
    def _file(self) -> Path:
        return self._place()

    def load_history_strings(self) -> Iterable[str]:
        """Newest first; the file is cut to its newest entries where it has grown to twice as many."""
        try:
            lines = self._file.read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            return []
        if len(lines) > 2 * MAX_ENTRIES:
            self._rewrite(lines[-MAX_ENTRIES:])
        found: list[str] = []
        for line in reversed(lines[-MAX_ENTRIES:]):
            try:
                entry: Any = json.loads(line)
            except ValueError:
                continue
            if isinstance(entry, str):
                found.append(entry)
        return found

    def store_string(self, string: str) -> None:
        """Append one entry; a very long one is left out."""
        if len(string) > MAX_CHARS:
            return
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            handle = os.open(self._file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            with os.fdopen(handle, "ab") as file:
                file.write(json.dumps(string, ensure_ascii=True).encode() + b"\n")
        except OSError:
            return

    def _rewrite(self, lines: list[str]) -> None:
        from oasis import atomic  # noqa: PLC0415

        with suppress(OSError):
            atomic.replace(self._file, "".join(f"{line}\n" for line in lines).encode(), mode=0o600)
