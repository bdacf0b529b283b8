"""Text from a server, made plain: nothing unseen, nothing long."""

import re
import unicodedata

_PLAIN = re.compile(r"[\x20-\x7e\n\t]*")


def plain(text: str, limit: int) -> str:
    """`text` on one line without what cannot be seen (controls, marks of direction, tags), cut at `limit`."""
    return cut(" ".join(seen(text[: 4 * limit + 64]).split()), limit)


def seen(text: str) -> str:
    """`text` without characters of the Unicode categories C*: controls, formats, private use, halves, unassigned."""
    if _PLAIN.fullmatch(text):
        return text
    return "".join(c for c in text if c in "\n\t" or unicodedata.category(c)[0] != "C")


def cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1].rstrip()}…"
