"""An audit file's lines, read and checked: each must follow from the one before, and none may be missing."""

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple, cast

from oasis.core import chain
from oasis.core.chain import Record


class Mark(NamedTuple):
    """How far an audit had come: so many lines, the last of them with this digest."""

    lines: int
    digest: str


class Trail:
    """The lines read so far. `size` is their length in bytes, `cut` what stands after the last line feed."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.faults: list[str] = []
        self.size = 0
        self.cut = b""
        self.damaged = ""
        """SHA-256 of a last line that is no record, until the line that mends it has been read."""
        self._digests: list[str] = []
        self._lines = 0
        self._expected = 1

    @property
    def mark(self) -> Mark:
        return Mark(len(self._digests), self._digests[-1] if self._digests else chain.start())

    def feed(self, data: bytes) -> None:
        """Read on: the bytes after the first `size`."""
        *lines, self.cut = data.split(b"\n")
        for line in lines:
            self._lines += 1
            self.size += len(line) + 1
            record, digest, is_linked = next(chain.read([line], self.mark.digest))
            if record is None:
                self._damaged_twice()
                self.damaged = hashlib.sha256(line).hexdigest()
            else:
                self._take(record, digest, is_linked)

    def unlike(self, mark: Mark, who: str) -> list[str]:
        """What is missing or rewritten, when `who` once saw the audit at `mark`; empty where nothing is."""
        count, digest = mark
        if count > len(self._digests):
            missing = count - len(self._digests)
            return [f"the last {missing} line{'s are' if missing > 1 else ' is'} missing: {who} saw {count} lines"]
        if count and self._digests[count - 1] != digest:
            return [f"record {count} is not the one that {who} saw: the file was rewritten"]
        return []

    def _take(self, record: Record, digest: str, is_linked: bool) -> None:
        if self.damaged and (record.get("kind") != "mended" or record.get("cut_sha256") != self.damaged):
            self._damaged_twice()
        self.damaged = ""
        number = record.get("n")
        if not is_linked or number != self._expected:
            self.faults.append(f"line {self._lines} {_why(number, self._expected)}")
        self._expected = (number if isinstance(number, int) else self._expected) + 1
        self.records.append(record)
        self._digests.append(digest)

    def _damaged_twice(self) -> None:
        if self.damaged:
            self.faults.append(f"line {self._lines - 1} is no record: it was edited, or is not of this audit")


def _why(number: object, expected: int) -> str:
    """Why a line does not follow from the one before, by the number it bears."""
    if not isinstance(number, int) or number == expected:
        return "was edited, or the line before it"
    if number > expected:
        gone = number - expected
        return f"does not follow from the one before: {gone} record{'s' if gone > 1 else ''} before it deleted"
    return (
        f"does not follow from the one before: it is record {number} where {expected} was to come; lines were inserted"
    )


def side(path: Path) -> Path:
    """The file beside an audit that holds its last mark."""
    return path.with_suffix(".last")


def kept_mark(path: Path) -> Mark | None:
    """The mark beside an audit, None where there is none that can be read."""
    try:
        kept = cast(object, json.loads(side(path).read_bytes()))
    except (OSError, ValueError, RecursionError):
        return None
    match kept:
        case {"lines": int(count), "digest": str(digest)}:
            return Mark(count, digest)
        case _:
            return None


def side_faults(path: Path, trail: Trail) -> list[str]:
    """What the mark beside the audit shows to be missing. It is written after its line, so it may be one behind."""
    kept = kept_mark(path)
    if kept is None:
        return [f"{side(path).name}, which counts its lines, is missing or damaged"] if trail.mark.lines > 1 else []
    return trail.unlike(kept, f"its own count ({side(path).name})")


def faults_of(path: Path, data: bytes, known: Iterable[tuple[int, str]]) -> list[str]:
    """Everything that shows that the audit is not as it was written. `known`: marks that sessions kept."""
    trail = Trail()
    trail.feed(data)
    found = [*trail.faults, *side_faults(path, trail)]
    for count, digest in known:
        found += trail.unlike(Mark(count, digest), "a session")
    if trail.cut or trail.damaged:
        found.append("the last line is cut off, as by a crash; the next session that writes says so in the audit")
    return list(dict.fromkeys(found))
