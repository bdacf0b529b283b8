"""What undoing a turn did, in words for the person and for the model."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from oasis.core.items import Notice

_NAMED = 10


@dataclass(frozen=True, slots=True)
class Kept:
    """A file that was not put back, why, and where its old bytes lie (None: there was no file)."""

    name: str
    why: str
    copy: Path | None


@dataclass(frozen=True, slots=True)
class Undone:
    """What undoing a turn did. Names are relative to the project.

    restored    as before the turn, bytes and permission bits
    removed     made by the turn, now gone
    kept        left as they are
    commands    what ran in the turn; its effects are not undone
    strays      files that changed or appeared while those ran and of which no old bytes were kept
    is_partial  the project was too large to look for strays
    elsewhere   files that had changed on disk for another reason, which the model has not been told yet
    """

    restored: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    kept: tuple[Kept, ...] = ()
    commands: tuple[str, ...] = ()
    strays: tuple[str, ...] = ()
    is_partial: bool = False
    elsewhere: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """For the person, a line each, with where the old bytes lie of what was left alone."""
        places = [f"{kept.name} before the turn: {kept.copy}" for kept in self.kept[:_NAMED] if kept.copy]
        return "\n".join([*self._lines(), *places])

    @property
    def notice(self) -> Notice:
        """For the model, at the tail of the session."""
        again = "Read a file again before you rely on it." if self.restored or self.kept or self.elsewhere else ""
        said = ["The engineer undid your last changes to files.", *self._lines(), again]
        return Notice(" ".join(line for line in said if line))

    def _lines(self) -> list[str]:
        lines = [
            f"As before: {_listed(self.restored)}." if self.restored else "",
            f"Removed, since the turn had made it: {_listed(self.removed)}." if self.removed else "",
            *(f"Left as it is: {kept.name} ({kept.why})." for kept in self.kept[:_NAMED]),
            f"… and {len(self.kept) - _NAMED} more were left as they are." if len(self.kept) > _NAMED else "",
            "" if self.restored or self.removed or self.kept else "No file had to be put back.",
            f"What was run is not undone: {_listed(self.commands)}." if self.commands else "",
            f"Changed meanwhile and not put back: {_listed(self.strays)}." if self.strays else "",
            "The project is too large to say what else those commands changed." if self.is_partial else "",
            f"Changed on disk for another reason: {_listed(self.elsewhere)}." if self.elsewhere else "",
        ]
        return [line for line in lines if line]


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more
