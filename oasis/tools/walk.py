"""The files of a project in a fixed order, without what its .gitignore files leave out."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

ALWAYS_LEFT_OUT = frozenset({".git", ".hg", ".svn", "__pycache__", "node_modules"})


class Ignored:
    """What the .gitignore files from `root` down say; the deepest that has an opinion decides."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._specs: dict[Path, GitIgnoreSpec | None] = {}

    def __call__(self, path: Path, is_folder: bool) -> bool:
        if path.name in ALWAYS_LEFT_OUT:
            return True
        if not path.is_relative_to(self._root):
            return False
        for folder in path.parents:
            if not folder.is_relative_to(self._root):
                break
            if (spec := self._spec(folder)) is None:
                continue
            inside = path.relative_to(folder).as_posix() + ("/" if is_folder else "")
            if (answer := spec.check_file(inside).include) is not None:
                return answer
        return False

    def _spec(self, folder: Path) -> "GitIgnoreSpec | None":
        if folder not in self._specs:
            try:
                self._specs[folder] = _parsed(folder / ".gitignore")
            except (OSError, ValueError):
                self._specs[folder] = None
        return self._specs[folder]


def _parsed(file: Path) -> "GitIgnoreSpec | None":
    if not file.is_file():
        return None
    from pathspec import GitIgnoreSpec  # noqa: PLC0415

    return GitIgnoreSpec.from_lines(file.read_text(encoding="utf-8", errors="replace").splitlines())


def entries(root: Path, folder: Path, ignored: Ignored | None = None) -> list[os.DirEntry[str]]:
    """What is in one folder, by name, without what is ignored."""
    ignored = ignored or Ignored(root)
    with os.scandir(folder) as scan:
        found = [e for e in scan if not ignored(Path(e.path), _is_folder(e))]
    return sorted(found, key=lambda e: e.name)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    """Whether the entry itself, not what it links to, is a folder; False for one that cannot be looked at."""
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False


def _is_file(entry: os.DirEntry[str]) -> bool:
    """Whether the entry itself is a regular file: no link, pipe or device."""
    try:
        return entry.is_file(follow_symlinks=False)
    except OSError:
        return False


def files(root: Path, folder: Path) -> Iterator[Path]:
    """All regular files under `folder`, depth first, by name. Links are not followed."""
    ignored = Ignored(root)
    waiting = [folder]
    while waiting:
        try:
            found = entries(root, waiting.pop(), ignored)
        except OSError:
            continue
        yield from (Path(e.path) for e in found if _is_file(e))
        waiting.extend(Path(e.path) for e in reversed(found) if _is_folder(e))
