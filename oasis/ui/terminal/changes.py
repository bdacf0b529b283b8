"""What a session's tools changed in files, from the snapshots that undoing uses."""

from pathlib import Path

from oasis.agent.folders import undo_folder
from oasis.agent.snapshots import Journal, turns
from oasis.tools.diff import unified
from oasis.tools.encoding import detect

_BINARY = "(not a text file)"


def changes(session_id: str, project: Path) -> list[tuple[str, str]]:
    """Name and unified diff of each file that is otherwise than before the session, by name.

    A turn that was undone does not count.
    """
    first: dict[Path, Path | None] = {}
    for folder in turns(undo_folder() / session_id):
        journal = Journal.read(folder)
        if journal.is_undone:
            continue
        for entry in journal.entries.values():
            first.setdefault(entry.path, entry.copy)
    found: list[tuple[str, str]] = []
    for path, copy in sorted(first.items()):
        name = path.relative_to(project).as_posix() if path.is_relative_to(project) else str(path)
        before, after = _text(copy), _text(path)
        if before != after:
            found.append((name, unified(name, before, after)))
    return found


def _text(path: Path | None) -> str:
    """The file's text with LF; empty where there is none."""
    if path is None or not path.exists():
        return ""
    data = path.read_bytes()
    form = detect(data)
    if form is None:
        return _BINARY
    return data[len(form.bom) :].decode(form.codec, "replace").replace("\r\n", "\n")
