"""What the loop tells whoever shows it. `as_json` is the documented form, one object a line (docs/events.md)."""

from dataclasses import asdict, dataclass
from typing import Any

from oasis.core.items import Status, ToolCall
from oasis.core.tool import Preview
from oasis.core.usage import Usage

VERSION = 1


@dataclass(frozen=True, slots=True)
class TurnStarted:
    turn: int


@dataclass(frozen=True, slots=True)
class StepStarted:
    """A request goes out. Token counts are None where the lane does not see tokens."""

    step: int
    prompt_tokens: int | None
    new_tokens: int | None


@dataclass(frozen=True, slots=True)
class Prefill:
    """Progress of the prefill: of `total_tokens`, `cached_tokens` were reused and `done_tokens` are ready."""

    total_tokens: int
    cached_tokens: int
    done_tokens: int


@dataclass(frozen=True, slots=True)
class Reasoning:
    text: str


@dataclass(frozen=True, slots=True)
class Text:
    text: str


@dataclass(frozen=True, slots=True)
class Retrying:
    """The server failed in a way that sending again may mend. `reason` is for a person."""

    reason: str
    attempt: int
    wait_s: float


@dataclass(frozen=True, slots=True)
class StepFinished:
    """`new_tokens` is None where the lane does not see tokens."""

    step: int
    usage: Usage
    new_tokens: int | None


@dataclass(frozen=True, slots=True)
class Recomputed:
    """A step computed more than was new: the server no longer had what it held, or the prompt left it.

    kept_tokens    reused, from the prompt's beginning
    held_tokens    what could have been reused
    computed_tokens, prefill_ms   what was computed beyond what was new, and its share of the prefill
    where          what stands where the reuse ended
    why            the likely cause, for a person
    """

    step: int
    kept_tokens: int
    held_tokens: int
    computed_tokens: int
    prefill_ms: float
    where: str
    why: str

    def words(self) -> str:
        """For a person, in one sentence."""
        cost = f", {self.prefill_ms / 1000:,.1f} s" if self.prefill_ms else ""
        return (
            f"the prefix broke after {self.kept_tokens:,} of {self.held_tokens:,} tokens, at {self.where}: {self.why}. "
            f"It cost {self.computed_tokens:,} tokens computed again{cost}"
        )


@dataclass(frozen=True, slots=True)
class Heard:
    """What the person wrote while the model worked has been appended to the conversation."""

    text: str


@dataclass(frozen=True, slots=True)
class CallStarted:
    call: ToolCall
    preview: Preview


@dataclass(frozen=True, slots=True)
class CallFinished:
    call_id: str
    name: str
    status: Status
    text: str
    run_ms: float


@dataclass(frozen=True, slots=True)
class Compacting:
    """A compaction begins: a summary is asked for. `reason`: limit, cost, full, asked."""

    reason: str
    prompt_tokens: int


@dataclass(frozen=True, slots=True)
class Compacted:
    """A compaction is through and the new epoch's first prompt is prefilled; seconds and tokens are of both.

    tokens_before      the prompt that would have been sent without it
    tokens_after       the prompt that was sent
    new_tokens         instruction, summary and what was kept; None where the lane does not see tokens
    paid_s             prefill, and the summary's decoding
    cold_s             the same with nothing reused, at the measured rate; None where no rate is known
    pays_after_steps   until cheaper steps have paid for it; None where they are not known to be cheaper
    dropped_exchanges  those that are neither kept nor in the summary
    is_cache_known     False where the server does not say what it reused: all then counts as computed
    """

    epoch: int
    reason: str
    tokens_before: int
    tokens_after: int
    computed_tokens: int
    new_tokens: int | None
    paid_s: float
    cold_s: float | None
    pays_after_steps: int | None
    kept_exchanges: int
    dropped_exchanges: int
    has_summary: bool
    is_cache_known: bool = True


@dataclass(frozen=True, slots=True)
class Said:
    """Oasis has something to say to the person; it is not part of the transcript."""

    text: str


@dataclass(frozen=True, slots=True)
class TurnFinished:
    """`reason`: done, max_steps, max_minutes, context_full, repeating, malformed, cancelled, server."""

    turn: int
    reason: str
    text: str
    usage: Usage
    new_tokens: int | None
    detail: str = ""


Event = (
    TurnStarted
    | StepStarted
    | Prefill
    | Reasoning
    | Text
    | Retrying
    | StepFinished
    | Recomputed
    | Heard
    | CallStarted
    | CallFinished
    | Compacting
    | Compacted
    | Said
    | TurnFinished
)


def as_json(event: Event) -> dict[str, Any]:
    """The event as an object with its name in snake case under `event`."""
    name = "".join("_" + c.lower() if c.isupper() else c for c in type(event).__name__).lstrip("_")
    return {"event": name, **asdict(event)}
