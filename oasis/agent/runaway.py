"""A message that repeats itself without end, as small models write until their context is full."""

_WINDOW = 6000
_PIECE = 80
_TIMES = 16
_EVERY = 400


class Runaway:
    """Watches a message as it comes. Calls do not pass here, so a long table for a file is no runaway."""

    def __init__(self) -> None:
        self._recent = ""
        self._unchecked = 0

    def is_seen_in(self, text: str) -> bool:
        """Take the next piece of the message; do its last 80 characters stand 16 times in the last 6,000?"""
        self._recent = (self._recent + text)[-_WINDOW:]
        self._unchecked += len(text)
        if self._unchecked < _EVERY or len(self._recent) < _PIECE * _TIMES:
            return False
        self._unchecked = 0
        return _overlapping(self._recent, self._recent[-_PIECE:]) >= _TIMES


def _overlapping(text: str, piece: str) -> int:
    count = at = 0
    while (at := text.find(piece, at)) >= 0:
        count += 1
        at += 1
    return count
