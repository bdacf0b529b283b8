"""What every model is to the loop, whatever lane it is reached by."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from oasis.core.events import Prefill, Reasoning, Text
from oasis.core.items import Assistant
from oasis.core.transcript import Encoder, Request
from oasis.core.usage import Usage


class Lane(StrEnum):
    """TOKENS: the prompt is a growing list of token ids. CHAT: messages to an OpenAI-compatible server."""

    TOKENS = "tokens"
    CHAT = "chat"


@dataclass(frozen=True, slots=True)
class Reply:
    """The model's whole message and what it cost."""

    message: Assistant
    usage: Usage


@dataclass(frozen=True, slots=True)
class Sampling:
    """How to decode. `grammar` (GBNF) admits only what it derives; `max_tokens` 0 means up to the context's end."""

    max_tokens: int = 0
    temperature: float | None = None
    grammar: str = ""


class Model(Protocol):
    """A model behind a server.

    `identity` names model, lane and dialect: a session goes on byte for byte only where it is equal.
    """

    name: str
    lane: Lane
    identity: str
    context_tokens: int | None
    encoder: Encoder

    def stream(
        self, request: Request, sampling: Sampling = ...
    ) -> AsyncGenerator[Prefill | Reasoning | Text | Reply, None]:
        """Send the request; the last thing given is the Reply. Closing early cancels at the server.

        A caller that closes early gets what was received from `partial`.
        Raises ServerUnreachable, ServerLoading, ContextFull, ServerFault.
        """
        ...

    def partial(self) -> Assistant:
        """What the last stream had received when it was closed, as a message with Stop.CANCELLED."""
        ...

    async def close(self) -> None: ...
