"""Keep what is sent to a model within its size."""

import re

MAX_CHARS = 16_000
# Controls but for tab and line feed, further line ends, what turns the direction of writing, halves of characters.
_UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def clip_line(line: str, limit: int, around: int = 0) -> str:
    """`line`, or `limit` characters of it around position `around` with … where something is left out."""
    if len(line) <= limit:
        return line
    start = max(0, min(around - limit // 3, len(line) - limit))
    end = start + limit
    return ("…" if start else "") + line[start:end] + ("…" if end < len(line) else "")


def visible(text: str) -> str:
    """`text` with control characters spelled out, so that a terminal shows them and does not obey them."""
    return _UNSEEN.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def one_line(text: str) -> str:
    """`text` as `visible` spells it, with line breaks and tabs spelled out as well: a name in a list of names."""
    return visible(text).replace("\n", r"\n").replace("\t", r"\t")
