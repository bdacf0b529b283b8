"""`oasis bench facts`: whether facts stated early are still known after many compactions, and what each one cost."""

from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from oasis.agent.assembly import agent, toolbox
from oasis.agent.compaction_seed import carried
from oasis.agent.gate import Answer
from oasis.agent.session import Session
from oasis.core.events import Compacted, Compacting, Event, Prefill, Reasoning, StepFinished, Text
from oasis.core.items import Assistant, Notice, User
from oasis.core.rule import Ask, Deny
from oasis.core.transcript import Request
from oasis.core.usage import Usage, amplification
from oasis.errors import ConfigError
from oasis.measure.facts_job import FACTS, READ_ALL, TASK, Fact, known_in, questions, reads, recited, write_files
from oasis.measure.place import Place
from oasis.models.base import Reply, Sampling
from oasis.models.replay import ReplayModel
from oasis.models.tokens import TokenModel

_PLAIN = Sampling()
_HEADER = "  call   before   after  computed     new  excess  paid s  cold s   facts"


@dataclass(frozen=True, slots=True)
class Survival:
    """One compaction: of the facts `stated` so far, how many the prompt held before, the summary, the next prompt."""

    step: int
    stated: int
    before: int
    in_summary: int
    after: int
    told: Compacted

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass
class Facts:
    """What came of it. `writes`: who wrote the summaries and answers, `recital` or `model`."""

    engine: str
    writes: str
    steps: int = 0
    context_tokens: int = 0
    asked: int = 0
    right: int = 0
    usage: Usage = field(default_factory=Usage)
    new_tokens: int = 0
    survivals: list[Survival] = field(default_factory=list[Survival])
    ended: list[str] = field(default_factory=list[str])

    @property
    def amplification(self) -> float:
        return amplification(self.usage.computed_tokens, self.new_tokens)

    def as_json(self) -> dict[str, Any]:
        names = ("engine", "writes", "steps", "context_tokens", "asked", "right", "new_tokens", "ended")
        return {
            **{name: getattr(self, name) for name in names},
            "computed_tokens": self.usage.computed_tokens,
            "amplification": self.amplification,
            "compactions": [one.as_json() for one in self.survivals],
        }


class Reciter:
    """The model of this job: calls are as recorded; summaries and answers are recited from the prompt, or its own.

    The engine decodes every message, so the slot holds what a real run leaves in it.
    """

    def __init__(self, model: TokenModel, calls: list[Assistant], *, is_own: bool) -> None:
        self.name, self.lane, self.identity = model.name, model.lane, model.identity
        self.context_tokens, self.encoder = model.context_tokens, model.encoder
        self._model = model
        self._calls = calls[::-1]
        self._is_own = is_own

    async def stream(
        self, request: Request, sampling: Sampling = _PLAIN
    ) -> AsyncGenerator[Prefill | Reasoning | Text | Reply, None]:
        async with aclosing(await self._stream(request, sampling)) as parts:
            async for part in parts:
                yield part

    async def _stream(
        self, request: Request, sampling: Sampling
    ) -> AsyncGenerator[Prefill | Reasoning | Text | Reply, None]:
        last = await self._text(request.chunks[-1].wire)
        is_step = bool(self._calls) and "Do not call a tool." not in last
        if self._is_own and not is_step:
            return self._model.stream(request, sampling)
        message = self._calls.pop() if is_step else recited(await self._text(request.wire))
        replay = ReplayModel(self._model, self._model.client, self._model.dialect, [message])
        return replay.stream(request, sampling)

    async def _text(self, wire: bytes) -> str:
        return await self._model.client.detokenize([int(i) for i in wire.split(b",")])

    def partial(self) -> Assistant:
        return self._model.partial()

    async def close(self) -> None:
        await self._model.close()


