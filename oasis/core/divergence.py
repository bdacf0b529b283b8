"""Where two prompts part."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Divergence:
    """First differing byte of two byte strings, its line and column (from 1), and what stands there in each."""

    offset: int
    line: int
    column: int
    before: str
    after: str


def common_prefix(a: bytes, b: bytes) -> int:
    """Length in bytes of what both begin with."""
    low, high = 0, min(len(a), len(b))
    if a[:high] == b[:high]:
        return high
    while low < high:
        middle = (low + high + 1) // 2
        if a[:middle] == b[:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def diverge(a: bytes, b: bytes, around: int = 40) -> Divergence | None:
    """Where `a` and `b` first differ, None when they are equal."""
    if a == b:
        return None
    offset = common_prefix(a, b)
    line = a.count(b"\n", 0, offset) + 1
    column = offset - (a.rfind(b"\n", 0, offset) + 1) + 1
    before, after = (s[offset : offset + around].decode(errors="replace") for s in (a, b))
    return Divergence(offset, line, column, before, after)
