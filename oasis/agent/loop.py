"""The loop: a turn is steps until the model has nothing more to call."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace

from oasis.agent.calls import CallRunner
from oasis.agent.compaction import Compactor
from oasis.agent.compaction_policy import CompactAt
from oasis.agent.recomputed import Watch
from oasis.agent.runaway import Runaway
from oasis.agent.session import Session
from oasis.core.events import (
    Event,
    Heard,
    Prefill,
    Reasoning,
    Retrying,
    StepFinished,
    StepStarted,
    Text,
    TurnFinished,
    TurnStarted,
)
from oasis.core.items import Assistant, Notice, Status, Stop, ToolOutput, User
from oasis.core.prefix import Prefix
from oasis.core.transcript import Request
from oasis.core.usage import Usage
from oasis.errors import ContextFull, ServerFault, ServerLoading, ServerRefused, ServerUnreachable
from oasis.models.base import Model, Reply, Sampling

_ASK_AGAIN_LIMIT = 2
_MALFORMED_LIMIT = 3
_REPEAT_LIMIT = 3
_RETRY_LIMIT = 5
_FAULT_RETRY_LIMIT = 2
_LOADING_LIMIT_S = 600.0

_NOTHING = Assistant("", "", (), Stop.CANCELLED, wire=b"", undecoded=0)
_ASKED_AGAIN = {
    Stop.LENGTH: "was cut off at the length limit; go on",
    Stop.REPEATING: "repeated itself and was stopped; answer briefly or call a tool",
}

Part = Prefill | Reasoning | Text


def _is_progress(part: Part) -> bool:
    return isinstance(part, Prefill)


@dataclass(frozen=True, slots=True)
class Limits:
    """When a turn is stopped; 0 means never."""

    max_steps: int = 0
    max_minutes: float = 0.0


class _Ended(Exception):
    """The turn ends here, for `reason` (see events.TurnFinished)."""

    def __init__(self, reason: str, text: str = "", detail: str = "") -> None:
        super().__init__(reason)
        self.reason, self.text, self.detail = reason, text, detail


class Agent:
    """A model, a session and tools, driven turn by turn; everything that happens is told to `emit`.

    `queued` is asked at each safe point within a turn for what the person wrote meanwhile; it is appended there.
    `next_head` is asked at a compaction for the head of the new epoch; None: it stays.
    `is_gone` is asked after a fault: is the engine behind the model no more? Then nothing is sent to it again.
    """

    def __init__(
        self,
        model: Model,
        session: Session,
        calls: CallRunner,
        emit: Callable[[Event], None],
        *,
        limits: Limits | None = None,
        sampling: Sampling | None = None,
        compact_at: CompactAt | None = None,
        news: Callable[[], Sequence[Notice]] = tuple,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._model = model
        self._session = session
        self._calls = calls
        self._emit = emit
        self._limits = limits or Limits()
        self._sampling = sampling or Sampling()
        self._news = news
        self.queued: Callable[[], Sequence[User]] = tuple
        self.next_head: Callable[[], Prefix | None] = lambda: None
        self.is_gone: Callable[[], bool] = lambda: False
        self._watch = Watch(is_first=session.steps > 0)
        self._sleep = sleep
        self._patience = _Patience()
        self._streamed = ""
        self._prefill: Prefill | None = None
        self._compactor = Compactor(
            model,
            session,
            self._ask_summary,
            emit,
            at=compact_at,
            sampling=self._sampling,
            next_head=self._head,
        )

    def _head(self) -> Prefix | None:
        return self.next_head()

    async def compact(self) -> bool:
        """Compact now, between two turns; False where there is nothing to leave out.

        Raises ServerFault; the session then goes on as it was.
        """
        try:
            return await self._compactor.now("asked")
        except _Ended as end:
            raise ServerFault(end.detail) from end

    async def turn(self, items: Sequence[User | Notice]) -> TurnFinished:
        """From the new items to the model's final answer. With no items an unfinished turn goes on.

        The session is valid and complete however this ends, by CancelledError too.
        """
        session, before, before_new = self._session, self._session.usage, self._session.new_tokens
        hooks, told = self._calls.hooks, list[Notice]()
        if hooks and items:
            told = await hooks.turn_begins(session.id, is_resumed=session.steps > 0)
        self._emit(TurnStarted(session.turns + 1))
        if items and session.transcript.is_unanswered:
            session.append(self._received(session.transcript.digest))
        for item in sorted((*items, *told), key=lambda item: isinstance(item, User)):
            session.append(item)
        self._patience = _Patience()
        cancelled: asyncio.CancelledError | None = None
        try:
            async with asyncio.timeout(self._limits.max_minutes * 60 or None):
                await self._steps()
            ended = _Ended("done")
        except _Ended as end:
            ended = end
        except TimeoutError:
            ended = self._out_of_time()
        except asyncio.CancelledError as error:
            ended, cancelled = _Ended("cancelled"), error
        session.finish_turn(ended.reason)
        usage, new = session.usage - before, session.new_tokens - before_new
        finished = TurnFinished(session.turns, ended.reason, ended.text, usage, new, ended.detail)
        self._emit(finished)
        if cancelled:
            raise cancelled
        if hooks:
            await hooks.turn_ended(finished.reason, finished.text)
        return finished

    async def _steps(self) -> None:
        """`step`, and what it calls for, until the turn ends."""
        began, steps = time.monotonic(), 0
        while True:
            if self._limits.max_steps and steps >= self._limits.max_steps:
                raise _Ended("max_steps", detail=f"stopped after {steps} steps (--max-steps)")
            if self._limits.max_minutes and time.monotonic() - began > self._limits.max_minutes * 60:
                raise self._out_of_time()
            message = await self._step()
            steps += 1
            if message.calls:
                await self._run_calls(message)
            else:
                self._finish_or_ask_again(message)

    def _out_of_time(self) -> _Ended:
        return _Ended("max_minutes", detail=f"stopped after {self._limits.max_minutes:g} minutes (--max-minutes)")

    async def _step(self) -> Assistant:
        """One model call: request, stream, append. Before it what there is to notice, and a compaction that is due."""
        if not self._session.transcript.is_unanswered:
            for notice in self._news():
                self._session.append(notice)
            for item in self.queued():
                self._session.append(item)
                self._emit(Heard(item.text))
        await self._compactor.at_safe_point()
        request, reply = await self._replied()
        if reply is None:
            message = replace(self._model.partial(), stop=Stop.REPEATING)
            self._session.append(message)
            return message
        self._session.append(reply.message)
        self._session.finish_step(reply.usage, request.new_tokens)
        self._emit(StepFinished(self._session.steps, reply.usage, request.new_tokens))
        broken = self._watch.see(self._session.steps, request, reply.usage, self._session.transcript)
        if broken:
            self._emit(broken)
        self._compactor.finish_step(request, reply.usage)
        return reply.message

    async def _replied(self) -> tuple[Request, Reply | None]:
        """The request as it went out and what came. One the context cannot hold is compacted and sent once more."""
        is_compacted = False
        while True:
            request = await self._request()
            self._emit(StepStarted(self._session.steps + 1, request.tokens, request.new_tokens))
            await self._compactor.warm(request)
            try:
                return request, await self._ask_model(request, self._sampling, self._emit)
            except ContextFull as fault:
                if is_compacted or not await self._compactor.when_full(fault):
                    raise _Ended("context_full", detail=str(fault)) from fault
                is_compacted = True
            except asyncio.CancelledError:
                self._watch.was_interrupted = True
                self._session.append(self._received(request.digest))
                self._book_interrupted(request)
                raise

    async def _request(self) -> Request:
        try:
            return await self._session.request()
        except ServerFault as fault:
            self._end_if_gone()
            raise _Ended("server", detail=str(fault)) from fault

    def _book_interrupted(self, request: Request) -> None:
        """What the server had computed of a prompt whose message was interrupted, as far as it told."""
        if self._prefill is None or request.new_tokens is None or self._streamed != request.digest:
            return
        usage = Usage(self._prefill.done_tokens, self._prefill.cached_tokens)
        self._session.finish_step(usage, request.new_tokens)
        self._emit(StepFinished(self._session.steps, usage, request.new_tokens))

    def _received(self, digest: str) -> Assistant:
        """What came in answer to the request with this digest before its stream was closed."""
        return self._model.partial() if self._streamed in (digest, "") else _NOTHING

    async def _ask_summary(self, request: Request, sampling: Sampling) -> Reply | None:
        """What is written for a compaction is no part of the conversation: only its prefill is shown."""
        return await self._ask_model(request, sampling, lambda part: self._emit(part) if _is_progress(part) else None)

    async def _ask_model(self, request: Request, sampling: Sampling, show: Callable[[Part], None]) -> Reply | None:
        """Send the request, again where sending again may help; None for a message that repeated itself.

        Raises ContextFull.
        """
        attempt, began = 0, time.monotonic()
        while True:
            try:
                return await self._stream(request, sampling, show)
            except ServerLoading as fault:
                if time.monotonic() - began > _LOADING_LIMIT_S:
                    raise _Ended("server", detail=f"{fault} It was still loading after 10 minutes.") from fault
                await self._wait(str(fault), attempt := attempt + 1, min(2.0**attempt, 15.0))
            except ContextFull:
                raise
            except ServerRefused as fault:
                raise _Ended("server", detail=str(fault)) from fault
            except ServerFault as fault:
                self._end_if_gone()
                limit = _RETRY_LIMIT if isinstance(fault, ServerUnreachable) else _FAULT_RETRY_LIMIT
                if attempt >= limit:
                    raise _Ended("server", detail=str(fault)) from fault
                await self._wait(str(fault), attempt := attempt + 1, 0.5 * 2.0**attempt)

    async def _wait(self, reason: str, attempt: int, wait_s: float) -> None:
        self._emit(Retrying(reason, attempt, wait_s))
        await self._sleep(wait_s)
        self._end_if_gone()

    def _end_if_gone(self) -> None:
        if self.is_gone():
            raise _Ended("server", detail="the embedded engine has ended in the middle of a step")

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

    async def _run_calls(self, message: Assistant) -> None:
        self._patience.see_calls(message)
        if self._patience.repeats >= _REPEAT_LIMIT:
            call = message.calls[0]
            self._answer_all(message, "Not run: the same call with the same arguments came three times running.")
            raise _Ended("repeating", detail=f"{call.name} was called three times running with the same arguments")
        await self._calls.run(self._session, message.calls)
        if self._patience.malformed >= _MALFORMED_LIMIT:
            raise _Ended("malformed", detail="three messages running held calls that could not be run")

    def _answer_all(self, message: Assistant, text: str) -> None:
        for call in message.calls:
            self._session.append(ToolOutput(call.id, call.name, text, Status.DENIED))

    def _finish_or_ask_again(self, message: Assistant) -> None:
        """End the turn with the message's text. An empty or cut answer is asked for again, at most twice."""
        if message.stop is Stop.END and message.text.strip():
            raise _Ended("done", message.text)
        if message.stop is Stop.LENGTH and self._is_context_full() and not self._compactor.can_help:
            raise _Ended("context_full", message.text, "the model's context was full in the middle of a message")
        self._patience.asked_again += 1
        if self._patience.asked_again > _ASK_AGAIN_LIMIT:
            reason = "repeating" if message.stop is Stop.REPEATING else "malformed"
            raise _Ended(reason, message.text, "the model gave no complete answer three times")
        said = _ASKED_AGAIN.get(message.stop, "held neither an answer nor a tool call; answer or call a tool")
        self._session.append(Notice(f"Your last message {said}."))

    def _is_context_full(self) -> bool:
        """Has the transcript come within 1 % of the context's end?"""
        limit, counts = self._model.context_tokens, [c.tokens for c in self._session.transcript.chunks]
        return bool(limit) and None not in counts and sum(c or 0 for c in counts) >= 0.99 * (limit or 0) - 1


class _Patience:
    """What went wrong in a row in this turn."""

    def __init__(self) -> None:
        self.asked_again = 0
        self.malformed = 0
        self.repeats = 0
        self._last: tuple[tuple[str, str], ...] = ()

    def see_calls(self, message: Assistant) -> None:
        calls = tuple((call.name, call.arguments) for call in message.calls)
        self.repeats = self.repeats + 1 if calls == self._last else 1
        self._last = calls
        self.malformed = self.malformed + 1 if all(call.fault for call in message.calls) else 0
        self.asked_again = 0
