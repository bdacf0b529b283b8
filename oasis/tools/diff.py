"""What a change to a file looks like to a person and to the model."""

import difflib

from oasis.tools.clip import clip_line, visible

MAX_DIFF_LINES = 2_000
MAX_LINE_CHARS = 2_000


def unified(name: str, before: str, after: str, context: int = 3, line_chars: int = MAX_LINE_CHARS) -> str:
    """A unified diff of two texts with LF, bounded; only the part between what they share is compared.

    The bounds are far beyond what a person is asked about as a rule: what is approved has to be seen.
    """
    old, new = (_lines(text, other) for text, other in ((before, after), (after, before)))
    head = _shared(old, new)
    tail = _shared(old[head:][::-1], new[head:][::-1])
    start = max(0, head - context)
    old, new = (part[start : len(part) - max(0, tail - context)] for part in (old, new))
    rows = list(difflib.unified_diff(old, new, name, name, lineterm="", n=context))
    rows = [_moved(row, start) if row.startswith("@@") else row for row in rows]
    left_out = len(rows) - MAX_DIFF_LINES
    rows = [clip_line(visible(row), line_chars) for row in rows[:MAX_DIFF_LINES]]
    return "\n".join([*rows, f"… {left_out} more lines"] if left_out > 0 else rows)


def _lines(text: str, other: str) -> list[str]:
    """The text's lines. Beside an empty text the end of the last line is no line of its own."""
    if not text:
        return []
    return (text if other else text.removesuffix("\n")).split("\n")


def _shared(a: list[str], b: list[str]) -> int:
    count = 0
    for left, right in zip(a, b, strict=False):
        if left != right:
            break
        count += 1
    return count


def _moved(row: str, lines: int) -> str:
    """A hunk's head with `lines` added to its line numbers."""
    marks = row.split(" ")
    for n in (1, 2):
        sign, (number, *count) = marks[n][0], marks[n][1:].split(",")
        marks[n] = ",".join([f"{sign}{int(number) + lines}", *count])
    return " ".join(marks)
