"""Sending one request until it is answered, or until sending it again cannot help."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import aclosing

from oasis.agent.ended import Ended
from oasis.agent.runaway import Runaway
from oasis.core.events import Event, Prefill, Reasoning, Retrying, Text
from oasis.core.items import Assistant, Stop
from oasis.core.transcript import Request
from oasis.core.usage import Usage
from oasis.errors import ContextFull, ServerFault, ServerLoading, ServerRefused, ServerUnreachable
from oasis.models.base import Model, Reply, Sampling

_RETRY_LIMIT = 5
_FAULT_RETRY_LIMIT = 2
_LOADING_LIMIT_S = 600.0
_NOTHING = Assistant("", "", (), Stop.CANCELLED, wire=b"", undecoded=0)

Part = Prefill | Reasoning | Text


class Asking:
    """Requests to one model; what it waits for is told to `emit`.

    `is_gone` is asked after a fault: is the engine behind the model no more? Then nothing is sent to it again.
    """

    def __init__(
        self,
        model: Model,
        emit: Callable[[Event], None],
        is_gone: Callable[[], bool],
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._model = model
        self._emit = emit
        self._is_gone = is_gone
        self._sleep = sleep
        self._streamed = ""
        self._prefill: Prefill | None = None

    async def ask(self, request: Request, sampling: Sampling, show: Callable[[Part], None]) -> Reply | None:
        """Send the request, again where sending again may help; None for a message that repeated itself.

        Raises ContextFull, and Ended where the server is of no use.
        """
        attempt, began = 0, time.monotonic()
        while True:
            try:
                return await self._stream(request, sampling, show)
            except ServerLoading as fault:
                if time.monotonic() - began > _LOADING_LIMIT_S:
                    raise Ended("server", detail=f"{fault} It was still loading after 10 minutes.") from fault
                await self._wait(str(fault), attempt := attempt + 1, min(2.0**attempt, 15.0))
            except ContextFull:
                raise
            except ServerRefused as fault:
                raise Ended("server", detail=str(fault)) from fault
            except ServerFault as fault:
                self.end_if_gone()
                limit = _RETRY_LIMIT if isinstance(fault, ServerUnreachable) else _FAULT_RETRY_LIMIT
                if attempt >= limit:
                    raise Ended("server", detail=str(fault)) from fault
                await self._wait(str(fault), attempt := attempt + 1, 0.5 * 2.0**attempt)

    def received(self, digest: str) -> Assistant:
        """What came in answer to the request with this digest before its stream was closed."""
        return self._model.partial() if self._streamed in (digest, "") else _NOTHING

    def stopped(self, request: Request) -> Usage | None:
        """What the server had computed of a prompt whose message was stopped; None where it did not tell."""
        if self._prefill is None or self._streamed != request.digest:
            return None
        return Usage(self._prefill.done_tokens, self._prefill.cached_tokens)

    def end_if_gone(self) -> None:
        """Raise Ended where the engine is no more."""
        if self._is_gone():
            raise Ended("server", detail="the embedded engine has ended in the middle of a step")

    async def _wait(self, reason: str, attempt: int, wait_s: float) -> None:
        self._emit(Retrying(reason, attempt, wait_s))
        await self._sleep(wait_s)
        self.end_if_gone()

    async def _stream(self, request: Request, sampling: Sampling, show: Callable[[Part], None]) -> Reply | None:
        runaway, self._streamed, self._prefill = Runaway(), request.digest, None
        async with aclosing(self._model.stream(request, sampling)) as parts:
            async for part in parts:
                if isinstance(part, Reply):
                    return part
                show(part)
                if isinstance(part, Prefill):
                    self._prefill = part
                if isinstance(part, Text | Reasoning) and runaway.is_seen_in(part.text):
                    return None
        raise ServerUnreachable("The server ended the stream without a reply. The same request is sent again.")
