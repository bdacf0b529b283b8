"""The loop: a turn is steps until the model has nothing more to call."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from oasis.agent.asking import Asking, Part
from oasis.agent.calls import CallRunner
from oasis.agent.compaction import Compactor
from oasis.agent.compaction_policy import CompactAt
from oasis.agent.ended import Ended
from oasis.agent.patience import Patience
from oasis.agent.recomputed import Watch
from oasis.agent.session import Session
from oasis.core.events import Event, Heard, Prefill, StepFinished, StepStarted, TurnFinished, TurnStarted
from oasis.core.items import Assistant, Notice, Status, Stop, ToolOutput, User
from oasis.core.prefix import Prefix
from oasis.core.transcript import Request
from oasis.errors import ContextFull, ServerFault
from oasis.models.base import Model, Reply, Sampling


@dataclass(frozen=True, slots=True)
class Limits:
    """When a turn is stopped; 0 means never."""

    max_steps: int = 0
    max_minutes: float = 0.0


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
        self._asking = Asking(model, emit, self._is_gone, sleep)
        self._patience = Patience()
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

    def _is_gone(self) -> bool:
        return self.is_gone()

    async def compact(self) -> bool:
        """Compact now, between two turns; False where there is nothing to leave out.

        Raises ServerFault; the session then goes on as it was.
        """
        try:
            return await self._compactor.now("asked")
        except Ended as end:
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
            session.append(self._asking.received(session.transcript.digest))
        for item in sorted((*items, *told), key=lambda item: isinstance(item, User)):
            session.append(item)
        self._patience = Patience()
        cancelled: asyncio.CancelledError | None = None
        try:
            async with asyncio.timeout(self._limits.max_minutes * 60 or None):
                await self._steps()
            ended = Ended("done")
        except Ended as end:
            ended = end
        except TimeoutError:
            ended = self._out_of_time()
        except asyncio.CancelledError as error:
            ended, cancelled = Ended("cancelled"), error
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
                raise Ended("max_steps", detail=f"stopped after {steps} steps (--max-steps)")
            if self._limits.max_minutes and time.monotonic() - began > self._limits.max_minutes * 60:
                raise self._out_of_time()
            message = await self._step()
            steps += 1
            if message.calls:
                await self._run_calls(message)
            else:
                self._finish_or_ask_again(message)

    def _out_of_time(self) -> Ended:
        return Ended("max_minutes", detail=f"stopped after {self._limits.max_minutes:g} minutes (--max-minutes)")

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
            self._book_stopped(request)
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
                return request, await self._asking.ask(request, self._sampling, self._emit)
            except ContextFull as fault:
                if is_compacted or not await self._compactor.when_full(fault):
                    raise Ended("context_full", detail=str(fault)) from fault
                is_compacted = True
            except asyncio.CancelledError:
                self._watch.was_interrupted = True
                self._session.append(self._asking.received(request.digest))
                self._book_stopped(request)
                raise

    async def _request(self) -> Request:
        try:
            return await self._session.request()
        except ServerFault as fault:
            self._asking.end_if_gone()
            raise Ended("server", detail=str(fault)) from fault

    def _book_stopped(self, request: Request) -> None:
        """What the server had computed of a prompt whose message was stopped, as far as it told."""
        usage = self._asking.stopped(request)
        if usage is None or request.new_tokens is None:
            return
        self._session.finish_step(usage, request.new_tokens)
        self._emit(StepFinished(self._session.steps, usage, request.new_tokens))

    async def _ask_summary(self, request: Request, sampling: Sampling) -> Reply | None:
        """What is written for a compaction is no part of the conversation: only its prefill is shown."""

        def show(part: Part) -> None:
            if isinstance(part, Prefill):
                self._emit(part)

        return await self._asking.ask(request, sampling, show)

    async def _run_calls(self, message: Assistant) -> None:
        if often := self._patience.see_calls(message):
            call = message.calls[0]
            self._answer_all(message, f"Not run: the same call with the same arguments came {often}.")
            raise Ended("repeating", detail=f"{call.name} was called {often} with the same arguments")
        is_any_passed = await self._calls.run(self._session, message.calls)
        read: list[str] = []
        if self._calls.only_read(message.calls):
            read = [item.text for item in self._session.transcript.pending if isinstance(item, ToolOutput)]
        self._patience.see_outputs(message, read, is_any_passed)

    def _answer_all(self, message: Assistant, text: str) -> None:
        for call in message.calls:
            self._session.append(ToolOutput(call.id, call.name, text, Status.DENIED))

    def _finish_or_ask_again(self, message: Assistant) -> None:
        """End the turn with the message's text, or say what is missing from it."""
        if message.stop is Stop.LENGTH and self._is_context_full() and not self._compactor.can_help:
            raise Ended("context_full", message.text, "the model's context was full in the middle of a message")
        self._session.append(Notice(self._patience.ask_again(message)))

    def _is_context_full(self) -> bool:
        """Has the transcript come within 1 % of the context's end?"""
        limit, counts = self._model.context_tokens, [c.tokens for c in self._session.transcript.chunks]
        return bool(limit) and None not in counts and sum(c or 0 for c in counts) >= 0.99 * (limit or 0) - 1
