"""What a kept KV state saves in a new session, a restart, forks and a compaction, each beside a cold start."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from oasis.agent.compaction import Compactor
from oasis.agent.compaction_policy import CompactAt
from oasis.agent.session import Session
from oasis.core.events import Compacted
from oasis.core.items import Assistant, Notice, Stop, User
from oasis.core.prefix import Prefix
from oasis.core.transcript import Request
from oasis.core.usage import Usage
from oasis.errors import KvFault
from oasis.measure.ask import ask
from oasis.measure.place import Place
from oasis.models.base import Model, Reply, Sampling
from oasis.models.replay import ReplayModel

HEAD_TOKENS = 9000
"""Of the head behind which a compaction is measured."""
_SHORT = Sampling(temperature=0.0, grammar='root ::= "The pump runs, its bearing is loud and has to be looked at."')
"""The engine writes this and closes it; what it says does not matter here."""
_FILLER = "Every value that is reported has its unit, its address and where it was read. "


@dataclass(frozen=True, slots=True)
class Cost:
    """What one thing had the server compute. `new`: tokens that were new to it; `cold`: computed with nothing kept."""

    name: str
    presented: int
    computed: int
    new: int
    cold: int
    prefill_ms: float
    cold_ms: float
    note: str = ""

    @property
    def excess(self) -> int:
        return self.computed - self.new

    def as_json(self) -> dict[str, Any]:
        fields = ("name", "presented", "computed", "new", "excess", "cold", "prefill_ms", "cold_ms", "note")
        return {name: getattr(self, name) for name in fields}


async def step(model: Model, session: Session, *items: User | Notice) -> tuple[Request, Usage]:
    """Append, ask for a short message, append it."""
    for item in items:
        session.append(item)
    request = await session.request()
    reply = await ask(model, request, _SHORT)
    session.append(reply.message)
    session.finish_step(reply.usage, request.new_tokens)
    return request, reply.usage


async def cost(place: Place, name: str, asked: tuple[Request, Usage], new: int, note: str = "") -> Cost:
    """The row of one request, its cold twin measured on the same engine."""
    request, usage = asked
    cold, cold_ms = await place.cold(request)
    return Cost(name, usage.prompt_tokens, usage.computed_tokens, new, cold, usage.prefill_ms, cold_ms, note)


def opening(number: int) -> tuple[Notice, User]:
    """A project's notes and its first question, different for each number."""
    notes = f"Directory: plant{number}\nThe station has pumps {number} to {number + 4}. " * 6
    return Notice(notes), User(f"Which of the pumps of plant {number} have to be looked at this week, and why?")


async def newsession(place: Place) -> list[Cost]:
    """A session in another project after a first one: on the same engine, and on one that was started anew."""
    rows: list[Cost] = []
    for number, name in enumerate(("the first session", "another project", "another project, engine restarted")):
        if number == 2:
            await place.stop()
            await place.start()
        async with place.model() as model:
            with place.session(model) as session:
                request, usage = await step(model, session, *opening(number))
                await step(model, session, User("And next week?"))
        head = request.chunks[0].tokens or 0
        new = (request.new_tokens or 0) - (head if number else 0)
        rows.append(await cost(place, name, (request, usage), new))
    return rows


async def restart(place: Place) -> list[Cost]:
    """A session resumed after the engine was killed: with its state saved before, and with a step since."""
    rows: list[Cost] = []
    async with place.model() as model:
        with place.session(model) as session:
            await step(model, session, *opening(1))
            for number in range(3):
                await step(model, session, User(f"Go on with pump {number}. " * 20))
            path = session.path
    await place.kill()
    await place.start()
    async with place.model() as model:
        resumed, _ = Session.resume(path, model)
        with resumed:
            request, usage = await step(model, resumed, User("Sum up what was found."))
            lost = usage.decoded_tokens + (request.new_tokens or 0)
        rows.append(await cost(place, "resumed, saved before", (request, usage), request.new_tokens or 0))
        await place.kill()
    await place.start()
    async with place.model() as model:
        resumed, _ = Session.resume(path, model)
        with resumed:
            request, usage = await step(model, resumed, User("Sum it up again."))
        note = f"{lost:,} tokens since the last save were lost with the engine and computed again"
        new = (request.new_tokens or 0) + lost
        rows.append(await cost(place, "resumed, killed before its save", (request, usage), new, note))
    return rows


