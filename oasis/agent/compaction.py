"""Compaction: the one deliberate break with the prefix, made nearly warm.

The summary is asked for behind the live prefix, so that costs its instruction and what it writes. The next epoch is
the same head, the summary and the last exchanges word for word.
"""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Protocol

from oasis.agent.compaction_policy import CompactAt, Outlook, Rates, due, steps_to_pay
from oasis.agent.compaction_seed import Bounds, Plan, plan, sizes
from oasis.agent.session import Session
from oasis.core.events import Compacted, Compacting, Event, Said, StepFinished, StepStarted
from oasis.core.items import Assistant, Item, Notice, Status, Stop, ToolOutput
from oasis.core.prefix import Prefix
from oasis.core.transcript import Request
from oasis.core.usage import Usage
from oasis.errors import ContextFull, ServerFault
from oasis.models.base import Model, Reply, Sampling
from oasis.resources import text

Ask = Callable[[Request, Sampling], Awaitable[Reply | None]]
"""Sends a request and gives the whole reply, None for a message that repeated itself and was stopped."""

_TRIES = 2
_SHRINK = 0.75
TOO_LONG = "it was too long"
_NOT_RUN = "[not run: a summary was asked for, not a call]"


class Restorer(Protocol):
    """What fills a slot from an artifact that the prompt begins with."""

    async def restore(self, ids: Sequence[int]) -> int: ...


@dataclass(frozen=True)
class _Summary:
    """What was asked and written, and what it cost. `text` is empty where nothing usable came; `plan` made it."""

    plan: Plan
    text: str
    said: tuple[Item, ...]
    usage: Usage
    new_tokens: int | None

    def after(self, said: Sequence[Item], usage: Usage, new_tokens: int | None) -> "_Summary":
        """With one more message asked for."""
        new = None if new_tokens is None or self.new_tokens is None else self.new_tokens + new_tokens
        return replace(self, said=(*self.said, *said), usage=self.usage + usage, new_tokens=new)


@dataclass(frozen=True)
class _Paying:
    """A compaction whose next epoch has not been prefilled yet."""

    reason: str
    summary: _Summary


