"""Where the file tools may go: the project, what may be read beside it, what is never written."""

import hashlib
import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from oasis.errors import ToolFault
from oasis.tools import walk
from oasis.tools.clip import one_line
from oasis.tools.paths import UnusablePath, find

MAX_LOADED_BYTES = 64 << 20
MAX_LOOKED = 2_000


@dataclass(slots=True)
class _Seen:
    """Which lines of a file, from 1, the model has seen in the state with this digest."""

    digest: bytes
    stamp: tuple[int, int]
    lines: set[int] = field(default_factory=set[int])
    is_whole: bool = False


_GONE = (-1, -1)


def _stamp(path: Path) -> tuple[int, int]:
    """Size and time of change, which say cheaply that a file may have changed."""
    try:
        about = path.stat()
    except OSError:
        return _GONE
    return about.st_size, about.st_mtime_ns


class Workspace:
    """The project at `root`, and what this session has read of it.

    spill       folder for outputs that are too long to send; outside the project, readable
    readable    further folders that may be read: skills
    protected   files and folders that no tool may write: the user's settings, rules and sessions
    """

    CHANGED = "it was changed on disk"

    def __init__(self, root: Path, spill: Path, readable: Sequence[Path] = (), protected: Sequence[Path] = ()) -> None:
        self.root = root.resolve()
        self.spill = spill.resolve()
        self._readable = (self.spill, *(folder.resolve() for folder in readable))
        self._protected = (self.root / "oasis.toml", *(path.resolve() for path in protected))
        self._seen: dict[Path, _Seen] = {}

    @property
    def protected(self) -> tuple[Path, ...]:
        """What no tool may write."""
        return self._protected

    def shown(self, path: Path) -> str:
        """The path as the model writes it: relative to the project with forward slashes where it is inside."""
        inside = path.relative_to(self.root) if path.is_relative_to(self.root) else path
        return one_line(inside.as_posix())

    def to_read(self, text: str) -> Path:
        """The file or folder that `text` names. Raises ToolFault when it may not be read or is not there."""
        path = self._resolve(text)
        if not self.may_read(path):
            raise ToolFault(
                f"{_quoted(text)} is outside the project; files are read and written inside it only. "
                "Use a path relative to the project, or ask the engineer to copy the file into it."
            )
        if not path.exists():
            raise ToolFault(f"There is no {self.shown(path)}.{self._neighbours(path)}")
        mode = path.stat().st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            raise ToolFault(f"{self.shown(path)} is a device, pipe or socket, not a file.")
        return path

    def may_read(self, path: Path) -> bool:
        return any(path.is_relative_to(folder) for folder in (self.root, *self._readable))

    def to_write(self, text: str) -> Path:
        """The file that `text` names, links followed. Raises ToolFault where nothing may be written."""
        path = self._resolve(text)
        if not path.is_relative_to(self.root) or path == self.root:
            raise ToolFault(f"{_quoted(text)} is outside the project; files are written inside it only.")
        if reason := self._refusal(path):
            raise ToolFault(f"{self.shown(path)} is not written by any tool: {reason}.")
        if above := next((p for p in path.parents if p.exists() and not p.is_dir()), None):
            raise ToolFault(f"{self.shown(path)} cannot be made: {self.shown(above)} is a file, not a folder.")
        if path.exists() and not path.is_file():
            raise ToolFault(f"{self.shown(path)} is a folder or a device, not a file.")
        if path.exists() and not os.access(path, os.W_OK):
            raise ToolFault(f"{self.shown(path)} is read-only. Ask the engineer before anything else.")
        return path

    def load(self, path: Path) -> bytes:
        """The bytes of a file. Raises ToolFault over 64 MiB, for a device or a pipe, and when it cannot be read."""
        try:
            about = path.stat()
            if not stat.S_ISREG(about.st_mode):
                raise ToolFault(f"{self.shown(path)} is no file, or no longer one.")
            if about.st_size > MAX_LOADED_BYTES:
                raise ToolFault(
                    f"{self.shown(path)} has {about.st_size:,} bytes; 64 MiB is the most that can be changed."
                )
            return path.read_bytes()
        except OSError as fault:
            raise ToolFault(f"{self.shown(path)} cannot be read: {fault.strerror or fault}.") from fault

    def saw(self, path: Path, data: bytes, lines: range | None = None, total_lines: int = 0) -> None:
        """Note which lines of a file the model has seen; None is all of it, as after writing it."""
        seen = self._seen.get(path)
        digest = hashlib.sha256(data).digest()
        if seen is None or seen.digest != digest:
            seen = self._seen[path] = _Seen(digest, _stamp(path))
        seen.stamp = _stamp(path)
        seen.lines.update(lines or ())
        seen.is_whole = seen.is_whole or lines is None or len(seen.lines) >= total_lines

    def staleness(self, path: Path, data: bytes) -> str:
        """Why the model does not know the file's present bytes, empty when it does."""
        if path not in self._seen:
            return "it was not read since the session was begun or resumed"
        if self._seen[path].digest != hashlib.sha256(data).digest():
            return f"{self.CHANGED} since it was read"
        return "" if self._seen[path].is_whole else "only a part of it was read"

    def changed(self) -> list[Path]:
        """Files that are otherwise on disk than the model last saw or was last told; each change is given once."""
        found: list[Path] = []
        for path, seen in self._seen.items():
            now = _stamp(path)
            if now == seen.stamp:
                continue
            seen.stamp = now
            if now == _GONE or not self._is_same(path, seen.digest):
                found.append(path)
        return sorted(found)

    def _is_same(self, path: Path, digest: bytes) -> bool:
        try:
            return hashlib.sha256(self.load(path)).digest() == digest
        except ToolFault:
            return False

    def _resolve(self, text: str) -> Path:
        """The absolute path that `text` means, links followed. Raises ToolFault where it means none."""
        try:
            path = find(self.root, text).resolve()
            path.exists()
        except UnusablePath as fault:
            raise ToolFault(str(fault)) from fault
        except (OSError, RuntimeError, ValueError) as fault:
            reason = getattr(fault, "strerror", None) or one_line(str(fault)[:200])
            raise ToolFault(f"{_quoted(text)} is not a usable path: {reason}.") from fault
        return path

    def _refusal(self, path: Path) -> str:
        parts = [part.casefold().rstrip(" .") for part in path.relative_to(self.root).parts]
        if any(part == ".git" or part.startswith(".git:") for part in parts):
            return "Git's own files are changed with Git, through bash"
        if os.name == "nt" and any(":" in part for part in parts):
            return "a colon names a hidden stream of a file"
        folded = _folded(path)
        if any(folded.is_relative_to(_folded(kept)) for kept in self._protected):
            return "Oasis' settings, rules, sessions, site and audit files belong to the engineer"
        return ""

    def _neighbours(self, path: Path) -> str:
        """What is there instead: names in the same folder that are close."""
        import difflib  # noqa: PLC0415

        folder = path.parent
        while not folder.is_dir():
            folder = folder.parent
        if not self.may_read(folder):
            return ""
        try:
            names = sorted(one_line(entry.name) for entry in folder.iterdir())[:2000]
        except OSError:
            return ""
        if twins := self._twins(path):
            return f" There is: {', '.join(twins)}."
        by_case = {name.casefold(): name for name in names}
        close = difflib.get_close_matches(path.name.casefold(), list(by_case), 3, 0.5)
        where = self.shown(folder)
        if close:
            return f" In {where} there is: {', '.join(by_case[name] for name in close)}."
        return f" Read {where} to see what is there, or search for the name."

    def _twins(self, path: Path) -> list[str]:
        """Files of the same name elsewhere in the project, as far as a short look finds them."""
        first = islice(walk.files(self.root, self.root), MAX_LOOKED)
        same = (file for file in first if file.name.casefold() == path.name.casefold())
        return [self.shown(file) for file in islice(same, 3)]


def _quoted(text: str) -> str:
    return one_line(text.strip()[:200])


def _folded(path: Path) -> Path:
    return Path(str(path).casefold())