async def fork(place: Place) -> list[Cost]:
    """Four sessions behind one head on two slots; the head is computed by the first."""
    rows: list[Cost] = []
    for number in range(4):
        async with place.model() as model:
            with place.session(model) as session:
                request, usage = await step(model, session, *opening(number))
        head = request.chunks[0].tokens or 0
        new = (request.new_tokens or 0) - (head if number else 0)
        rows.append(await cost(place, f"session {number + 1}", (request, usage), new))
    return rows


async def compaction(place: Place) -> list[Cost]:
    """A compaction behind a head of HEAD_TOKENS tokens; the summary is written beforehand and decoded by the engine."""
    place.prefix, head_tokens = await _long_headed(place)
    said = [Assistant(f"Pump {n} runs at {1400 + n} rpm.", "", (), Stop.END, b"") for n in range(8)]
    summary = Assistant("TASK: look at the pumps.\nFOUND: pumps 0 to 7 run at 1400 to 1407 rpm.", "", (), Stop.END, b"")
    events: list[Compacted] = []
    async with place.model() as model:
        replay = ReplayModel(model, model.client, model.dialect, [*said, summary, said[0]])

        def take(event: object) -> None:
            if isinstance(event, Compacted):
                events.append(event)

        async def asked(request: Request, sampling: Sampling) -> Reply:
            return await ask(replay, request, sampling)

        with place.session(replay) as session:
            await step(replay, session, *opening(0))
            for number in range(1, 8):
                await step(replay, session, User(f"And pump {number}? " * 30))
            at = CompactAt(tokens=head_tokens + 600)
            compactor = Compactor(replay, session, asked, take, at=at, restorer=model.kv)
            await compactor.now("asked")
            session.append(User("Which of them is the slowest?"))
            request = await session.request()
            await compactor.warm(request)
            reply = await ask(replay, request)
            session.append(reply.message)
            session.finish_step(reply.usage, request.new_tokens)
            compactor.finish_step(request, reply.usage)
    if not events:
        raise KvFault("The session of this measurement could not be compacted.")
    told = events[0]
    cold, cold_ms = await place.cold(request)
    note = f"{told.tokens_before:,} tokens became {told.tokens_after:,}; {told.paid_s:.2f} s paid with the summary"
    new, ms = told.new_tokens or 0, reply.usage.prefill_ms
    return [Cost("compaction", told.tokens_after, told.computed_tokens, new, cold, ms, cold_ms, note)]


async def _long_headed(place: Place) -> tuple[Prefix, int]:
    """The prefix with a longer system text: its head has HEAD_TOKENS tokens, or half the context if that is less.

    Gives the tokens it was made for too.
    """
    async with place.model() as model:
        tokens = (await model.encoder.head(place.prefix)).tokens or 0
        more = len(await model.client.tokenize(_FILLER, False))
        wanted = min(HEAD_TOKENS, (model.context_tokens or HEAD_TOKENS) // 2)
    lines = -(-max(0, wanted - tokens) // more)
    return Prefix(place.prefix.system + "\n" + _FILLER * lines, place.prefix.tools), wanted


SCENARIOS = {"newsession": newsession, "restart": restart, "fork": fork, "compaction": compaction}


def table(rows: Sequence[Cost]) -> list[str]:
    """The rows for a terminal."""
    lines = [f"{'':34} {'presented':>9} {'computed':>9} {'new':>7} {'excess':>7} {'cold':>8} {'ms':>8} {'cold ms':>8}"]
    for row in rows:
        lines.append(
            f"{row.name:34} {row.presented:>9,} {row.computed:>9,} {row.new:>7,} {row.excess:>+7,} {row.cold:>8,} "
            f"{row.prefill_ms:>8,.0f} {row.cold_ms:>8,.0f}"
        )
        if row.note:
            lines.append(f"  {row.note}")
    return lines
