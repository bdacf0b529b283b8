"""Keep what is sent to a model within its size."""

MAX_CHARS = 16_000


def clip_line(line: str, limit: int, around: int = 0) -> str:
    """`line`, or `limit` characters of it around position `around` with … where something is left out."""
    if len(line) <= limit:
        return line
    start = max(0, min(around - limit // 3, len(line) - limit))
    end = start + limit
    return ("…" if start else "") + line[start:end] + ("…" if end < len(line) else "")


def visible(text: str) -> str:
    """`text` with control characters spelled out, so that a terminal shows them and does not obey them."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in "\n\t" else c.encode("unicode_escape").decode() for c in text)
