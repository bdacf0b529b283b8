"""The audit: every plan, approval, write, read-back and outcome, one hash-chained JSON line each (docs/audit.md).

Each line is on disk (fsync) before anything that follows from it is done. Several sessions, in several processes, may
write to the audit of one site. Beside it lies a small file with the count and digest of its last line, so that a
missing end is found too.
"""

import hashlib
import json
import os
import re
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psutil

from oasis import atomic
from oasis.core import chain
from oasis.core.chain import Record
from oasis.core.sound import sound
from oasis.errors import AuditFault
from oasis.plant.locks import Busy, held
from oasis.plant.site import Site
from oasis.plant.trail import Mark, Trail, faults_of, side, side_faults

VERSION = 1
_WAIT_S = 10.0
_CLOCK_NOISE_S = 2.0
"""A process' start time may be told a little otherwise after the clock was set."""


def audit_path(folder: Path, site: Site) -> Path:
    """The audit file of a site: one for each site file, by its place, whatever the plant is called in it by now."""
    place = hashlib.sha256(os.fsencode(site.path.resolve())).hexdigest()[:8]
    for begun in sorted([*folder.glob(f"*-{place}.jsonl"), *folder.glob(f"*-{place}.last")]):
        return begun.with_suffix(".jsonl")
    name = re.sub(r"[^A-Za-z0-9_-]+", "-", site.name).strip("-")[:40] or "site"
    return folder / f"{name}-{place}.jsonl"


class Audit:
    """An audit file that is written to. Raises AuditFault where it cannot be written, or does not hold together.

    `session` names who writes; `about` are further fields of the session's first line; `now` gives the time in UTC.
    """

    def __init__(
        self,
        path: Path,
        session: str,
        about: Mapping[str, Any] | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.path = path
        self.session = session
        self._about = dict(about or {})
        self._now = now
        self._is_begun = False
        self._trail = Trail()
        with self._locked():
            self._catch_up()

    @property
    def mark(self) -> Mark:
        """How far the audit has come; what a session file keeps."""
        return self._trail.mark

    @property
    def now(self) -> datetime:
        return self._now().astimezone(UTC)

    def records(self) -> list[Record]:
        """Every line there is by now, other sessions' too."""
        with self._locked():
            self._catch_up()
        return self._trail.records

    def add(self, kind: str, **fields: Any) -> Mark:
        """Append a line; it is on disk when this returns. Fields are JSON; values of tags go through `packed`."""
        with self._locked():
            self._catch_up()
            if not self._is_begun:
                self._append("session", {"version": VERSION, **_process(), **self._about})
                self._is_begun = True
            self._append(kind, fields)
        return self.mark

    def close(self) -> None:
        """Write that the session ended as it should; nothing where it wrote nothing."""
        if self._is_begun:
            self.add("end")
            self._is_begun = False

    @contextmanager
    def _locked(self) -> Generator[None]:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with held(self.path.with_suffix(".lock"), _WAIT_S):
                yield
        except Busy as error:
            raise AuditFault(
                f"Another Oasis has held the audit {self.path} for more than {_WAIT_S:g} s, so nothing is written to "
                "the plant. Try again, or end that one."
            ) from error
        except OSError as error:
            raise AuditFault(
                f"The audit {self.path} cannot be written: {error.strerror}. Without it nothing is written to the "
                "plant. Make room, or make its folder writable."
            ) from error

    def _catch_up(self) -> None:
        """Read what was added since; mend a last line that was cut off, and say so in the audit."""
        if self.path.is_symlink():
            raise AuditFault(
                f"The audit {self.path} is a link, which is not followed; nothing is written. Remove the link."
            )
        self._read_on()
        trail = self._trail
        if faults := [*trail.faults, *side_faults(self.path, trail)]:
            listed = "\n".join(f"  {fault}" for fault in dict.fromkeys(faults))
            raise AuditFault(
                f"The audit {self.path} is not as it was written, so nothing is written to the plant:\n{listed}\n"
                f"Keep it for inspection: move it and {side(self.path).name} away, and a new one is begun."
            )
        if trail.cut or trail.damaged:
            self._mend()

    def _read_on(self) -> None:
        try:
            with self.path.open("rb") as file:
                size = file.seek(0, os.SEEK_END)
                file.seek(self._trail.size)
                data = file.read()
        except FileNotFoundError:
            size, data = 0, b""
        if size < self._trail.size:
            self._trail.faults.append("it is shorter than it was: lines are missing")
        else:
            self._trail.feed(data)

    def _mend(self) -> None:
        if self._trail.cut:
            self._write(b"\n")
            self._read_on()
        words = (
            "the line before was cut off by a crash" if self._trail.damaged else "the line before lacked its end only"
        )
        self._append("mended", {"words": words, "cut_sha256": self._trail.damaged})

    def _append(self, kind: str, fields: Mapping[str, Any]) -> None:
        at = self.now.isoformat(timespec="milliseconds")
        head = {"kind": kind, "n": self.mark.lines + 1, "at": at, "session": self.session}
        line, digest = chain.link(self.mark.digest, {**head, **_sound(dict(fields))})
        self._write(line)
        if not self.mark.lines:
            atomic.sync_folder(self.path.parent)
        self._trail.feed(line)
        kept = json.dumps({"lines": self.mark.lines, "digest": digest}).encode()
        atomic.replace(side(self.path), kept, mode=0o600)

    def _write(self, data: bytes) -> None:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
        with os.fdopen(os.open(self.path, flags, 0o600), "ab") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())


def verify(path: Path, known: Iterable[tuple[int, str]] = ()) -> list[str]:
    """What shows that an audit is not as it was written, in words; empty where nothing does.

    `known` are marks (count, digest) that sessions kept: they show a missing end, or a file written anew. Raises
    AuditFault where there is nothing to read.
    """
    return faults_of(path, _read(path), known)


def read_records(path: Path) -> list[Record]:
    """The lines of an audit that can be read, whether or not they hold together.

    Raises AuditFault without a file, and for one that is no audit.
    """
    trail = Trail()
    trail.feed(data := _read(path))
    if b"\n" in data and not trail.records:
        raise AuditFault(
            f"{path} is no audit: none of its lines is a record. If it was one, it was written over: keep it for "
            "inspection, and move it away."
        )
    return trail.records


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        if side(path).exists():
            return b""
        raise AuditFault(f"There is no audit {path}: nothing has been written to this plant from here.") from None
    except OSError as error:
        raise AuditFault(f"The audit {path} cannot be read: {error.strerror}.") from error


def _process() -> dict[str, Any]:
    """This process, such that it can be told whether it still runs."""
    return {"pid": os.getpid(), "started": psutil.Process().create_time()}


def is_running(record: Record) -> bool:
    """Does the process that wrote a session's first line still run?"""
    pid, started = record.get("pid"), record.get("started")
    if not isinstance(pid, int) or not isinstance(started, int | float) or not pid > 0:
        return False
    try:
        return abs(psutil.Process(pid).create_time() - started) < _CLOCK_NOISE_S
    except (psutil.Error, OverflowError):
        return False


def _sound(value: Any) -> Any:
    """JSON whose texts can be written as UTF-8."""
    if isinstance(value, str):
        return sound(value)
    if isinstance(value, Mapping):
        return {key: _sound(item) for key, item in value.items()}  # pyright: ignore[reportUnknownVariableType]
    return [_sound(item) for item in value] if isinstance(value, list | tuple) else value  # pyright: ignore[reportUnknownVariableType]
