"""A pack: what Oasis learns for one kind of device, in a package of its own."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.resources.abc import Traversable

from oasis.core.tool import Tool


@dataclass(frozen=True, slots=True)
class Pack:
    """What an entry point of the group `oasis.packs` names.

    `tools` makes the pack's tools and is called when the pack is chosen; `skills` is a folder of NAME/SKILL.md.
    """

    name: str
    tools: Callable[[], Sequence[Tool]]
    skills: Traversable
