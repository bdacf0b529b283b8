"""`oasis bench depth`: one recorded job through several lanes of a real engine, each from an empty slot."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from oasis.agent.session import Session
from oasis.config import Settings
from oasis.core.items import Assistant, Stop, User
from oasis.core.prefix import Prefix
from oasis.engine.embedded import EmbeddedEngine
from oasis.engine.llama import LlamaClient
from oasis.engine.tiny import KINDS
from oasis.engine.weights import find_model
from oasis.errors import ConfigError
from oasis.measure.ask import ask
from oasis.measure.fit import fitted, prefill
from oasis.measure.habits import HABITS
from oasis.measure.job import Job
from oasis.measure.lanes import Rig, chat_lane, compacted_lane, habit_lane, token_lane
from oasis.measure.ledger import Ledger, Row
from oasis.measure.record import Recorder
from oasis.measure.resumed import step_elsewhere
from oasis.models.base import Lane
from oasis.models.chat import ChatModel
from oasis.models.connect import connect
from oasis.models.tokens import TokenModel

LANES = ("tokens", "chat", *HABITS)
TINY_CONTEXT_TOKENS = 65536
RECEIVED_PARTS = 40
"""Pieces of a message that have come when it is interrupted."""
_WINDOW = (
    "without checkpoints a sliding-window model runs with its whole cache (swa-full): llama.cpp does not go on from a "
    "saved window"
)
_GO_ON = User("Go on where you stopped.")


@dataclass(frozen=True)
class Plan:
    """What to run. `engine`: a tiny model's name, a GGUF file or a server's URL."""

    engine: str
    lanes: Sequence[str]
    job: Job
    prefix: Prefix
    settings: Settings
    has_checkpoints: bool = True
    compacts: bool = False

    @property
    def keeps_window(self) -> bool:
        """Whether a sliding-window model keeps its whole cache (EmbeddedEngine.start, swa_full)."""
        return self.compacts and not self.has_checkpoints


@dataclass
class Depth:
    """What came of it."""

    plan: Plan
    job: Job
    ledgers: list[Ledger] = field(default_factory=list[Ledger])
    notes: list[str] = field(default_factory=list[str])

    @property
    def faults(self) -> list[str]:
        return [f"{ledger.name}: {fault}" for ledger in self.ledgers for fault in ledger.faults]

    def as_json(self) -> dict[str, Any]:
        return {
            "engine": self.plan.engine,
            "checkpoints": self.plan.has_checkpoints,
            "steps": len(self.job.steps),
            "turns": self.job.turns,
            "shortened": self.job.shortened,
            "notes": self.notes,
            "lanes": {ledger.name: ledger.as_json() for ledger in self.ledgers},
        }


async def run(plan: Plan, say: Callable[[str], None]) -> Depth:
    """Run each lane on an engine of its own (on a server by URL: in a slot filled with something else first).

    Raises ConfigError, EngineFault, ServerFault, DialectFault.
    """
    if unknown := [lane for lane in plan.lanes if lane not in LANES]:
        raise ConfigError(f"There is no lane {unknown[0]!r}. There are: {', '.join(LANES)}.")
    if not plan.lanes:
        raise ConfigError(f"No lane was named. There are: {', '.join(LANES)}.")
    depth = Depth(plan, plan.job)
    for number, name in enumerate(plan.lanes):
        say(f"{name}: {len(plan.job.steps)} steps on {plan.engine}")
        async with _rig(plan, depth, is_first=number == 0) as rig:
            depth.ledgers.append(await _lane(rig, name, plan))
    return depth


async def _lane(rig: Rig, name: str, plan: Plan) -> Ledger:
    if name == "chat":
        return await chat_lane(rig)
    if name != "tokens":
        return await habit_lane(rig, name)
    ledger, path = await (compacted_lane(rig) if plan.compacts else token_lane(rig))
    if plan.keeps_window:
        ledger.notes.append(_WINDOW)
    await _interrupt(rig, ledger, path)
    await _resume(rig, ledger, path)
    return ledger


async def _interrupt(rig: Rig, ledger: Ledger, path: Path) -> None:
    """Close a stream in the middle of a message, then go on: what that costs beyond the new tokens."""
    text = " ".join(rig.job.text().split())[:1500]
    long, short = (Assistant(t, "", (), Stop.END, b"") for t in (text, "I go on."))
    model = rig.forced(rig.tokens, [long, short])
    session, _ = Session.resume(path, model)
    with session:
        session.append(User("Say once more what was found."))
        parts = 0
        async with aclosing(model.stream(await session.request())) as stream:
            async for _ in stream:
                parts += 1
                if parts == RECEIVED_PARTS:
                    break
        partial = model.partial()
        received = partial.wire.count(b",") + 1 if partial.wire else 0
        session.append(partial)
        session.append(_GO_ON)
        request = await session.request()
        reply = await ask(model, request)
        session.append(reply.message)
        session.finish_step(reply.usage, request.new_tokens)
    ledger.after["interrupt"] = Row.of(len(ledger.rows) + 1, reply.usage, request.new_tokens or 0)
    ledger.notes.append(f"the interrupted message was closed when {received} tokens of it had come")
    _agree(rig, ledger, "interrupt")


async def _resume(rig: Rig, ledger: Ledger, path: Path) -> None:
    usage, new_tokens = await step_elsewhere(rig.recorder.url, path, _GO_ON.text)
    ledger.after["resume"] = Row.of(len(ledger.rows) + 2, usage, new_tokens)
    _agree(rig, ledger, "resume")


def _agree(rig: Rig, ledger: Ledger, what: str) -> None:
    seen, booked = rig.recorder.completions[-1].computed_tokens, ledger.after[what].computed
    if seen != booked:
        ledger.faults.append(f"after the {what}: computed tokens booked {booked:,}, the recorder says {seen:,}")


@asynccontextmanager
async def _rig(plan: Plan, depth: Depth, *, is_first: bool) -> AsyncGenerator[Rig]:
    """An engine, a recorder in front of it, and both lanes' models behind the recorder."""
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="oasis-bench-", ignore_cleanup_errors=True)))
        url = await _engine(plan, folder, stack)
        client = LlamaClient(url, api_key=plan.settings.api_key)
        stack.push_async_callback(client.aclose)
        await client.health()
        recorder = await stack.enter_async_context(Recorder(url))
        behind = plan.settings.model_copy(update={"server": recorder.url, "model": ""})
        said: list[str] = []
        tokens = await connect(behind, Lane.TOKENS, said.append)
        chat = await connect(behind, Lane.CHAT, said.append)
        stack.push_async_callback(tokens.close)
        stack.push_async_callback(chat.close)
        if not isinstance(tokens.model, TokenModel) or not isinstance(chat.model, ChatModel):
            raise ConfigError(f"{plan.engine} is no llama.cpp server. This benchmark needs its token ids and timings.")
        if is_first:
            depth.job = await fitted(plan.job, tokens.model, client, plan.prefix, plan.engine)
            depth.notes += said
        await _fill(plan, client, tokens.model.slot)
        yield Rig(recorder, client, tokens.model, chat.model, plan.prefix, depth.job, folder)


async def _engine(plan: Plan, folder: Path, stack: AsyncExitStack) -> str:
    """The URL of the engine to measure, started here unless it is a server."""
    if plan.engine.startswith(("http://", "https://")):
        return plan.engine
    is_tiny = plan.engine in KINDS
    settings = plan.settings
    engine = await EmbeddedEngine.start(
        await asyncio.to_thread(find_model, plan.engine),
        log=folder / "engine.log",
        slot_dir=folder / "slots" if plan.compacts else None,
        context=settings.context or (TINY_CONTEXT_TOKENS if is_tiny else 0),
        threads=settings.threads or None,
        checkpoints=settings.checkpoints if plan.has_checkpoints else 0,
    )
    stack.push_async_callback(engine.stop)
    return engine.url


async def _fill(plan: Plan, client: LlamaClient, slot: int | None) -> None:
    """Put something else into a server's slot, so that every lane begins with nothing to reuse."""
    if plan.engine.startswith("http"):
        await prefill(client, (await client.tokenize("Nothing of the job.", False))[::-1], slot)
