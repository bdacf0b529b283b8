"""Give a replacement the white space of the file, when the model wrote the old text with another."""

import difflib
import re
from collections.abc import Mapping

_RUN = re.compile(r"\n|[^\S\n]+|[^\s]+")


def restyle(hit: str, old: str, new: str) -> str:
    """`new`, with what it shares with `old` spelled as the file's `hit` spells it.

    `hit` and `old` are equal but for white space. White space that only `new` has is translated as `old`'s was.
    """
    theirs, ours, wanted = (_runs(text) for text in (hit, old, new))
    if len(theirs) != len(ours):
        return new
    spacing, step = _spacing(ours, theirs), _indent(ours, theirs)
    out: list[str] = []
    matcher = difflib.SequenceMatcher(None, ours, wanted, autojunk=False)
    for kind, a, b, c, d in matcher.get_opcodes():
        out += theirs[a:b] if kind == "equal" else [_spelled(wanted, n, spacing, step) for n in range(c, d)]
    return "".join(out)


def _spelled(wanted: list[str], n: int, spacing: Mapping[str, str], step: tuple[str, str]) -> str:
    """A run that only the new text has: indentation in the file's steps, spacing as elsewhere, strings as they are."""
    run = wanted[n]
    if not run.isspace() or run == "\n":
        return run
    line = _line_before(wanted, n)
    if not line:
        return _reindented(run, step)
    is_in_string = line.count("'") % 2 or line.count('"') % 2
    return run if is_in_string else spacing.get(run, run)


def _line_before(wanted: list[str], n: int) -> str:
    start = n
    while start and wanted[start - 1] != "\n":
        start -= 1
    return "".join(wanted[start:n])


def _spacing(ours: list[str], theirs: list[str]) -> dict[str, str]:
    """How spacing within lines is spelled in the file, where it always is the same."""
    found: dict[str, set[str]] = {}
    for n, (a, b) in enumerate(zip(ours, theirs, strict=True)):
        if a.isspace() and a != "\n" and n and ours[n - 1] != "\n":
            found.setdefault(a, set()).add(b)
    return {a: b.pop() for a, b in found.items() if len(b) == 1}


def _runs(text: str) -> list[str]:
    """Line ends, spacing and words in turn; a line without indentation has an empty run in its place."""
    runs: list[str] = []
    for line_number, line in enumerate(text.split("\n")):
        if line_number:
            runs.append("\n")
        body = line.lstrip()
        runs.append(line[: len(line) - len(body)])
        runs += _RUN.findall(body.rstrip())
        runs.append(body[len(body.rstrip()) :])
    return runs


def _indent(ours: list[str], theirs: list[str]) -> tuple[str, str]:
    """One step of indentation as the model writes it and as the file does; empty where they agree."""
    for n, (a, b) in enumerate(zip(ours, theirs, strict=True)):
        starts_line = n == 0 or ours[n - 1] == "\n"
        if not (starts_line and a and b) or a == b or not a.isspace():
            continue
        if set(a) == {" "} and set(b) == {"\t"} and len(a) % len(b) == 0:
            return " " * (len(a) // len(b)), "\t"
        if set(a) == {"\t"} and set(b) == {" "} and len(b) % len(a) == 0:
            return "\t", " " * (len(b) // len(a))
    return "", ""


def _reindented(run: str, step: tuple[str, str]) -> str:
    mine, files = step
    if not mine or run.strip(mine[0]):
        return run
    count, rest = divmod(len(run), len(mine))
    return files * count + " " * rest
