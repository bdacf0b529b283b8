"""Which files later sessions read as instructions: what is written there outlives the session that wrote it."""

import contextlib
from dataclasses import replace
from pathlib import Path

from oasis.core.tool import Preview
from oasis.tools.skill import PROJECT_FOLDERS
from oasis.tools.workspace import Workspace

_NAMES = frozenset({"agents.md", "skill.md"})


def marked(workspace: Workspace, path: Path, preview: Preview) -> Preview:
    """`preview` as it is, or saying that `path` holds instructions and asking for a rule that names it."""
    if not is_instruction(workspace.root, path):
        return preview
    return replace(preview, title=f"{preview.title}: instructions for later sessions", guards=True)


def is_instruction(root: Path, path: Path) -> bool:
    """Whether `path`, in the project at `root` with links followed, is AGENTS.md, a skill's file or in .oasis."""
    parts = [part.casefold().rstrip(" .") for part in path.relative_to(root).parts]
    if parts[-1] in _NAMES or ".oasis" in parts or _is_within(parts):
        return True
    with contextlib.suppress(OSError):
        return path.samefile(root / "AGENTS.md")
    return False


def _is_within(parts: list[str]) -> bool:
    return any(parts[: len(folder)] == folder for folder in (name.split("/") for name in PROJECT_FOLDERS))
