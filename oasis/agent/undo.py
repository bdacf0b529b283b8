"""Undoing the files of a turn, from snapshots of Oasis' own.

The tools that change files are watched: before the first change of a turn a file is kept as it is. History is never
rewritten: what was undone is told to the model in a notice at the tail.
"""

import asyncio
import hashlib
import os
import stat
import time
from collections.abc import Awaitable, Callable, Collection, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path

from oasis.agent.snapshots import MAX_FILE_BYTES, Entry, Journal, State, make_room, turns
from oasis.agent.undone import Kept, Undone
from oasis.core.tool import Arguments, Outcome, Risk, Tool
from oasis.errors import ToolFault
from oasis.tools import atomic
from oasis.tools.clip import clip_line, one_line
from oasis.tools.walk import ALWAYS_LEFT_OUT, Ignored
from oasis.tools.workspace import Workspace

_CHANGING = ("write", "edit")
_MAX_FILES = 5_000
_MAX_STRAYS = 200
_MAX_HELD_BYTES = 32 << 20
_MAX_COMMAND_CHARS = 200
_CLOCK_NS = 10_000_000
"""By how much a file system's clock may be behind the system's."""

_Held = dict[Path, tuple[bytes | None, int]]
_Actuate = Callable[[str, str], Awaitable[Outcome]]
_Run = Callable[[Arguments], Awaitable[Outcome]]


