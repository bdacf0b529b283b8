"""Saved states: each a file beside a row, whole or not at all.

A row in the state `writing` stands before the file it names, so that a file without a row belongs to nobody and a row
whose owner died names a half-written file; both are purged when a store is opened. A row becomes `ready` last.
Places: "" is this store's own folder; any other is a server whose slot folder is not seen, where files can only be
named.
"""

import hashlib
import json
import shutil
import sqlite3
import time
import uuid
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from platformdirs import user_state_path

from oasis.errors import KvFault
from oasis.kv.chain import Segment, Source, keys_at
from oasis.kv.database import Database
from oasis.kv.fingerprint import Fingerprint
from oasis.kv.owner import Owner, this_process
from oasis.kv.worth import Artifact, Kind, to_drop

DEFAULT_BUDGET_BYTES = 20 << 30
_SUFFIX, _PART = ".kv", ".part"
_SPARE_BYTES = 64 << 20


def kv_folder() -> Path:
    """Where saved states lie: as private as sessions."""
    return user_state_path("oasis") / "kv"


class Store:
    """The saved states of one user on this machine; several processes may have it open."""

    def __init__(
        self,
        folder: Path | None = None,
        *,
        budget_bytes: int = DEFAULT_BUDGET_BYTES,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Open it, made anew where there is none, and reconcile files and rows. Raises KvFault."""
        self.folder = folder or kv_folder()
        self.slots = self.folder / "slots"
        self.budget_bytes = budget_bytes
        self._clock = clock
        try:
            for made in (self.folder, self.slots):
                made.mkdir(parents=True, exist_ok=True, mode=0o700)
                made.chmod(0o700)
        except OSError as error:
            raise KvFault(f"The folder {self.folder} for saved states cannot be made: {error.strerror}.") from error
        self.database = Database(self.folder / "kv.sqlite3")
        self.purged = self._reconcile()

    def close(self) -> None:
        self.database.close()

    @property
    def identity(self) -> str:
        """Eight letters that tell this store from another user's or machine's on a shared server."""
        return hashlib.sha256(f"{uuid.getnode()} {self.folder.resolve()}".encode()).hexdigest()[:8]

    def begin(self, kind: Kind, fingerprint: Fingerprint, *, place: str = "", name: str = "") -> str:
        """The id of a state that is about to be written. Give it to `finish` or to `abandon`."""
        artifact, now, owner = name or uuid.uuid4().hex, self._clock(), this_process()
        self.database.change(
            "INSERT OR IGNORE INTO fingerprint VALUES (?, ?)", fingerprint.digest, json.dumps(fingerprint.parts)
        )
        self.database.change(
            "REPLACE INTO artifact (id, state, place, fingerprint, kind, created, last_use, pid, pid_created) "
            "VALUES (?, 'writing', ?, ?, ?, ?, ?, ?, ?)",
            *(artifact, place, fingerprint.digest, kind, now, now, owner.pid, owner.created),
        )
        return artifact

    def part(self, artifact: str) -> Path:
        """Where the engine writes a state that is begun."""
        return self.slots / (artifact + _PART)

    def finish(
        self,
        artifact: str,
        ids: Sequence[int],
        segments: Sequence[Segment],
        *,
        size: int,
        digest: str,
        prefill_ms: float,
    ) -> None:
        """Make a written state one that can be found. Sources of the states it extends are taken over.

        The file, where it is in this store, is put under its final name first.
        """
        row = self.database.rows("SELECT * FROM artifact WHERE id = ?", artifact)
        if not row:
            raise KvFault(
                "The state being saved was purged by another process. It is saved again at the next boundary."
            )
        if not row[0]["place"]:
            part = self.part(artifact)
            part.chmod(0o600)
            part.replace(self.slots / (artifact + _SUFFIX))
        with self.database.whole():
            sources = {(s.end, s.source) for s in segments if s.source} | self._inherited(row[0]["fingerprint"], ids)
            self.database.change(
                "UPDATE artifact SET state = 'ready', key = ?, tokens = ?, bytes = ?, digest = ?, prefill_ms = ?, "
                "last_use = ? WHERE id = ?",
                *(keys_at(ids, [len(ids)])[len(ids)], len(ids), size, digest, prefill_ms, self._clock(), artifact),
            )
            for end, source in sources:
                self.database.change(
                    "REPLACE INTO segment VALUES (?, ?, ?, ?)", artifact, end, source.path, source.sha256
                )

    def abandon(self, artifact: str) -> None:
        """Forget a state that was begun, with what was written of it."""
        self._forget([artifact])

    def find(self, fingerprint: Fingerprint, ids: Sequence[int], *, place: str = "") -> list[Artifact]:
        """The states that `ids` strictly extends, longest first; never a stale one."""
        rows = self.database.rows(
            "SELECT * FROM artifact WHERE state = 'ready' AND NOT stale AND fingerprint = ? AND place = ? "
            "AND tokens < ? ORDER BY tokens DESC, last_use DESC",
            *(fingerprint.digest, place, len(ids)),
        )
        keys = keys_at(ids, {row["tokens"] for row in rows})
        return [_artifact(row) for row in rows if keys.get(row["tokens"]) == row["key"]]

    def exact(self, fingerprint: Fingerprint, ids: Sequence[int], *, place: str = "") -> Artifact | None:
        """The state of exactly these ids."""
        return next((a for a in self.find(fingerprint, [*ids, 0], place=place) if a.tokens == len(ids)), None)

    def path(self, artifact: Artifact) -> Path:
        """The file of a state in this store."""
        return self.slots / artifact.file_name

    def used(self, artifact: Artifact) -> None:
        """Note that a state was restored."""
        self.database.change(
            "UPDATE artifact SET last_use = ?, uses = uses + 1 WHERE id = ?", self._clock(), artifact.id
        )

    def all(self) -> list[Artifact]:
        """Every state that can be found or is stale, the most recently used first."""
        rows = self.database.rows("SELECT * FROM artifact WHERE state = 'ready' ORDER BY last_use DESC, id")
        return [_artifact(row) for row in rows]

    def get(self, beginning: str) -> Artifact:
        """The state whose id begins so. Raises KvFault where none or several do."""
        found = [a for a in self.all() if a.id.startswith(beginning)]
        if len(found) != 1:
            said = "No saved state has" if not found else f"{len(found)} saved states have"
            raise KvFault(f"{said} an id that begins with {beginning}. `oasis kv ls` lists them.")
        return found[0]

    def segments(self, artifact: Artifact) -> list[Segment]:
        """Where text of files stands in a state."""
        rows = self.database.rows('SELECT * FROM segment WHERE artifact = ? ORDER BY "end", path', artifact.id)
        return [Segment(row["end"], Source(row["path"], row["sha256"])) for row in rows]

    def pin(self, artifact: Artifact, is_pinned: bool) -> None:
        self.database.change("UPDATE artifact SET pinned = ? WHERE id = ?", int(is_pinned), artifact.id)

    def remove(self, artifact: Artifact) -> None:
        """Remove a state, file and row."""
        self._forget([artifact.id])

    def make_room(self, needed_bytes: int = 0) -> list[Artifact]:
        """Drop what is stale, out of time or worth least, so that `needed_bytes` more fit the budget; what went."""
        own = [a for a in self.all() if not a.place]
        dropped = to_drop(own, max(0, self.budget_bytes - needed_bytes), self._clock())
        self._forget([a.id for a in dropped])
        return dropped

    def has_room(self, needed_bytes: int) -> bool:
        """Does a state of that size fit the budget and the disk, with some to spare?"""
        return needed_bytes <= self.budget_bytes and shutil.disk_usage(self.slots).free > needed_bytes + _spare(
            needed_bytes
        )

    def superseded(self, artifact: str, ids: Sequence[int]) -> None:
        """Drop the session states that a newer one, of `ids`, extends, and earlier ones of the same ids."""
        row = self.database.rows("SELECT fingerprint, place FROM artifact WHERE id = ?", artifact)[0]
        rows = self.database.rows(
            "SELECT id, tokens, key, kind FROM artifact WHERE state = 'ready' AND fingerprint = ? AND place = ? "
            "AND id <> ? AND NOT pinned AND tokens <= ?",
            *(row["fingerprint"], row["place"], artifact, len(ids)),
        )
        keys = keys_at(ids, {r["tokens"] for r in rows if r["kind"] == Kind.SESSION})
        self._forget([r["id"] for r in rows if r["kind"] == Kind.SESSION and keys.get(r["tokens"]) == r["key"]])

    def sources(self) -> set[Source]:
        """The files whose text is in some state that is not stale."""
        rows = self.database.rows(
            "SELECT DISTINCT path, sha256 FROM segment JOIN artifact ON artifact.id = artifact WHERE NOT stale"
        )
        return {Source(row["path"], row["sha256"]) for row in rows}

    def mark_changed(self, path: str, sha256: str) -> int:
        """Mark stale exactly the states that hold another text of the file; `sha256` "" where it is gone. How many."""
        return self.database.change(
            "UPDATE artifact SET stale = 1 WHERE state = 'ready' AND NOT stale AND id IN "
            "(SELECT artifact FROM segment WHERE path = ? AND sha256 <> ?)",
            *(path, sha256),
        )

    def count(self, name: str, by: float = 1) -> None:
        """Add to a figure that `stats` shows."""
        self.database.change(
            "INSERT INTO tally VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = value + excluded.value", name, by
        )

    def tallies(self) -> dict[str, float]:
        return {row["name"]: row["value"] for row in self.database.rows("SELECT * FROM tally ORDER BY name")}

    def fingerprint_parts(self, digest: str) -> dict[str, object]:
        """What a fingerprint stands for."""
        rows = self.database.rows("SELECT parts FROM fingerprint WHERE digest = ?", digest)
        return json.loads(rows[0]["parts"]) if rows else {}

    def _inherited(self, fingerprint: str, ids: Sequence[int]) -> set[tuple[int, Source]]:
        """Where text of files stands in the states these ids extend.

        Not from a stale one: a conversation that lived through the change holds it as well, and goes on.
        """
        rows = self.database.rows(
            'SELECT tokens, key, "end", path, sha256 FROM segment JOIN artifact ON artifact.id = artifact '
            "WHERE fingerprint = ? AND state = 'ready' AND NOT stale AND tokens <= ?",
            *(fingerprint, len(ids)),
        )
        keys = keys_at(ids, {row["tokens"] for row in rows})
        return {
            (row["end"], Source(row["path"], row["sha256"])) for row in rows if keys.get(row["tokens"]) == row["key"]
        }

    def _forget(self, artifacts: Iterable[str]) -> None:
        """Remove files, then rows: a full disk has no room for the index to change before the file is gone."""
        for artifact in artifacts:
            for suffix in (_SUFFIX, _PART):
                with suppress(OSError):  # the engine holds it open (Windows): without a row it goes at the next start
                    (self.slots / (artifact + suffix)).unlink(missing_ok=True)
            self.database.change("DELETE FROM artifact WHERE id = ?", artifact)

    def _reconcile(self) -> int:
        """Purge rows without a whole file, files without a row, what a dead process had begun. How many."""
        rows = self.database.rows("SELECT * FROM artifact WHERE place = ''")
        bad = [row["id"] for row in rows if not self._is_whole(row)]
        self._forget(bad)
        return len(bad) + self._purge_unlisted()

    def _purge_unlisted(self) -> int:
        files = [file for file in self.slots.iterdir() if file.suffix in (_SUFFIX, _PART)]
        listed = {row["id"] for row in self.database.rows("SELECT id FROM artifact")}
        unlisted = [file for file in files if file.stem not in listed]
        for file in unlisted:
            with suppress(OSError):  # still held open by an engine (Windows): it goes at the next start
                file.unlink(missing_ok=True)
        return len(unlisted)

    def _is_whole(self, row: sqlite3.Row) -> bool:
        if row["state"] == "writing":
            return Owner(row["pid"], row["pid_created"]).is_alive
        file = self.slots / (row["id"] + _SUFFIX)
        return file.is_file() and file.stat().st_size == row["bytes"]


def _spare(needed_bytes: int) -> int:
    return min(_SPARE_BYTES, needed_bytes // 4 + (1 << 20))


def _artifact(row: sqlite3.Row) -> Artifact:
    return Artifact(
        id=row["id"],
        place=row["place"],
        fingerprint=row["fingerprint"],
        key=row["key"],
        kind=Kind(row["kind"]),
        tokens=row["tokens"],
        bytes=row["bytes"],
        digest=row["digest"],
        prefill_ms=row["prefill_ms"],
        created=row["created"],
        last_use=row["last_use"],
        uses=row["uses"],
        is_pinned=bool(row["pinned"]),
        is_stale=bool(row["stale"]),
    )