class Compactor:
    """Asks the policy at safe points and compacts a session; keeps what it needs to know of rates and limits."""

    def __init__(
        self,
        model: Model,
        session: Session,
        ask: Ask,
        emit: Callable[[Event], None],
        *,
        at: CompactAt | None = None,
        sampling: Sampling | None = None,
        restorer: "Restorer | None" = None,
        next_head: Callable[[], Prefix | None] = lambda: None,
    ) -> None:
        """`restorer`: for a model without a KV runtime, which restores by itself. `next_head`: see Agent."""
        self._model = model
        self._session = session
        self._ask = ask
        self._emit = emit
        self._at = at or CompactAt()
        self._sampling = sampling or Sampling()
        self._restorer = restorer
        self._next_head = next_head
        self._limit = model.context_tokens
        self._rates = Rates()
        self._steps = 0
        self._paying: _Paying | None = None

    async def at_safe_point(self) -> None:
        """Compact where the policy says so. Every call has its output when this is asked."""
        found = self._plan() if self._at.threshold(self._limit) else None
        if found is None:
            return
        summary = found.bounds.summary_tokens
        outlook = Outlook(
            found.sizes.total, found.after_tokens, summary, found.after_tokens - found.sizes.head, self._steps
        )
        if reason := due(outlook, self._at, self._limit, self._rates):
            await self._compact(found, reason)

    async def when_full(self, fault: ContextFull) -> bool:
        """The server refused a request as too long: learn its limit and compact. False where that cannot help."""
        total = sizes(self._session.transcript, self._session.last_usage).total
        self._limit = fault.n_ctx or min(self._model.context_tokens or total, total)
        return await self.now("full")

    @property
    def can_help(self) -> bool:
        """Would a compaction free room?"""
        found = self._plan()
        return self._paying is None and found is not None and _frees(found)

    async def now(self, reason: str) -> bool:
        """Compact whatever the policy says. False where there is nothing to leave out."""
        found = self._plan()
        if found is None or not _frees(found):
            return False
        await self._compact(found, reason)
        return True

    async def warm(self, request: Request) -> None:
        """Have the slot hold the head where the engine cannot rewind to it: before an epoch's first request."""
        if self._paying is None or self._restorer is None or request.tokens is None:
            return
        with suppress(ServerFault):  # the request then computes what was not restored, and that is reported
            await self._restorer.restore([int(i) for i in request.wire.split(b",")])

    def finish_step(self, request: Request, usage: Usage) -> None:
        """Take in what a step cost; the first of an epoch closes the account of its compaction."""
        self._rates.add(usage)
        self._steps += 1
        if self._paying:
            event = self._account(self._paying, request, usage)
            self._paying = None
            self._session.note_compaction(event)
            self._emit(event)

    def _plan(self) -> Plan | None:
        transcript = self._session.transcript
        measured = sizes(transcript, self._session.last_usage)
        threshold = self._at.threshold(self._limit) or int(0.75 * (self._limit or measured.total))
        bounds = Bounds.of(threshold, self._limit)
        return plan(transcript, measured, bounds, instruction(bounds.words))

    def _planned(self, found: Plan, asked: str | None, most_shown: int | None = None) -> Plan | None:
        """Another plan within the same bounds, for the limit as it is known now."""
        bounds = replace(found.bounds, room=self._limit)
        return plan(self._session.transcript, found.sizes, bounds, asked, most_shown)

    async def _compact(self, found: Plan, reason: str) -> None:
        self._emit(Compacting(reason, found.sizes.total))
        summary = await self._summary(found)
        if not summary.text:
            summary = replace(summary, plan=self._planned(found, None) or found)
        await self._session.next_epoch(reason, summary.plan.seed(summary.text), summary.said, self._next_head())
        self._paying = _Paying(reason, summary)
        self._steps = 0
        if not summary.text:
            self._emit(Said(f"No usable summary came; dropped, the oldest first: {_exchanges(summary.plan.tail)}."))
        elif lost := summary.plan.unseen:
            self._emit(Said(f"Neither the summary nor the next prompt had room for {_exchanges(lost)}; dropped."))

    async def _summary(self, found: Plan) -> _Summary:
        """Ask behind the live prefix, with less shown where that does not fit. Nothing of it enters the session."""
        best, tries, asked = _Summary(found, "", (), Usage(), 0), _TRIES, found
        while tries and asked.shown:
            try:
                best, tries = await self._asked(asked, best, tries)
            except ContextFull as fault:
                self._limit = fault.n_ctx or self._limit
            fewer = self._planned(found, instruction(found.bounds.words), int(_SHRINK * asked.shown))
            if fewer is None:
                break
            asked = fewer
        return best

    async def _asked(self, found: Plan, best: _Summary, tries: int) -> tuple[_Summary, int]:
        """The summary and the tries that are left: none once it can be used.

        It is asked for again behind the first where there is room. One that is complete and only too long is kept for
        want of a better.
        """
        branch = self._session.transcript.branch(found.shown)
        start = len(branch.items)
        for item in found.question(instruction(found.bounds.words)):
            branch.append(item)
        is_again = False
        while tries:
            request = await branch.request()
            sampling = self._bounded(request, found.bounds)
            if is_again and sampling.max_tokens < found.bounds.summary_tokens:
                break
            message, usage, new_tokens = await self._written(request, sampling)
            branch.append(message)
            tries, is_again = tries - 1, True
            fault = _fault(message, usage.decoded_tokens, found.bounds)
            best = best.after(branch.items[start:], usage, new_tokens)
            start = len(branch.items)
            if not fault or (fault is TOO_LONG and not best.text):
                best = replace(best, plan=found, text=message.text.strip())
            if not fault:
                return best, 0
            for item in _again(message, fault, found.bounds.words):
                branch.append(item)
        return best, 0 if best.text else tries

    async def _written(self, request: Request, sampling: Sampling) -> tuple[Assistant, Usage, int | None]:
        """One message, booked as a step."""
        session = self._session
        self._emit(StepStarted(session.steps + 1, request.tokens, request.new_tokens))
        reply = await self._ask(request, sampling)
        if reply is None:
            return replace(self._model.partial(), stop=Stop.REPEATING), Usage(), 0
        session.finish_step(reply.usage, request.new_tokens, is_aside=True)
        self._emit(StepFinished(session.steps, reply.usage, request.new_tokens))
        self._rates.add(reply.usage)
        return reply.message, reply.usage, request.new_tokens

    def _bounded(self, request: Request, bounds: Bounds) -> Sampling:
        most = bounds.answer_tokens
        if self._limit and request.tokens:
            most = max(1, min(most, self._limit - request.tokens))
        return replace(self._sampling, max_tokens=most, grammar="")

    def _account(self, paying: _Paying, request: Request, usage: Usage) -> Compacted:
        """What the compaction cost, the first prompt of the new epoch included, and what a cold one would have.

        A cold one prefills the whole prompt that asks for the summary and the whole first prompt of the epoch.
        """
        spent = paying.summary
        paid_ms = spent.usage.prefill_ms + spent.usage.decode_ms + usage.prefill_ms
        rate = self._rates.prefill_ms_per_token
        presented = spent.usage.prompt_tokens + usage.prompt_tokens
        after = request.tokens if request.tokens is not None else usage.prompt_tokens
        before = spent.plan.sizes.total
        new_tokens = None
        if spent.new_tokens is not None and request.new_tokens is not None:
            new_tokens = spent.new_tokens + request.new_tokens
        return Compacted(
            epoch=request.epoch,
            reason=paying.reason,
            tokens_before=before,
            tokens_after=after,
            computed_tokens=spent.usage.computed_tokens + usage.computed_tokens,
            new_tokens=new_tokens,
            paid_s=round(paid_ms / 1000, 3),
            cold_s=None if rate is None else round((presented * rate + spent.usage.decode_ms) / 1000, 3),
            pays_after_steps=steps_to_pay(paid_ms, before - after, self._rates),
            kept_exchanges=spent.plan.kept,
            dropped_exchanges=spent.plan.unseen,
            has_summary=bool(spent.text),
            is_cache_known=spent.usage.is_cache_known and usage.is_cache_known,
        )


def _exchanges(count: int) -> str:
    return "1 exchange" if count == 1 else f"{count} exchanges"


def _frees(found: Plan) -> bool:
    return found.after_tokens - found.bounds.summary_tokens < found.sizes.total


def instruction(words: int) -> str:
    """What asks the model for a summary of at most `words` words."""
    return text("agent/prompts/summary.md").replace("{words}", str(words))


def _again(message: Assistant, fault: str, words: int) -> list[Item]:
    said = text("agent/prompts/summary_again.md").replace("{fault}", fault).replace("{words}", str(words))
    return [*(ToolOutput(c.id, c.name, _NOT_RUN, Status.DENIED) for c in message.calls), Notice(said)]


def _fault(message: Assistant, decoded_tokens: int, bounds: Bounds) -> str:
    """What is wrong with a summary, in words for the model; empty where nothing is."""
    said = message.text.strip()
    if message.stop is Stop.REPEATING:
        return "it repeated itself"
    if message.stop is not Stop.END:
        return "it was cut off before its end"
    if not said:
        return "it was empty"
    share = len(said) / max(1, len(said) + len(message.reasoning))
    if decoded_tokens * share > bounds.longest_tokens:
        return TOO_LONG
    return ""
