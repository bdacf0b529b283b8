"""How a tool's output ends: with a line in [ ], so that a model knows where data from outside is over."""

import re

from oasis.core.items import Status

_CLOSINGS = {
    Status.OK: "[end]",
    Status.ERROR: "[error]",
    Status.DENIED: "[not run]",
    Status.CANCELLED: "[cancelled]",
    Status.UNKNOWN: "[unknown]",
}
_HALF = re.compile(r"[\ud800-\udfff]")


def closed(text: str, status: Status) -> str:
    """`text` with a closing line, its own where it has one; halves of characters become U+FFFD."""
    text = whole(text.rstrip("\n"))
    last = text.rpartition("\n")[2]
    if last.startswith("[") and last.endswith("]"):
        return text
    return f"{text}\n{_CLOSINGS[status]}" if text else _CLOSINGS[status]


def whole(text: str) -> str:
    """`text` with halves of characters (lone surrogates) as U+FFFD, so that it can be written as UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return _HALF.sub("\ufffd", text)
    return text
