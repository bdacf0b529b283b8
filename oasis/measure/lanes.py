"""One recorded job through one lane of a real engine, with a recorder in between."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from oasis.agent.session import Session
from oasis.core.events import as_json
from oasis.core.items import Assistant, NewItem, Notice, ToolOutput
from oasis.core.prefix import Prefix
from oasis.core.transcript import Chunk
from oasis.engine.llama import LlamaClient
from oasis.measure.ask import ask
from oasis.measure.blame import blame
from oasis.measure.count import ChatCount, new_ids
from oasis.measure.habits import HABITS, Messages, Sender
from oasis.measure.job import Job
from oasis.measure.ledger import Ledger, Row
from oasis.measure.midway import Midway, SavedHead, with_summary
from oasis.measure.record import Recorder
from oasis.models.base import Model
from oasis.models.chat import ChatModel
from oasis.models.chat_messages import ChatEncoder
from oasis.models.replay import Forcing, ReplayModel
from oasis.models.tokens import TokenModel

_UNCOUNTED = 0


@dataclass(frozen=True)
class Rig:
    """What a lane runs on.

    recorder   between the lane's client and the engine
    client     straight to the engine, for what is not the lane's own traffic
    tokens     the token lane's model, whose client goes through the recorder
    chat       the chat lane's model, likewise
    folder     for session files
    """

    recorder: Recorder
    client: LlamaClient
    tokens: TokenModel
    chat: ChatModel
    prefix: Prefix
    job: Job
    folder: Path

    @property
    def messages(self) -> list[Assistant]:
        return [step.written for step in self.job.steps]

    def forced(self, model: Model, messages: Sequence[Assistant]) -> ReplayModel:
        return ReplayModel(model, self.client, self.tokens.dialect, messages)


async def token_lane(rig: Rig) -> tuple[Ledger, Path]:
    """Oasis' token lane, and its session's file."""
    ledger, model = Ledger("tokens"), rig.forced(rig.tokens, rig.messages)
    with Session.create(rig.folder, rig.prefix, model, rig.folder, datetime.now(UTC)) as session:
        read = await _follow(rig.job, model, session, ledger)
    _check_tokens(rig, ledger, {})
    ledger.faults += _unread(rig.job, read)
    return ledger, session.path


async def compacted_lane(rig: Rig) -> tuple[Ledger, Path]:
    """The token lane with a compaction in the middle, the head's state saved first and restored for the new epoch."""
    before = len(rig.job.steps) // 2 + 1
    ledger, model = Ledger("tokens"), rig.forced(rig.tokens, with_summary(rig.job, before))
    head = SavedHead(rig.client, rig.tokens.slot)
    if fault := await head.save([int(i) for i in (await model.encoder.head(rig.prefix)).wire.split(b",")]):
        ledger.notes.append(f"the head was not saved: {fault}")
    with Session.create(rig.folder, rig.prefix, model, rig.folder, datetime.now(UTC)) as session:
        midway = Midway(session, model, ledger, before, head)
        read = await _follow(rig.job, model, session, ledger, midway)
    _check_tokens(rig, ledger, {before: head.usage.prompt_tokens})
    ledger.faults += _unread(rig.job, read)
    first, usage = ledger.rows[0], head.usage
    ledger.rows[0] = replace(
        first,
        cached=first.cached - usage.computed_tokens,
        computed=first.computed + usage.computed_tokens,
        prefill_ms=first.prefill_ms + usage.prefill_ms,
    )
    ledger.notes.append(
        f"the head of {usage.prompt_tokens:,} tokens was prefilled and saved first; step 1 counts that as computed"
    )
    told = midway.compacted
    if told is None:
        ledger.faults.append("nothing was compacted")
        return ledger, session.path
    ledger.compaction = as_json(told)
    ledger.notes.append(
        f"steps {before} and {before + 1} are the summary (made from the recording, decoded by the engine) and the "
        f"first of the next epoch: {told.tokens_before:,} tokens became {told.tokens_after:,}; "
        f"{told.computed_tokens:,} computed, {told.new_tokens or 0:,} new; {told.paid_s:.2f} s paid, "
        f"{told.cold_s or 0:.2f} s cold"
    )
    return ledger, session.path