class Undo:
    """Keeps what a session's tools change, turn by turn, and puts the last turn back."""

    def __init__(self, workspace: Workspace, folder: Path) -> None:
        """`folder` belongs to this session alone and need not be there; its siblings are other sessions'."""
        self._workspace = workspace
        self._folder = folder
        self._journal: Journal | None = None
        self._known: dict[Path, None] = {}

    def begin_turn(self) -> None:
        """What is changed from now on belongs to a new turn."""
        self._journal = None

    def watched(self, tools: Sequence[Tool]) -> tuple[Tool, ...]:
        """The same tools, watched: specifications, risks and previews are untouched."""
        return tuple(self._watched(tool) for tool in tools)

    def undo(self) -> Undone | None:
        """Put back the last turn that changed anything and is not undone; None where there is none.

        A file that is not as the turn left it is left alone.
        """
        journal = next(self._open_journals(), None)
        if journal is None:
            return None
        before = self._news()
        restored: list[str] = []
        removed: list[str] = []
        kept: list[Kept] = []
        for entry in journal.entries.values():
            if entry.after == entry.before and not entry.is_mixed:
                continue
            name = self._workspace.shown(entry.path)
            try:
                if why := self._restore(entry, name):
                    kept.append(Kept(name, why, entry.copy))
                else:
                    (restored if entry.copy else removed).append(name)
            except (OSError, ToolFault) as fault:
                kept.append(Kept(name, _reason(fault), entry.copy))
        journal.close()
        self._journal = None
        self._news()
        named = {*restored, *removed, *(one.name for one in kept)}
        return Undone(
            tuple(restored),
            tuple(removed),
            tuple(kept),
            tuple(journal.commands),
            tuple(journal.strays),
            journal.is_partial,
            tuple(name for name in before if name not in named),
        )

    def _open_journals(self) -> Iterator[Journal]:
        for folder in reversed(turns(self._folder)):
            journal = Journal.read(folder)
            if not journal.is_undone and (journal.entries or journal.commands):
                yield journal

    def _news(self) -> list[str]:
        return [self._workspace.shown(path) for path in self._workspace.changed()]

    def _restore(self, entry: Entry, name: str) -> str:
        """Put one file back; why not, empty when it was."""
        if entry.is_mixed:
            return "somebody else changed it too while the turn ran"
        now = State.of(entry.path)
        if now == entry.before:
            return ""
        if entry.after is None:
            return "Oasis was stopped while it was written, so it is not known who changed it"
        if now != entry.after:
            return "it was changed since" if now.digest else "it was removed since"
        if entry.copy is None:
            entry.path.unlink()
            for folder in entry.folders:
                with suppress(OSError):
                    folder.rmdir()
            return ""
        atomic.replace(entry.path, entry.copy.read_bytes(), name)
        entry.path.chmod(entry.before.mode)
        return ""

    def _watched(self, tool: Tool) -> Tool:
        if tool.risk is Risk.WRITE and tool.spec.name in _CHANGING:
            return replace(tool, run=self._changing(tool))
        if tool.spec.name == "read":
            return replace(tool, run=self._reading(tool))
        if tool.risk is Risk.ACTUATE and tool.actuate is not None:
            return replace(tool, actuate=self._actuating(tool, tool.actuate))
        return tool if tool.risk is Risk.READ else replace(tool, run=self._running(tool))

    def _changing(self, tool: Tool) -> _Run:
        async def run(arguments: Arguments) -> Outcome:
            path = self._workspace.to_write(arguments["path"])
            self._known[path] = None
            with self._kept(path):
                return await tool.run(arguments)

        return run

    def _reading(self, tool: Tool) -> _Run:
        async def run(arguments: Arguments) -> Outcome:
            outcome = await tool.run(arguments)
            with suppress(ToolFault, KeyError):
                path = self._workspace.to_read(arguments["path"])
                if path.is_file() and path.is_relative_to(self._workspace.root):
                    self._known[path] = None
            return outcome

        return run

    def _running(self, tool: Tool) -> _Run:
        async def run(arguments: Arguments) -> Outcome:
            said = clip_line(one_line(str(arguments.get("command", tool.spec.name)).strip()), _MAX_COMMAND_CHARS)
            held, began_ns = self._hold(), time.time_ns() - _CLOCK_NS
            try:
                outcome = await tool.run(arguments)
                changed = await asyncio.to_thread(self._changed_since, began_ns)
            except BaseException:
                self._note(said, held, self._changed_since(began_ns))
                raise
            self._note(said, held, changed)
            return outcome

        return run

    def _actuating(self, tool: Tool, actuate: _Actuate) -> _Actuate:
        async def run(token: str, by: str) -> Outcome:
            self._turn().ran(tool.spec.name, [], False)
            return await actuate(token, by)

        return run

    @contextmanager
    def _kept(self, path: Path) -> Generator[None]:
        """Keep `path` before what the block does to it, and note how that left it."""
        journal = self._turn()
        name = self._workspace.shown(path)
        try:
            if path in journal.entries:
                self._see_others(journal, path)
            elif path.exists() and path.stat().st_size > MAX_FILE_BYTES:
                raise ToolFault(f"{name} is larger than 64 MiB; it is not changed by a tool.")
            elif path.exists():
                journal.keep(path, path.read_bytes(), path.stat().st_mode & 0o7777)
            else:
                journal.keep(path, None, 0)
        except OSError as fault:
            raise ToolFault(
                f"{name} was not changed: what it was before could not be kept ({_reason(fault)}). Ask the engineer "
                f"to make room in {self._folder.parent}."
            ) from fault
        try:
            yield
        finally:
            with suppress(OSError):
                journal.left(path, State.of(path))

    def _see_others(self, journal: Journal, path: Path) -> None:
        entry = journal.entries[path]
        if entry.after is not None and State.of(path) != entry.after:
            journal.mix(path)

    def _turn(self) -> Journal:
        """The journal of this turn, a new one where nothing was changed in it yet."""
        if self._journal is None:
            last = turns(self._folder)[-1:]
            number = int(last[0].name) + 1 if last else 1
            self._journal = Journal(self._folder / f"{number:06d}")
            make_room(self._folder.parent, self._journal.folder)
        return self._journal

    def _hold(self) -> _Held:
        """The files that this session has read or written, as they are before a command runs; 32 MiB at most."""
        held: _Held = {}
        room = _MAX_HELD_BYTES
        for path in reversed(self._known):
            try:
                about = path.stat()
                if stat.S_ISREG(about.st_mode) and about.st_size <= min(room, MAX_FILE_BYTES):
                    held[path] = (path.read_bytes(), about.st_mode & 0o7777)
                    room -= about.st_size
            except FileNotFoundError:
                held[path] = (None, 0)
            except OSError:
                continue
        return held

    def _note(self, command: str, held: _Held, changed: list[Path] | None) -> None:
        """Keep what a command changed of the files held, and name what else it changed."""
        journal = self._turn()
        for path, (data, mode) in held.items():
            with suppress(OSError):
                was = State() if data is None else State(_digest(data), mode)
                now = State.of(path)
                entry = journal.entries.get(path)
                if entry is not None and entry.after != was:
                    journal.mix(path)
                if now == was:
                    continue
                journal.keep(path, data, mode)
                journal.left(path, now)
        with suppress(OSError):
            journal.ran(command, self._strays(changed or [], held.keys()), changed is None)

    def _strays(self, changed: Sequence[Path], held: Collection[Path]) -> list[str]:
        ignored = Ignored(self._workspace.root)
        found = (path for path in sorted(changed) if path not in held and not ignored(path, False))
        return [self._workspace.shown(path) for path in islice(found, _MAX_STRAYS)]

    def _changed_since(self, began_ns: int) -> list[Path] | None:
        """The project's files that were made or changed since; None where there are more than 5,000 to look at."""
        changed: list[Path] = []
        waiting, seen = [str(self._workspace.root)], 0
        while waiting:
            with suppress(OSError), os.scandir(waiting.pop()) as scan:
                for entry in scan:
                    if entry.is_dir(follow_symlinks=False):
                        if entry.name not in ALWAYS_LEFT_OUT:
                            waiting.append(entry.path)
                        continue
                    seen += 1
                    about = entry.stat(follow_symlinks=False)
                    if max(about.st_mtime_ns, about.st_ctime_ns) >= began_ns and stat.S_ISREG(about.st_mode):
                        changed.append(Path(entry.path))
            if seen > _MAX_FILES:
                return None
        return changed


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _reason(fault: OSError | ToolFault) -> str:
    return str(getattr(fault, "strerror", None) or fault)
