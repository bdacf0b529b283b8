"""Tools of a resumed session's head that are not at hand now, and what brings them."""

from collections.abc import Collection

from oasis.core.prefix import Prefix
from oasis.errors import ConfigError
from oasis.packs import find_packs

_PLANT = "plant_"
_WRITE = "plant_write"


def missing(head: Prefix, here: Collection[str]) -> str:
    """Which tools of `head` are not among the tools `here`, in words; empty where none is missing."""
    lost = [spec.name for spec in head.tools if spec.name not in here]
    if not lost:
        return ""
    plant = [name for name in lost if name.startswith(_PLANT)]
    flags = [f"--pack {name}" for name in _packs(head)] if set(plant) - {_WRITE} else []
    flags += ["--site FILE"] if _WRITE in plant else []
    ways = [f"add {' '.join(flags)}"] if flags else []
    ways += ["have their MCP server run"] if len(plant) < len(lost) else []
    is_one = len(lost) == 1
    what, them = (f"{lost[0]} is", "it") if is_one else (f"{', '.join(lost[:-1])} and {lost[-1]} are", "them")
    return f"{what} in its head and not at hand, and calls of {them} fail. To have {them}, {' and '.join(ways)}."


def _packs(head: Prefix) -> list[str]:
    """Packs whose devices the head's plant tools speak of; `NAME` where none that is installed does."""
    told = "".join(spec.description for spec in head.tools if spec.name.startswith(_PLANT))
    try:
        packs = find_packs()
    except ConfigError:
        packs = {}
    named = [name for name, pack in packs.items() if any(f"{scheme}://" in told for scheme in pack.drivers)]
    return named or ["NAME"]
