"""The text files that are part of Oasis: prompts, tool descriptions, bundled skills."""

from functools import cache
from importlib.resources import files
from pathlib import Path

from oasis.core.front_matter import tool_spec as parse_tool_spec
from oasis.core.tool import ToolSpec


@cache
def text(path: str) -> str:
    """The file at `path` inside the package (`agent/prompts/system.md`), without white space at its ends."""
    return files("oasis").joinpath(path).read_text(encoding="utf-8").replace("\r\n", "\n").strip()


@cache
def tool_spec(name: str) -> ToolSpec:
    """The specification of the built-in tool `name`, from oasis/tools/NAME.md."""
    return parse_tool_spec(name, text(f"tools/{name}.md"))


@cache
def shipped(name: str) -> Path:
    """A file or folder of the repository that is part of an installation (`skills`, `fixtures/jobs/depth.jsonl`).

    It is inside the package when installed, beside it in a working copy.
    """
    package = Path(str(files("oasis")))
    inside = package / name
    return inside if inside.exists() else package.parent / name


def skills_folder() -> Path:
    """Where the bundled skills are."""
    return shipped("skills")
