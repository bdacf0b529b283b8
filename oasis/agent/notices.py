"""The first notice: what belongs to the project and the day, said once after the head, what changes least first."""

from collections.abc import Sequence
from datetime import date
from pathlib import Path

from oasis.core.items import Notice
from oasis.tools.workspace import Workspace

_FILE_CAP = 16_000
_FILES_CAP = 48_000
_LONGEST = 1_000_000
_NAMED = 10


def first_notice(project: Path, today: date, skill_lines: Sequence[str], files: Sequence[str] = ()) -> Notice:
    """AGENTS.md files (outermost first), `files`, the project's skills, the directory, the date the session began.

    `files` are relative to the project. Each file is cut at 16,000 characters, all of them at 48,000.
    """
    parts: list[str] = []
    room = _FILES_CAP
    for path in [*agents_files(project), *(project / name for name in files)]:
        part = _bounded(path, project, min(_FILE_CAP, room))
        room = max(0, room - len(part))
        parts.append(part)
    if skill_lines:
        parts.append("\n".join(["Skills of this project (load one with the skill tool):", *skill_lines]))
    parts.append(f"Directory: {project}\nThe session began on {today.isoformat()}.")
    return Notice("\n\n".join(parts))


def agents_files(project: Path) -> list[Path]:
    """AGENTS.md from the repository's root (the nearest folder up that holds .git) down to the project.

    Outside a repository from the user's home down, where the project lies in it. One that is a link to a place outside
    the root is left out.
    """
    folders = [project, *project.parents]
    home = Path.home()
    is_root = [(folder / ".git").exists() for folder in folders]
    top = is_root.index(True) if True in is_root else folders.index(home) if home in folders else 0
    root = folders[top]
    found = [folder / "AGENTS.md" for folder in reversed(folders[: top + 1])]
    return [path for path in found if path.is_file() and path.resolve().is_relative_to(root.resolve())]


def _bounded(path: Path, project: Path, cap: int) -> str:
    name = path.relative_to(project).as_posix() if path.is_relative_to(project) else f"{path.parent.name}/{path.name}"
    try:
        with path.open(encoding="utf-8-sig", errors="replace") as file:
            text = file.read(_LONGEST).strip()
    except OSError as error:
        return f"{name} could not be read: {error.strerror}."
    if len(text) > cap:
        text = text[:cap] + f"\n[cut: {len(text) - cap:,} more characters; read the file for the rest]"
    return f"{name}:\n{text}"


def changes_notice(workspace: Workspace) -> list[Notice]:
    """What changed on disk since the model saw it, in one notice; nothing where nothing did."""
    names = [workspace.shown(path) for path in workspace.changed()]
    if not names:
        return []
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    listed = ", ".join(names[:_NAMED])
    return [Notice(f"Changed on disk since you last saw it: {listed}{more}. Read again before you rely on it.")]


def headless_notice(allow: Sequence[str]) -> Notice:
    """What a run without a person has to know: nobody answers, and what is allowed."""
    allowed = ", ".join(allow) or "nothing but reading"
    return Notice(
        "Nobody answers during this run: where you would ask, write the question down, take the safest reading and go "
        f"on. Allowed without asking: {allowed}."
    )
