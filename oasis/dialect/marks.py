"""What control marks look like, and cuts of rendered text that never go through one."""

import re

MARK = re.compile(r"<[^<>\s]{1,48}>|\[/?[A-Z][A-Z_]{1,40}\]|\[\|[^\[\]|\s]{1,40}\|\]|[\[\]][~!]*\w*[~!]+\w*[\[\]]")
"""The shapes of control tokens: `<|im_end|>`, `</think>`, `[INST]`, `[|user|]`, `[e~[`."""


def common_start(a: str, b: str) -> int:
    """Length of what both begin with."""
    low, high = 0, min(len(a), len(b))
    if a[:high] == b[:high]:
        return high
    while low < high:
        middle = (low + high + 1) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def common_end(a: str, b: str) -> int:
    """Length of what both end with."""
    return common_start(a[::-1], b[::-1])


def before_mark(text: str, at: int) -> int:
    """`at`, or the beginning of the mark it would cut."""
    return next((m.start() for m in MARK.finditer(text) if m.start() < at < m.end()), at)


def after_mark(text: str, at: int) -> int:
    """`at`, or the end of the mark it would cut."""
    return next((m.end() for m in MARK.finditer(text) if m.start() < at < m.end()), at)


def first_mark(text: str) -> str:
    """The first mark in the text, empty when there is none."""
    found = MARK.search(text)
    return found.group() if found else ""


def marks_in(text: str) -> list[str]:
    """Every mark in the text, each once, in order."""
    return list(dict.fromkeys(m.group() for m in MARK.finditer(text)))


def last_mark(text: str) -> str:
    """The mark the text ends with, empty when it ends otherwise."""
    found = list(MARK.finditer(text, max(0, len(text) - 60)))
    return found[-1].group() if found and found[-1].end() == len(text) else ""
