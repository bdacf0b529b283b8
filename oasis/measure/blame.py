"""Names the first place where a prompt does not begin with the one before it."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from oasis.core.divergence import Divergence, common_prefix, diverge


@dataclass(frozen=True, slots=True)
class Blame:
    """Request `step` (from 1) left the prompt before it at `kept` of its `length` (bytes, or ids), at `divergence`."""

    step: int
    kept: int
    length: int
    divergence: Divergence

    def __str__(self) -> str:
        at = self.divergence
        return (
            f"request {self.step} keeps {self.kept:,} of {self.length:,} ({self.kept / self.length:.0%}) of the prompt "
            f"before it; they part at line {at.line}, column {at.column}: {at.before!r} became {at.after!r}"
        )


def blame(prompts: Sequence[bytes]) -> Blame | None:
    """The first request whose prompt does not begin with all of the one before it; None where every one does."""
    for step, (before, after) in enumerate(pairwise(prompts), 2):
        if not after.startswith(before) and (parting := diverge(before, after)):
            return Blame(step, common_prefix(before, after), len(before), parting)
    return None


def common_ids(one: Sequence[int], other: Sequence[int]) -> int:
    """Number of ids both begin with."""
    shorter = min(len(one), len(other))
    return next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), shorter)