@dataclass
class Watch:
    """Follows the job's events and looks into the session before and after each compaction."""

    facts: Facts
    session: Session
    say: Callable[[str], None]
    _ever: set[Fact] = field(default_factory=set[Fact])
    _before: int = 0

    def see(self, event: Event) -> None:
        if isinstance(event, StepFinished):
            self.facts.steps += 1
        elif isinstance(event, Compacting):
            known = known_in(self._said())
            self._ever |= known
            self._before = len(known)
        elif isinstance(event, Compacted):
            items = self.session.transcript.items
            summaries = [i.text for i in items if isinstance(i, Notice) and i.text.startswith(carried())]
            in_summary, after = len(known_in("\n".join(summaries))), len(known_in(self._said()))
            self.facts.survivals.append(
                Survival(self.facts.steps, len(self._ever), self._before, in_summary, after, event)
            )
            self.say(
                f"step {self.facts.steps}: {event.tokens_before:,} → {event.tokens_after:,} tokens, "
                f"{after} of {len(self._ever)} facts known"
            )

    def _said(self) -> str:
        return "\n".join(item.text for item in self.session.transcript.items)


async def run(place: Place, name: str, steps: int, *, is_own: bool, say: Callable[[str], None]) -> Facts:
    """The whole job on this engine: `steps` model calls besides those that write summaries.

    Raises ConfigError for too few steps, EngineFault, ServerFault, KvFault.
    """
    asked = questions()
    calls = steps - len(asked) - 1
    if calls < FACTS:
        raise ConfigError(f"The job needs at least {FACTS + len(asked) + 1} steps.")
    project = place.folder / "project"
    write_files(project, calls - FACTS)
    await place.start()
    try:
        async with place.model() as model:
            found = Facts(name, "model" if is_own else "recital", context_tokens=model.context_tokens or 0)
            await _work(place, project, Reciter(model, [*reads(calls), READ_ALL], is_own=is_own), found, say)
    finally:
        await place.stop()
    return found


async def _work(place: Place, project: Path, model: Reciter, found: Facts, say: Callable[[str], None]) -> None:
    box = toolbox(project)
    with Session.create(place.folder / "sessions", box.prefix, model, project, datetime.now(UTC)) as session:
        watch = Watch(found, session, say)
        loop = agent(model, session, box, watch.see, _refused)
        found.ended.append((await loop.turn([Notice("Directory: plant"), User(TASK)])).reason)
        for fact, question in questions():
            answer = await loop.turn([User(question)])
            found.asked += 1
            found.right += fact.value in answer.text
            if answer.reason != "done":
                found.ended.append(answer.reason)
        found.usage, found.new_tokens = session.usage, session.new_tokens


async def _refused(ask: Ask) -> Answer:
    return Deny(f"{ask.preview.title}: this job reads only.")


def lines(found: Facts) -> Iterator[str]:
    """The report, a line at a time."""
    who = "recited from what the prompt held" if found.writes == "recital" else "written by the model itself"
    yield f"{found.engine}: {found.steps} model calls in a context of {found.context_tokens:,} tokens."
    yield f"Tool calls are as recorded; summaries and answers were {who}. Every message was decoded by the engine."
    yield ""
    yield _HEADER
    for one in found.survivals:
        told = one.told
        excess = told.computed_tokens - (told.new_tokens or 0)
        yield (
            f"{one.step:>6}{told.tokens_before:>9,}{told.tokens_after:>8,}{told.computed_tokens:>10,}"
            f"{told.new_tokens or 0:>8,}{excess:>+8,}{told.paid_s:>8.2f}{told.cold_s or 0:>8.2f}   "
            f"{one.after} of {one.stated} ({one.in_summary} in the summary)"
        )
    yield ""
    yield f"Asked at the end for {found.asked} facts: {found.right} right."
    computed = found.usage.computed_tokens
    yield f"Computed {computed:,}, new {found.new_tokens:,}: amplification {found.amplification:.4f}."
    if found.ended != ["done"]:
        yield f"Turns ended otherwise than done: {', '.join(reason for reason in found.ended if reason != 'done')}."
