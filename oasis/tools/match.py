"""Find the text that a model wants to replace, and say what is there when it is not found."""

import difflib
import heapq
import re
from dataclasses import dataclass

from oasis.tools.clip import clip_line

_RUN = re.compile(r"\s+|[^\s]+")
_SPACE = r"[^\S\n]"
_WORD = re.compile(r"[^\W_]+")
_HEADER = re.compile(r"\[.+ lines \d+-\d+ of \d+\b.*\]")
_CLOSING = re.compile(r"\[(?:end of file|more: from=|line \d+ goes on: ).*\]")
_NUMBERED = re.compile(r"\s*\d+(?::\d+)?: ")
NEAR_LINES = 12
MAX_LOOSE_WORDS = 2_000


@dataclass(frozen=True, slots=True)
class Span:
    """Positions in a text: from `start` up to `end`."""

    start: int
    end: int


def exact(text: str, old: str) -> list[Span]:
    """Every place of `old`, not overlapping."""
    spans: list[Span] = []
    at = text.find(old)
    while at >= 0:
        spans.append(Span(at, at + len(old)))
        at = text.find(old, at + len(old))
    return spans


def loose(text: str, old: str) -> list[Span]:
    """Every place of `old` when the kind and amount of white space do not count; line breaks do."""
    words = old.split()
    if not words or len(words) > MAX_LOOSE_WORDS:
        return []
    lead, trail = old[: len(old) - len(old.lstrip())], old[len(old.rstrip()) :]
    inner = "".join(_spacing(run) if run.isspace() else re.escape(run) for run in _RUN.findall(old.strip()))
    pattern = re.compile(_lead(lead) + inner + _trail(trail), re.MULTILINE)
    return [Span(*m.span()) for m in pattern.finditer(text)]


def _spacing(run: str) -> str:
    breaks = run.count("\n")
    return f"{_SPACE}*+" + rf"\n{_SPACE}*+" * breaks if breaks else f"{_SPACE}++"


def _lead(run: str) -> str:
    """White space before the first word. It begins where a run of it begins, so that none is tried twice."""
    if not run:
        return ""
    if "\n" not in run:
        return rf"(?:^{_SPACE}*+|(?<!{_SPACE}){_SPACE}++)"
    if run[0] == "\n":
        return _spacing(run).removeprefix(f"{_SPACE}*+")
    return rf"(?<!{_SPACE})" + _spacing(run)


def _trail(run: str) -> str:
    """White space after the last word; a line break at its end takes nothing of the next line."""
    if "\n" not in run:
        return f"{_SPACE}*+" if run else ""
    return _spacing(run).removesuffix(f"{_SPACE}*+" if run[-1] == "\n" else "")


def nearest(text: str, old: str) -> tuple[int, list[str]]:
    """The line, from 1, where something most like `old` begins, and those lines; (0, []) when nothing is like it.

    The longest line of `old` is compared with all by the words they share, then the best of them letter by letter.
    """
    lines, wanted = text.split("\n"), old.strip("\n").split("\n")
    offset, anchor = max(enumerate(wanted[:NEAR_LINES]), key=lambda pair: len(pair[1].strip()))
    words = set(_WORD.findall(anchor.casefold()))
    scored = ((_shared(words, line), -number) for number, line in enumerate(lines))
    close = [(score, number) for score, number in heapq.nlargest(30, scored) if score]
    if not close:
        return 0, []
    best = max(close, key=lambda pair: (_likeness(anchor, lines[-pair[1]]), *pair))
    start = max(0, -best[1] - offset)
    return start + 1, lines[start : start + min(len(wanted), NEAR_LINES)]


def _shared(words: set[str], line: str) -> float:
    """Share of words that both have, from 0 to 1."""
    there = set(_WORD.findall(line.casefold()))
    return 2 * len(words & there) / (len(words) + len(there) or 1)


def _likeness(a: str, b: str) -> float:
    return difflib.SequenceMatcher(None, a[:300].strip(), b[:300].strip(), autojunk=False).ratio()


def pasted(old: str) -> str:
    """What of a tool's output, not of the file, `old` holds, and what to do; empty when it holds none."""
    rows = old.strip().split("\n")
    first, last = rows[0].strip(), rows[-1].strip()
    if _HEADER.fullmatch(first):
        return f"old begins with read's own line {clip_line(first, 120)}, which is not in the file. Leave it out."
    if _CLOSING.fullmatch(last):
        return f"old ends with read's own line {clip_line(last, 120)}, which is not in the file. Leave it out."
    if all(_NUMBERED.match(row) for row in rows):
        return "old has search's line numbers before its text, which are not in the file. Leave them out."
    return ""


def difference(there: list[str], old: str) -> str:
    """How the nearest lines differ from `old`: the first difference that is not white space alone, else the first."""
    pairs = [(here, asked) for here, asked in zip(there, old.strip("\n").split("\n"), strict=False) if here != asked]
    pairs.sort(key=lambda pair: pair[0].split() == pair[1].split())
    if not pairs:
        return "the lines before or after differ"
    here, asked = pairs[0]
    at = next((n for n, (a, b) in enumerate(zip(here, asked, strict=False)) if a != b), min(len(here), len(asked)))
    return f"the file has {clip_line(here, 120, at)!r} where old has {clip_line(asked, 120, at)!r}"
