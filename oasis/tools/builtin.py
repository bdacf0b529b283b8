"""The six tools that every session has, in the order they stand in the head."""

from oasis.core.tool import Tool
from oasis.tools import bash, edit, read, search, skill, write
from oasis.tools.skill import Skills
from oasis.tools.workspace import Workspace


def builtin(workspace: Workspace, skills: Skills) -> tuple[Tool, ...]:
    """`skill` is last, since its description ends with the skills' lines."""
    files = tuple(module.tool(workspace) for module in (read, write, edit, search, bash))
    return (*files, skill.tool(skills))
