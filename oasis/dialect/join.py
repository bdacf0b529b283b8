"""What is missing after a generated message: aligned with what the template writes there."""

from oasis.dialect.marks import MARK


def missing(raw: str, after: str, close_at: int, stop: str, ended_by: str, limit: int, is_call: bool) -> str:
    """The part of `after` that has to follow `raw`.

    after      the template's text from the model's last word (or its last argument's last letter) on
    close_at   where in `after` the stop begins
    stop       the template's own stop there; empty where the next message's opening ends the message
    ended_by   the mark that ended the message, empty when it is not in `raw`
    limit      where in `after` text from outside begins: alignment never goes past it
    is_call    the message ends with a call: the raw text may stop anywhere in what closes it
    """
    best = _aligned(raw, after, limit, close_at if is_call else -1)
    if best is not None and (not ended_by or _holds(after, best, ended_by)):
        return after[best:]
    if ended_by:
        return after[close_at + len(stop) :]
    return after[close_at:]


def _holds(after: str, cut: int, mark: str) -> bool:
    return after[:cut].endswith(mark)


def _aligned(raw: str, after: str, limit: int, close_at: int) -> int | None:
    """Where in `after` the raw text stops: the cut before which most of it agrees with the end of `raw`.

    A piece of `after` counts when it is all from its beginning. After a call (`close_at` >= 0) one from the middle
    counts too, when it holds a mark or is punctuation that closes the call.
    """
    best, length = None, 0
    for cut in range(1, min(limit, len(after)) + 1):
        same = _common_end(raw, after, cut)
        shared = after[cut - same : cut]
        is_middle = close_at >= 0 and (bool(MARK.search(shared)) or (cut <= close_at and _has_punctuation(shared)))
        if same > length and shared.strip() and (same == cut or is_middle or _is_cut_mark(shared, close_at)):
            best, length = cut, same
    return best


def _common_end(raw: str, after: str, cut: int) -> int:
    n = 0
    while n < min(len(raw), cut) and raw[-1 - n] == after[cut - 1 - n]:
        n += 1
    return n


def _has_punctuation(text: str) -> bool:
    return any(not (char.isalnum() or char.isspace()) for char in text)


def _is_cut_mark(text: str, close_at: int) -> bool:
    """The raw text stops inside a mark that closes a call."""
    return close_at >= 0 and "<" in text
