"""Text from a server, made plain: nothing unseen, nothing long."""

import re
import unicodedata

from oasis.core.fold import plain as without_envelopes

_PLAIN = re.compile(r"[\x20-\x7e\n\t]*")
_ESCAPE = re.compile(r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\|$)")
"""Codes for colours, the cursor and the window's title (ECMA-48), whole."""


def plain(text: str, limit: int) -> str:
    """`text` on one line without what cannot be seen (controls, colours, marks of direction, tags), cut at `limit`.

    What looks like Oasis' own envelopes does not any more.
    """
    visible = seen(_ESCAPE.sub("", text[: 4 * limit + 64]))
    return cut(without_envelopes(" ".join(visible.split())), limit)


def seen(text: str) -> str:
    """`text` without characters of the Unicode categories C*: controls, formats, private use, halves, unassigned."""
    if _PLAIN.fullmatch(text):
        return text
    return "".join(c for c in text if c in "\n\t" or unicodedata.category(c)[0] != "C")


def cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1].rstrip()}…"
