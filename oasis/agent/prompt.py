"""The head: system text and tools, assembled the same way everywhere."""

from collections.abc import Sequence

from oasis.core.prefix import Prefix
from oasis.core.tool import ToolSpec
from oasis.resources import text


def assemble(specs: Sequence[ToolSpec]) -> Prefix:
    """The prefix for these tools, in the order the registry gives them."""
    return Prefix(text("agent/prompts/system.md"), tuple(specs))
