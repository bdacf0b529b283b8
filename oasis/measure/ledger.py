"""The figures of one lane: what each step presented, what the server computed, what was new."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from oasis.core.usage import Usage, amplification


@dataclass(frozen=True, slots=True)
class Row:
    """One step. `computed` is the server's `prompt_n`, `new` counts each item once by identity; all in tokens."""

    step: int
    presented: int
    cached: int
    computed: int
    new: int
    decoded: int
    prefill_ms: float
    decode_ms: float

    @classmethod
    def of(cls, step: int, usage: Usage, new: int) -> "Row":
        return cls(
            step,
            usage.prompt_tokens,
            usage.cached_tokens,
            usage.computed_tokens,
            new,
            usage.decoded_tokens,
            usage.prefill_ms,
            usage.decode_ms,
        )

    @property
    def excess(self) -> int:
        """Tokens computed beyond those that were new; below 0 where the server held some of the new ones."""
        return self.computed - self.new


@dataclass
class Ledger:
    """One lane's rows, and what is to be said of it.

    notes   facts about how it ran
    faults  where two counts that must agree do not
    """

    name: str
    rows: list[Row] = field(default_factory=list[Row])
    after: dict[str, Row] = field(default_factory=dict[str, Row])
    compaction: dict[str, Any] = field(default_factory=dict[str, Any])
    notes: list[str] = field(default_factory=list[str])
    faults: list[str] = field(default_factory=list[str])

    @property
    def computed(self) -> int:
        return sum(row.computed for row in self.rows)

    @property
    def new(self) -> int:
        return sum(row.new for row in self.rows)

    @property
    def amplification(self) -> float:
        return amplification(self.computed, self.new)

    def deviations(self) -> list[str]:
        """The steps that computed other than their new tokens."""
        return [
            f"step {row.step} computed {row.computed:,} tokens, {row.new:,} were new ({row.excess:+,})"
            for row in self.rows
            if row.excess
        ]

    def check(self, what: str, booked: Sequence[int], recorded: Sequence[int]) -> None:
        """Note a fault for each step in which the recorder saw another number than Oasis booked."""
        if len(booked) != len(recorded):
            self.faults.append(f"{len(booked)} steps were booked, the recorder saw {len(recorded)} ({what})")
        for step, (ours, theirs) in enumerate(zip(booked, recorded, strict=False), 1):
            if ours != theirs:
                self.faults.append(f"step {step}: {what} booked {ours:,}, the recorder says {theirs:,}")

    def as_json(self) -> dict[str, Any]:
        return {
            "lane": self.name,
            "amplification": self.amplification,
            "computed_tokens": self.computed,
            "new_tokens": self.new,
            "prefill_ms": sum(row.prefill_ms for row in self.rows),
            "steps": [asdict(row) for row in self.rows],
            "after": {name: {**asdict(row), "excess": row.excess} for name, row in self.after.items()},
            "deviations": self.deviations(),
            "compaction": self.compaction,
            "notes": self.notes,
            "faults": self.faults,
        }