def _check_tokens(rig: Rig, ledger: Ledger, epochs: Mapping[int, int]) -> None:
    seen = rig.recorder.completions
    ledger.check("computed tokens", [row.computed for row in ledger.rows], [e.computed_tokens for e in seen])
    ledger.check("new tokens", [row.new for row in ledger.rows], new_ids(seen, epochs))


async def chat_lane(rig: Rig) -> Ledger:
    """Oasis' chat lane. It sees no tokens: what was new is counted from the recorder's requests alone."""
    ledger, model = Ledger("chat"), rig.forced(rig.chat, rig.messages)
    with Session.create(rig.folder, rig.prefix, model, rig.folder, datetime.now(UTC)) as session:
        await _follow(rig.job, model, session, ledger)
    await _count_chat(rig, ledger, model.written)
    return ledger


async def habit_lane(rig: Rig, name: str) -> Ledger:
    """The same job by a harness with one ordinary habit, over the chat API."""
    ledger, forcing, encoder = Ledger(name), Forcing(rig.client, rig.tokens.dialect), ChatEncoder()
    tools = [tool.function() for tool in rig.prefix.tools]
    messages = _objects(await encoder.head(rig.prefix))
    said: list[Assistant] = []
    written: list[str] = []
    async with Sender(rig.recorder.url, tools, rig.chat.extra) as sender:
        for step in rig.job.steps:
            messages += _objects(await encoder.batch(rig.prefix, said, step.new))
            text = forcing.text(rig.prefix, step.written)
            answer = await sender.send(HABITS[name](messages, step.number), await forcing.sampling(text))
            said = [forcing.as_sent(step.written, text)]
            messages += _objects(Chunk(said[0].wire, None))
            written.append(text)
            ledger.rows.append(Row.of(step.number, answer.usage, _UNCOUNTED))
    await _count_chat(rig, ledger, written)
    return ledger


def _objects(chunk: Chunk) -> Messages:
    return json.loads(b"[" + chunk.wire + b"]")


async def _follow(
    job: Job, model: ReplayModel, session: Session, ledger: Ledger, midway: Midway | None = None
) -> list[Assistant]:
    """The job's steps through a session, booked as the loop books them; the messages as they were read."""
    read: list[Assistant] = []
    for step in job.steps:
        for item in answering(step.new, read[-1] if read else None):
            session.append(item)
        if midway:
            await midway.at(step)
        request = await session.request()
        if midway:
            await midway.warm(request)
        reply = await ask(model, request)
        session.append(reply.message)
        session.finish_step(reply.usage, request.new_tokens)
        read.append(reply.message)
        ledger.rows.append(Row.of(len(ledger.rows) + 1, reply.usage, request.new_tokens or _UNCOUNTED))
        if midway:
            midway.finish(request, reply.usage)
    return read


def answering(new: Sequence[NewItem], last: Assistant | None) -> list[NewItem]:
    """The recorded items as answers to the calls that the model's message now holds, in call order.

    An output whose call was not read out of the message is told as a notice, as the loop would have to.
    """
    calls = iter(last.calls if last else ())
    items: list[NewItem] = []
    for item in new:
        if not isinstance(item, ToolOutput):
            items.append(item)
        elif call := next(calls, None):
            items.append(replace(item, call_id=call.id, name=call.name))
        else:
            items.append(Notice(item.text))
    return items


async def _count_chat(rig: Rig, ledger: Ledger, written: Sequence[str]) -> None:
    """Put in what was new, and hold what was booked against what the recorder saw."""
    seen, count = rig.recorder.completions, ChatCount(rig.client)
    new = await count.new(seen, written)
    ledger.rows = [replace(row, new=tokens) for row, tokens in zip(ledger.rows, new, strict=True)]
    ledger.check("computed tokens", [row.computed for row in ledger.rows], [e.computed_tokens for e in seen])
    prompts = [len(await count.prompt(json.loads(exchange.body))) for exchange in seen]
    ledger.check("presented tokens", [row.presented for row in ledger.rows], prompts)
    broken = blame([(await count.rendered(json.loads(exchange.body))).encode() for exchange in seen])
    if broken:
        ledger.notes.append(f"as the server's template renders it, {broken}")


def _unread(job: Job, read: Sequence[Assistant]) -> list[str]:
    """Messages whose calls were not read back as recorded."""
    return [
        f"step {step.number}: {len(step.written.calls)} calls were decoded, {len(message.calls)} were read"
        for step, message in zip(job.steps, read, strict=True)
        if len(step.written.calls) != len(message.calls)
    ]
