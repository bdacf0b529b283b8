"""Texts from outside, made fit for a line."""

MOST = 120


def plain(text: object, most: int = MOST) -> str:
    """A server's text on one line: without control characters, bounded."""
    shown = str(text or "")
    if len(shown) <= most and shown.isprintable():
        return shown
    return "".join(c if c.isprintable() else "\ufffd" for c in shown[:most])
