"""The items of a transcript: what was said, frozen once it is said."""

from dataclasses import dataclass
from enum import StrEnum


class Stop(StrEnum):
    """Why the model stopped writing a message."""

    END = "end"
    LENGTH = "length"
    CANCELLED = "cancelled"
    REPEATING = "repeating"


class Status(StrEnum):
    """How a tool call ended. UNKNOWN: it was started and its end was never seen; it is not run again."""

    OK = "ok"
    ERROR = "error"
    DENIED = "denied"
    CANCELLED = "cancelled"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call as the model wrote it.

    `arguments` is JSON text of an object when `fault` is empty, otherwise what the model wrote,
    and `fault` says what is wrong with it. A call with a fault is never run.
    """

    id: str
    name: str
    arguments: str
    fault: str = ""


@dataclass(frozen=True, slots=True)
class User:
    """What the person wrote."""

    text: str


@dataclass(frozen=True, slots=True)
class Notice:
    """What Oasis itself has to say to the model: changed context, project notes, reminders."""

    text: str


@dataclass(frozen=True, slots=True)
class Assistant:
    """One message of the model, exactly as it came back.

    `wire` is what is sent again: comma-separated token ids in the token lane, the message's JSON in
    the chat lane. `raw` is the generated text with its control tokens (token lane only). `undecoded` counts the
    ids at its end that were sampled and never decoded: they are not in the KV cache yet (0 or 1).
    """

    text: str
    reasoning: str
    calls: tuple[ToolCall, ...]
    stop: Stop
    wire: bytes
    raw: str = ""
    undecoded: int = 1


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """What a tool call gave, in call order."""

    call_id: str
    name: str
    text: str
    status: Status = Status.OK


Item = User | Notice | Assistant | ToolOutput
NewItem = User | Notice | ToolOutput
