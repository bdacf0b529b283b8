"""Outputs that may be too long for a prompt: kept in files of the user's, told by their head and tail."""

import contextlib
from dataclasses import dataclass
from pathlib import Path

from oasis.tools import output

MAX_KEPT_BYTES = 1 << 30
"""What is kept of one kind of output; older ones make room."""


def new_file(folder: Path, kind: str) -> Path:
    """A new empty file `KIND-N.raw` of the owner's only."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    _make_room(folder, kind)
    number = 1 + len(list(folder.glob(f"{kind}-*")))
    while True:
        raw = folder / f"{kind}-{number}.raw"
        with contextlib.suppress(FileExistsError):
            if not raw.with_suffix(".txt").exists():
                raw.touch(mode=0o600, exist_ok=False)
                return raw
        number += 1


def _make_room(folder: Path, kind: str) -> None:
    kept: list[tuple[float, int, Path]] = []
    for file in folder.glob(f"{kind}-*"):
        with contextlib.suppress(OSError):
            kept.append((file.stat().st_mtime, file.stat().st_size, file))
    total_bytes = 0
    for _, size, file in sorted(kept, reverse=True):
        total_bytes += size
        if total_bytes > MAX_KEPT_BYTES:
            with contextlib.suppress(OSError):
                file.unlink()


@dataclass(frozen=True, slots=True)
class Told:
    """What of an output is sent, and what is to be said of the rest."""

    text: str
    notes: tuple[str, ...]

    def closed(self, *notes: str) -> str:
        """The text, and a last line in [ ] with these notes."""
        closing = f"[{'; '.join(notes)}]"
        return f"{self.text}\n{closing}" if self.text else closing


def told(raw: Path) -> Told:
    """The output in `raw`, cleaned. One that is too long is kept whole beside it, as .txt, and named."""
    clean = raw.with_suffix(".txt")
    chars, lost = output.cleaned(raw, clean)
    head, tail = output.ends(clean, chars)
    text = head.rstrip("\n")
    if not tail:
        clean.unlink()
        return Told(text, tuple(lost.notes()))
    text = f"{text}\n[… {chars - len(head) - len(tail):,} characters left out …]\n{tail.rstrip()}"
    return Told(text, (*lost.notes(), f"whole output: {clean.as_posix()} (read or search it)"))
