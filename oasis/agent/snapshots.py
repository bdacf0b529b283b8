"""What files were before a turn changed them: one folder a turn, its journal and the files' old bytes.

    SESSION/000007/journal.jsonl     one JSON object a line; what was is on disk before it is changed
    SESSION/000007/0001              bytes of a file as they were

All of it is readable by its owner only. No Git is needed, and none is touched.
"""

import contextlib
import hashlib
import json
import os
import shutil
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_JOURNAL = "journal.jsonl"
MAX_KEPT_BYTES = 256 << 20
MAX_KEPT_TURNS = 2_000
MAX_FILE_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class State:
    """A file on disk: SHA-256 of its bytes and its permission bits. No digest: there is no such file."""

    digest: str = ""
    mode: int = 0

    @classmethod
    def of(cls, path: Path) -> "State":
        """The file's state now; of a large one its size and time of change. Raises OSError where it cannot be read."""
        try:
            about = path.stat()
        except (FileNotFoundError, NotADirectoryError):
            return cls()
        mode = stat.S_IMODE(about.st_mode)
        if not stat.S_ISREG(about.st_mode):
            return cls("no regular file", mode)
        if about.st_size > MAX_FILE_BYTES:
            return cls(f"{about.st_size} bytes, changed at {about.st_mtime_ns}", mode)
        with path.open("rb") as file:
            return cls(hashlib.file_digest(file, "sha256").hexdigest(), mode)


@dataclass(slots=True)
class Entry:
    """One file of a turn.

    after       as the turn left it; None while it is being changed
    copy        where the old bytes lie; None where there was no file
    folders     folders that the turn made for it, innermost first
    is_mixed    somebody else changed it too, in the middle of the turn
    """

    path: Path
    before: State
    copy: Path | None
    folders: tuple[Path, ...] = ()
    after: State | None = None
    is_mixed: bool = False


@dataclass(slots=True)
class Journal:
    """The journal of one turn, kept on disk as it grows.

    commands    what ran and may have changed more than was kept
    strays      files that changed or appeared while those ran, and of which no old bytes are kept
    is_partial  the project was too large to look for strays
    """

    folder: Path
    entries: dict[Path, Entry] = field(default_factory=dict[Path, Entry])
    commands: list[str] = field(default_factory=list[str])
    strays: list[str] = field(default_factory=list[str])
    is_partial: bool = False
    is_undone: bool = False

    @classmethod
    def read(cls, folder: Path) -> "Journal":
        """What a turn's folder holds; a line that was cut ends it."""
        journal = cls(folder)
        try:
            lines = (folder / _JOURNAL).read_bytes().splitlines()
        except OSError:
            return journal
        for line in lines:
            try:
                journal._take(json.loads(line))
            except (ValueError, KeyError, TypeError):
                break
        return journal

    def keep(self, path: Path, data: bytes | None, mode: int) -> None:
        """Keep a file as it is before its first change in this turn; `data` None: there is none. Raises OSError."""
        if path in self.entries:
            return
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        record: dict[str, Any] = {"kind": "before", "path": str(path)}
        if data is None:
            missing = [str(folder) for folder in path.parents if not folder.exists()]
            self._write({**record, "folders": missing})
            return
        name = f"{len(self.entries) + 1:04d}"
        _store(self.folder / name, data)
        digest = hashlib.sha256(data).hexdigest()
        self._write({**record, "copy": name, "digest": digest, "mode": mode})

    def left(self, path: Path, after: State) -> None:
        """Note how the turn left a file that was kept."""
        self._write({"kind": "after", "path": str(path), "digest": after.digest, "mode": after.mode})

    def mix(self, path: Path) -> None:
        """Note that a kept file was changed by somebody else within the turn."""
        if not self.entries[path].is_mixed:
            self._write({"kind": "mixed", "path": str(path)})

    def ran(self, command: str, strays: list[str], is_partial: bool) -> None:
        """Note what ran, and what changed meanwhile that was not kept."""
        self._write({"kind": "ran", "command": command, "strays": strays, "is_partial": is_partial})

    def close(self) -> None:
        """Note that the turn was undone."""
        self._write({"kind": "undone"})

    def _write(self, record: dict[str, Any]) -> None:
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle = os.open(self.folder / _JOURNAL, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(handle, "ab") as file:
            file.write(json.dumps(record).encode() + b"\n")
            file.flush()
            if record["kind"] == "before":
                os.fsync(file.fileno())
        self._take(record)

    def _take(self, record: dict[str, Any]) -> None:
        match record["kind"]:
            case "before":
                self._take_before(record)
            case "after":
                self.entries[Path(record["path"])].after = State(record["digest"], record["mode"])
            case "mixed":
                self.entries[Path(record["path"])].is_mixed = True
            case "ran":
                self.commands.append(record["command"])
                self.strays += [name for name in record["strays"] if name not in self.strays]
                self.is_partial |= record["is_partial"]
            case "undone":
                self.is_undone = True
            case _:
                pass

    def _take_before(self, record: dict[str, Any]) -> None:
        path = Path(record["path"])
        if "copy" in record:
            before = State(record["digest"], record["mode"])
            self.entries[path] = Entry(path, before, self.folder / record["copy"])
        else:
            self.entries[path] = Entry(path, State(), None, tuple(Path(name) for name in record["folders"]))


def _store(file: Path, data: bytes) -> None:
    handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0), 0o600)
    with os.fdopen(handle, "wb") as out:
        out.write(data)
        out.flush()
        os.fsync(out.fileno())


def turns(session: Path) -> list[Path]:
    """The folders of a session's turns, oldest first."""
    with contextlib.suppress(OSError):
        return sorted(folder for folder in session.iterdir() if folder.name.isdecimal())
    return []


def make_room(folder: Path, keep: Path) -> None:
    """Remove the oldest turns of all sessions in `folder` until 256 MiB and 2,000 turns are left; never `keep`."""
    kept: list[tuple[float, int, Path]] = []
    for turn in folder.glob("*/*"):
        with contextlib.suppress(OSError):
            sizes = [file.stat().st_size for file in turn.iterdir()]
            kept.append((turn.stat().st_mtime, sum(sizes), turn))
    total_bytes = 0
    for count, (_, size, turn) in enumerate(sorted(kept, reverse=True)):
        total_bytes += size
        if (total_bytes > MAX_KEPT_BYTES or count >= MAX_KEPT_TURNS) and turn != keep:
            shutil.rmtree(turn, ignore_errors=True)
            with contextlib.suppress(OSError):
                turn.parent.rmdir()
