"""The part of `search` that runs as a process of its own, so that a pattern that never ends can be ended.

Reads one JSON object from standard input (see `Job`), writes one JSON object a line: `{"in": path}` when a file is
begun, `{"path", "line", "text"}` for a match, with "column" where the line is clipped, and `{"files", "skipped"}` at
the end.
"""

import fnmatch
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from oasis.tools import encoding, lines, walk
from oasis.tools.clip import clip_line

MAX_FILE_BYTES = 256 << 20
MAX_TEXT_CHARS = 240


@dataclass(frozen=True, slots=True)
class Job:
    """What to look for. `pattern` "" lists names; `glob` "" is every file; `literal` takes the pattern as it stands."""

    root: str
    place: str
    pattern: str
    glob: str
    literal: bool


def main() -> None:
    job = Job(**json.load(sys.stdin))
    sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")  # pyright: ignore[reportAttributeAccessIssue]
    run(job, sys.stdout)


def run(job: Job, out: TextIO) -> None:
    place, root = Path(job.place), Path(job.root)
    pattern = re.compile(re.escape(job.pattern) if job.literal else job.pattern, re.IGNORECASE)
    count, skipped = 0, 0
    if walk.Ignored(root)(place, place.is_dir()):
        root = place
    for path in walk.files(root, place) if place.is_dir() else iter([place]):
        inside = path.relative_to(place if place.is_dir() else path.parent).as_posix()
        if job.glob and not _fits(inside, job.glob):
            continue
        count += 1
        if not job.pattern:
            _tell(out, path=str(path))
            continue
        _tell(out, **{"in": str(path)})
        found = _matches(path, pattern)
        if found is None:
            skipped += 1
            continue
        for hit in found:
            _tell(out, path=str(path), **hit)
    _tell(out, files=count, skipped=skipped)


def _fits(inside: str, glob: str) -> bool:
    """Whether a path fits: a glob without a slash is for the name, with one for the path; ** spans folders."""
    glob = glob.replace("\\", "/").removeprefix("./").casefold()
    inside = inside.casefold()
    if "/" not in glob:
        return fnmatch.fnmatchcase(inside.rsplit("/", 1)[-1], glob)
    return fnmatch.fnmatchcase(inside, glob) or fnmatch.fnmatchcase(inside, glob.replace("**/", ""))


def _matches(path: Path, pattern: re.Pattern[str]) -> Iterator[dict[str, object]] | None:
    """Lines that match, None for a file that is not text or cannot be read."""
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            return None
        data = path.read_bytes()
    except OSError:
        return None
    form = encoding.detect(data)
    if form is None:
        return None
    text = lines.to_lf(encoding.shown(form.decode(data[len(form.bom) :])))
    return _lines(text, pattern)


def _lines(text: str, pattern: re.Pattern[str]) -> Iterator[dict[str, object]]:
    search = pattern.search
    for number, line in enumerate(text.split("\n"), 1):
        if match := search(line):
            at = {"line": number}
            if len(line) > MAX_TEXT_CHARS:
                at["column"] = match.start() + 1
            yield {**at, "text": clip_line(line, MAX_TEXT_CHARS, match.start())}


def _tell(out: TextIO, **fields: object) -> None:
    out.write(json.dumps(fields) + "\n")
    if "in" in fields:
        out.flush()


if __name__ == "__main__":
    main()
