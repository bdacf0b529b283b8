"""Which saved states are kept: what each saves, and how long it may lie."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """HEAD: system text and tools. FILES: head and files of a project. SESSION: a conversation after a message."""

    HEAD = "head"
    FILES = "files"
    SESSION = "session"


_HOUR_S = 3600.0
TIME_TO_LIVE_S = {Kind.HEAD: 90 * 24 * _HOUR_S, Kind.FILES: 30 * 24 * _HOUR_S, Kind.SESSION: 48 * _HOUR_S}
"""Since the last use. A `files` state goes earlier when one of its files changes."""
_HALF_LIFE_S = {Kind.HEAD: 14 * 24 * _HOUR_S, Kind.FILES: 3 * 24 * _HOUR_S, Kind.SESSION: 6 * _HOUR_S}


@dataclass(frozen=True, slots=True)
class Artifact:
    """A saved state: a file and what is known of it. `prefill_ms` is what computing it again would take."""

    id: str
    place: str
    fingerprint: str
    key: str
    kind: Kind
    tokens: int
    bytes: int
    digest: str
    prefill_ms: float
    created: float
    last_use: float
    uses: int
    is_pinned: bool
    is_stale: bool

    @property
    def file_name(self) -> str:
        return self.id if self.place else f"{self.id}.kv"


def age_s(artifact: Artifact, now: float) -> float:
    """Seconds since the last use; 0 where the clock was set back behind it."""
    return max(0.0, now - artifact.last_use)


def is_out_of_time(artifact: Artifact, now: float) -> bool:
    """Has nobody used it for its kind's time to live?"""
    return not artifact.is_pinned and age_s(artifact, now) > TIME_TO_LIVE_S[artifact.kind]


def worth(artifact: Artifact, now: float) -> float:
    """Prefill seconds saved for each byte, halved with every half-life since the last use."""
    per_byte = artifact.prefill_ms / 1000 / max(1, artifact.bytes)
    return per_byte * 0.5 ** (age_s(artifact, now) / _HALF_LIFE_S[artifact.kind])


def to_drop(artifacts: Iterable[Artifact], budget_bytes: int, now: float) -> list[Artifact]:
    """What has to go: the stale, those out of time, then those worth least until the rest fits the budget.

    What is pinned stays.
    """
    kept: list[Artifact] = []
    dropped: list[Artifact] = []
    for artifact in artifacts:
        is_over = not artifact.is_pinned and (artifact.is_stale or is_out_of_time(artifact, now))
        (dropped if is_over else kept).append(artifact)
    excess = sum(artifact.bytes for artifact in kept) - budget_bytes
    for artifact in sorted(kept, key=lambda a: (worth(a, now), a.last_use, a.id)):
        if excess <= 0:
            break
        if not artifact.is_pinned:
            dropped.append(artifact)
            excess -= artifact.bytes
    return dropped
