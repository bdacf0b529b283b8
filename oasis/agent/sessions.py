"""The sessions on this machine: found, listed, removed."""

import contextlib
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from oasis.agent.folders import sessions_folder, undo_folder
from oasis.agent.kept import Kept
from oasis.core.items import User
from oasis.errors import SessionFault


def session_files() -> list[Path]:
    """Session files, the one that was used last first."""
    return sorted(sessions_folder().glob("*.jsonl"), key=_written, reverse=True)


def _written(path: Path) -> tuple[int, str]:
    """When its file was last written; among those of one moment, when the session began, by its name."""
    try:
        written_ns = path.stat().st_mtime_ns
    except OSError:
        written_ns = 0
    return written_ns, path.stem


def find_session(name: str, project: Path) -> Path:
    """The file of session `name`: an id, its beginning, or `last` for the one of this project that was used last.

    Raises SessionFault where there is none or several.
    """
    files = session_files()
    if not name.strip():
        raise SessionFault("No session was named. Give its id, or `last`; `oasis sessions` lists them.")
    if name == "last":
        for path in files:
            if about(path).get("project") == str(project):
                return path
        raise SessionFault(f"There is no session of {project} yet. `oasis sessions` lists those of other projects.")
    found = [path for path in files if path.stem.startswith(name)]
    if len(found) != 1:
        many = "no session begins" if not found else f"{len(found)} sessions begin"
        raise SessionFault(f"{many.capitalize()} with {name!r}. `oasis sessions` lists them.")
    return found[0]


def about(path: Path) -> dict[str, Any]:
    """A session file's first record, empty where it cannot be read."""
    try:
        with path.open("rb") as file:
            record = json.loads(file.readline())
    except (OSError, ValueError):
        return {}
    return cast(dict[str, Any], record) if isinstance(record, dict) else {}


def audited(audit: Path) -> list[tuple[int, str]]:
    """How far the sessions on this machine have seen `audit` come: (lines, digest of the chain after them)."""
    return [seen for path in session_files() for seen in _audited(path, audit)]


def _audited(path: Path, audit: Path) -> Iterator[tuple[int, str]]:
    with path.open("rb") as file:
        for line in file:
            if not line.startswith(b'{"kind":"audit"'):
                continue
            with contextlib.suppress(ValueError, KeyError):
                record = json.loads(line)
                if Path(record["path"]) == audit:
                    yield int(record["count"]), str(record["digest"])


def first_task(kept: Kept) -> str:
    """What the person asked first."""
    epochs = [*kept.earlier, kept.items]
    return next((item.text for items in epochs for item in items if isinstance(item, User)), "")


def remove(path: Path) -> None:
    """Remove a session's file, its lock and its snapshots."""
    path.unlink()
    shutil.rmtree(undo_folder() / path.stem, ignore_errors=True)
    path.with_suffix(".lock").unlink(missing_ok=True)
