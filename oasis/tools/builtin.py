"""The six tools that every session has, in the order they stand in the head."""

from collections.abc import Callable

from oasis.core.tool import Tool
from oasis.tools import bash, edit, read, search, skill, write
from oasis.tools.isolation import Isolation
from oasis.tools.skill import Skills
from oasis.tools.workspace import Workspace


def builtin(
    workspace: Workspace, skills: Skills, isolation: Callable[[], Isolation | None] = lambda: None
) -> tuple[Tool, ...]:
    """`skill` is last, since its description ends with the skills' lines."""
    files = tuple(module.tool(workspace) for module in (read, write, edit, search))
    return (*files, bash.tool(workspace, isolation=isolation), skill.tool(skills))
