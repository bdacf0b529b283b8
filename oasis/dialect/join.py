"""What is missing after a generated message: aligned with what the template writes there."""

from dataclasses import dataclass

from oasis.dialect.marks import MARK


@dataclass(frozen=True, slots=True)
class Seam:
    """The template's text after a message of the model.

    after      from the model's last word, or from its last argument's last letter, on
    close_at   where in `after` the stop begins
    stop       the template's own stop there; empty where the next message's opening ends the message
    limit      where text from outside begins: alignment never goes past it
    is_call    the message ends with a call, whose close may be written in part
    """

    after: str
    close_at: int
    stop: str
    limit: int
    is_call: bool

    def missing(self, raw: str, ended_by: str) -> str:
        """The part of `after` that has to follow `raw`; `ended_by` is the mark that ended it, empty without one."""
        cut = self._aligned(raw)
        if cut is not None and (not ended_by or self.after.endswith(ended_by, 0, cut)):
            return self.after[cut:]
        return self.after[self.close_at + (len(self.stop) if ended_by else 0) :]

    def _aligned(self, raw: str) -> int | None:
        """Where in `after` the raw text stops: the cut before which most of it agrees with the end of `raw`."""
        best, length = None, 0
        for cut in range(1, min(self.limit, len(self.after)) + 1):
            same = _common_end(raw, self.after, cut)
            if same > length and self._is_evidence(self.after[cut - same : cut], cut):
                best, length = cut, same
        return best

    def _is_evidence(self, shared: str, cut: int) -> bool:
        """A piece counts when it is all from the beginning; after a call also from the middle, with a mark or
        with punctuation of the call's own close. White space alone says nothing where there is a stop."""
        if not shared.strip():
            return not self.stop and len(shared) == cut == len(self.after) - len(self.after.lstrip())
        if len(shared) == cut:
            return True
        if not self.is_call:
            return False
        is_close = cut <= self.close_at and any(not (char.isalnum() or char.isspace()) for char in shared)
        return is_close or "<" in shared or bool(MARK.search(shared))


def _common_end(raw: str, after: str, cut: int) -> int:
    """How many characters before the end of `raw` and before `cut` agree."""
    most, n = min(len(raw), cut), 0
    while n < most and raw[-1 - n] == after[cut - 1 - n]:
        n += 1
    return n
