"""`skill`: instructions for a kind of work, in the open Agent Skills form (a folder with a SKILL.md)."""

import contextlib
import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from oasis import resources
from oasis.core.front_matter import split
from oasis.core.tool import Arguments, Outcome, Preview, Risk, Tool
from oasis.errors import ToolFault
from oasis.tools.clip import MAX_CHARS, one_line, visible

PROJECT_FOLDERS = (".oasis/skills", "skills")
MAX_LINE_CHARS = 200
MAX_PROJECT_LINES = 40
MAX_FILES = 30
MAX_READ_CHARS = 1 << 20
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")


@dataclass(frozen=True, slots=True)
class Skill:
    """One SKILL.md. `line` is what stands where skills are listed."""

    name: str
    line: str
    folder: Path
    body: str


class Skills:
    """Skills that are bundled, that packs bring and that the project has; the first of a name wins, in this order."""

    def __init__(self, bundled: Path, packs: Sequence[Path] = (), project: Path | None = None) -> None:
        self._bundled_folder = bundled
        self._pack_folders = tuple(packs)
        self._project_folders = tuple(_inside(project, name) for name in PROJECT_FOLDERS) if project else ()

    def folders(self) -> tuple[Path, ...]:
        """Where skills outside of the project are, for reading the further files of one."""
        return tuple(folder for folder in (self._bundled_folder, *self._pack_folders) if folder.is_dir())

    def lines_bundled(self) -> list[str]:
        """One line for each bundled skill, by name."""
        return [skill.line for skill in _found(self._bundled_folder)]

    def lines_project(self) -> list[str]:
        """One line for each of the project's own skills, by name; bounded, for the first notice."""
        taken = {s.name for folder in (self._bundled_folder, *self._pack_folders) for s in _found(folder)}
        own = [s.line for s in self._all.values() if s.name not in taken]
        more = [f"and {len(own) - MAX_PROJECT_LINES} more"] if len(own) > MAX_PROJECT_LINES else []
        return [*own[:MAX_PROJECT_LINES], *more]

    def body(self, name: str) -> str:
        """A skill's instructions and where its further files are. Raises ToolFault for a name that is not there."""
        skill = self._all.get(name.strip())
        if skill is None:
            near = difflib.get_close_matches(name.strip().casefold()[:80], self._all, 1, 0.5)
            hint = f" Did you mean {near[0]}?" if near else ""
            names = ", ".join(sorted(self._all)) or "none"
            raise ToolFault(f"There is no skill {one_line(name[:80])!r}.{hint} Skills: {names}.")
        text = skill.body
        if len(text) > MAX_CHARS:
            file = (skill.folder / "SKILL.md").as_posix()
            text = f"{text[:MAX_CHARS]}\n[… {len(text) - MAX_CHARS:,} characters more: read {file}]"
        files = _further_files(skill.folder)
        listed = f"; files to read: {', '.join(files[:MAX_FILES])}" if files else ""
        return f"{text}\n[skill {skill.name}{listed}]"

    @cached_property
    def _all(self) -> dict[str, Skill]:
        folders = (self._bundled_folder, *self._pack_folders, *self._project_folders)
        skills = [skill for folder in folders for skill in _found(folder)]
        return dict(sorted({skill.name: skill for skill in reversed(skills)}.items()))


def _inside(project: Path, name: str) -> Path:
    """A folder of the project; one that a link leads out of it holds no skills."""
    folder = _resolved(project / name)
    return folder if folder and folder.is_relative_to(project.resolve()) else project / name / "outside the project"


def _resolved(path: Path) -> Path | None:
    """`path` with links followed, None where they go in a circle or cannot be followed."""
    try:
        return path.resolve()
    except (OSError, RuntimeError):
        return None


def _found(folder: Path) -> list[Skill]:
    """The skills in a folder by name; what is no valid skill, or is linked from elsewhere, is passed over."""
    try:
        files = sorted(folder.glob("*/SKILL.md")) if folder.is_dir() else []
    except OSError:
        return []
    inside = (file for file in files if (real := _resolved(file)) and real.is_relative_to(folder.resolve()))
    read = (_read(file) for file in inside)
    return [skill for skill in read if skill]


def _further_files(folder: Path) -> list[str]:
    """What else a skill has, by name, each on one line."""
    files: list[str] = []
    with contextlib.suppress(OSError):
        files.extend(one_line(p.as_posix()) for p in folder.rglob("*") if p.name != "SKILL.md" and p.is_file())
    return sorted(files)


def _read(file: Path) -> Skill | None:
    try:
        if not file.is_file():
            return None
        with file.open(encoding="utf-8", errors="replace") as text:
            front, body = split(text.read(MAX_READ_CHARS))
    except (OSError, ValueError):
        return None
    name, description = str(front.get("name", "")), " ".join(str(front.get("description", "")).split())
    if not _NAME.fullmatch(name) or not description:
        return None
    return Skill(name, visible(f"{name}: {description}"[:MAX_LINE_CHARS]), file.parent.resolve(), body)


def tool(skills: Skills) -> Tool:
    """The tool; its description ends with the bundled skills' lines."""
    spec = resources.tool_spec("skill")
    if lines := skills.lines_bundled():
        spec = replace(spec, description="\n".join([spec.description, *lines]))

    async def preview(arguments: Arguments) -> Preview:
        return Preview(f"Read skill {one_line(arguments['name'][:80])}", arguments["name"])

    async def run(arguments: Arguments) -> Outcome:
        return Outcome(skills.body(arguments["name"]))

    return Tool(spec, Risk.READ, preview, run)
