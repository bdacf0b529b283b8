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
    | CallStarted
    | CallFinished
    | Said
    | TurnFinished
)


def as_json(event: Event) -> dict[str, Any]:
    """The event as an object with its name in snake case under `event`."""
    name = "".join("_" + c.lower() if c.isupper() else c for c in type(event).__name__).lstrip("_")
    return {"event": name, **asdict(event)}
