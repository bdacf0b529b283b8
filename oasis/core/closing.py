"""How a tool's output ends: with a line in [ ], so that a model knows where data from outside is over."""

from oasis.core.items import Status
from oasis.core.sound import sound

_CLOSINGS = {
    Status.OK: "[end]",
    Status.ERROR: "[error]",
    Status.DENIED: "[not run]",
    Status.CANCELLED: "[cancelled]",
    Status.UNKNOWN: "[unknown]",
}


def closed(text: str, status: Status) -> str:
    """`text` with a closing line, its own where it has one; halves of characters become U+FFFD."""
    text = sound(text.rstrip("\n"))
    last = text.rpartition("\n")[2]
    if last.startswith("[") and last.endswith("]"):
        return text
    return f"{text}\n{_CLOSINGS[status]}" if text else _CLOSINGS[status]
