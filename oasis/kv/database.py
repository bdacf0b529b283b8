"""The SQLite file that says what is kept: artifacts, their segments, slots and who holds them, hashes of model files.

Several processes use it at once: it is in WAL mode, and what must be seen whole is one transaction.
"""

import os
import sqlite3
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from oasis.errors import KvFault

VERSION = 1
_BUSY_S = 20.0
_TABLES = """
CREATE TABLE IF NOT EXISTS artifact (
    id TEXT PRIMARY KEY, state TEXT NOT NULL, place TEXT NOT NULL, fingerprint TEXT NOT NULL,
    key TEXT NOT NULL DEFAULT '', kind TEXT NOT NULL, tokens INTEGER NOT NULL DEFAULT 0,
    bytes INTEGER NOT NULL DEFAULT 0, digest TEXT NOT NULL DEFAULT '',
    prefill_ms REAL NOT NULL DEFAULT 0, created REAL NOT NULL, last_use REAL NOT NULL, uses INTEGER NOT NULL DEFAULT 0,
    pinned INTEGER NOT NULL DEFAULT 0, stale INTEGER NOT NULL DEFAULT 0,
    pid INTEGER NOT NULL, pid_created REAL NOT NULL);
CREATE INDEX IF NOT EXISTS artifact_key ON artifact (fingerprint, key);
CREATE TABLE IF NOT EXISTS segment (
    artifact TEXT NOT NULL REFERENCES artifact (id) ON DELETE CASCADE, "end" INTEGER NOT NULL,
    path TEXT NOT NULL, sha256 TEXT NOT NULL, PRIMARY KEY (artifact, "end", path));
CREATE INDEX IF NOT EXISTS segment_path ON segment (path);
CREATE TABLE IF NOT EXISTS slot (
    server TEXT NOT NULL, slot INTEGER NOT NULL, holder TEXT NOT NULL DEFAULT '', pid INTEGER NOT NULL DEFAULT 0,
    pid_created REAL NOT NULL DEFAULT 0, is_busy INTEGER NOT NULL DEFAULT 0, turn INTEGER NOT NULL DEFAULT 0,
    tokens INTEGER NOT NULL DEFAULT 0, key TEXT NOT NULL DEFAULT '', session BLOB NOT NULL DEFAULT x'',
    PRIMARY KEY (server, slot));
CREATE TABLE IF NOT EXISTS model_file (
    path TEXT PRIMARY KEY, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, inode INTEGER NOT NULL,
    sha256 TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS fingerprint (digest TEXT PRIMARY KEY, parts TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS tally (name TEXT PRIMARY KEY, value REAL NOT NULL);
"""


class Database:
    """One connection to the file; used from one thread."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._sql = _opened(path)
        except sqlite3.OperationalError as error:
            raise KvFault(
                f"The index of saved states {path} cannot be used: {error}. Nothing is saved or restored."
            ) from error
        except sqlite3.DatabaseError:
            _set_aside(path)
            self._sql = _opened(path)

    def rows(self, query: str, *values: object) -> list[sqlite3.Row]:
        """All rows of a query. Raises KvFault."""
        with self._explained():
            return self._sql.execute(query, values).fetchall()

    def change(self, query: str, *values: object) -> int:
        """Run one statement; the number of rows it changed. Raises KvFault."""
        with self._explained():
            return self._sql.execute(query, values).rowcount

    @contextmanager
    def whole(self) -> Generator[None]:
        """Everything within is done, or none of it; other processes wait. Raises KvFault."""
        with self._explained():
            self._sql.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._sql.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    self._sql.execute("ROLLBACK")
                raise

    def close(self) -> None:
        self._sql.close()

    @contextmanager
    def _explained(self) -> Generator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise KvFault(f"The index of saved states {self.path} failed: {error}. Is the disk full?") from error


def _opened(path: Path) -> sqlite3.Connection:
    if not path.exists():
        with suppress(FileExistsError):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    sql = sqlite3.connect(path, timeout=_BUSY_S, isolation_level=None)
    try:
        sql.row_factory = sqlite3.Row
        sql.execute("PRAGMA journal_mode = WAL")
        sql.execute("PRAGMA synchronous = NORMAL")
        sql.execute("PRAGMA foreign_keys = ON")
        version = sql.execute("PRAGMA user_version").fetchone()[0]
        if version not in (0, VERSION):
            raise KvFault(
                f"{path} was made by another version of Oasis. Remove {path.parent} to begin anew; "
                "only saved states are in it."
            )
        sql.executescript(_TABLES)
        sql.execute(f"PRAGMA user_version = {VERSION}")
    except BaseException:
        sql.close()
        raise
    return sql


def _set_aside(path: Path) -> None:
    """A damaged index is renamed: what it listed is no longer known and will be purged as files without a row."""
    path.replace(path.with_suffix(".damaged"))
    for end in ("-wal", "-shm"):
        path.with_name(path.name + end).unlink(missing_ok=True)
