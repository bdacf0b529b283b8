"""Compaction: a summary behind the live prefix, then the same head, the summary and the last exchanges."""

import asyncio
import json
from pathlib import Path

import pytest

from oasis.agent.compaction_policy import CompactAt
from oasis.agent.compaction_seed import carried, dropped, sizes
from oasis.agent.export import as_markdown
from oasis.agent.kept import load
from oasis.agent.session import Session
from oasis.agent.sessions import first_task
from oasis.core.events import Compacted, Compacting, Said, StepFinished, Text
from oasis.core.items import Assistant, Notice, Status, Stop, ToolOutput, User
from oasis.core.transcript import Request
from oasis.core.usage import Usage
from oasis.errors import ContextFull, ServerFault
from oasis.models.base import Lane
from oasis.models.call_ids import call_ids
from oasis.models.scripted import Held, ScriptedModel, call, reply
from tests.agent.harness import Bench, build

ROOM = 16_000
AT = CompactAt(tokens=7_000)
LONG = "".join(f"HR {40000 + n} supply reads {n * 7 % 97}.5 degC; " for n in range(60))
TASK = [Notice("Directory: /plant"), User("Convert the boiler."), *()]
GOOD = "TASK: convert the boiler.\nFACTS: HR 40012 is 63.5 degC."


def look(number: int, size: int = 1_400) -> Assistant:
    return reply(LONG[:size], call("look", f"c{number}", text=str(number)))


def is_asked(request: Request) -> bool:
    return "Write the summary" in bytes(int(i) for i in request.chunks[-1].wire.split(b",")).decode()


def said(request: Request) -> str:
    if request.tokens is None:
        return request.wire.decode()
    return bytes(int(i) for i in request.wire.split(b",")).decode()


def long_job(*summaries: object, steps: int = 5) -> list[object]:
    return [*(look(n) for n in range(steps)), *summaries, reply("done")]


async def run(folder: Path, script: list[object], at: CompactAt | None = AT, room: int = ROOM) -> tuple[Bench, object]:
    model = ScriptedModel(script, context_tokens=room)
    bench = build(folder, model, compact_at=at)
    finished = await bench.agent.turn(TASK)
    assert finished.reason == "done", finished
    return bench, model


async def test_the_summary_is_asked_for_behind_the_live_prefix_with_the_last_outputs(tmp_path: Path):
    _, model = await run(tmp_path, long_job(reply(GOOD)))
    before, asked, after = model.requests[-3:]
    assert asked.wire.startswith(before.wire)
    assert is_asked(asked)
    assert "look did 4" in said(asked)
    assert after.epoch == before.epoch + 1


async def test_the_next_epoch_is_the_head_the_opening_the_summary_and_the_last_exchanges(tmp_path: Path):
    bench, model = await run(tmp_path, long_job(reply(GOOD)))
    opening, summary, user, *rest = bench.session.transcript.items
    assert (opening, user) == (TASK[0], TASK[1])
    assert summary == Notice(f"{carried()}\n\n{GOOD}")
    assert [type(item) for item in rest] == [Assistant, ToolOutput, Assistant]
    assert rest[1].call_id == "c4"
    assert model.requests[-1].chunks[0] == model.requests[0].chunks[0]
    assert "look did 3" not in said(model.requests[-1])


async def test_messages_that_are_kept_are_sent_exactly_as_they_came(tmp_path: Path):
    bench, model = await run(tmp_path, long_job(reply(GOOD)))
    kept = next(item for item in bench.session.transcript.items if isinstance(item, Assistant))
    assert kept.wire in model.requests[-2].wire
    assert kept.wire in model.requests[-1].wire


async def test_everything_but_the_head_is_new_once_in_the_next_epoch(tmp_path: Path):
    _, model = await run(tmp_path, long_job(reply(GOOD), look(9)))
    first, second = model.requests[-2:]
    assert first.new_tokens == sum(chunk.tokens for chunk in first.chunks[1:])
    assert second.new_tokens == 1 + second.chunks[-1].tokens


async def test_the_summary_counts_as_a_step_and_is_not_shown_as_an_answer(tmp_path: Path):
    bench, model = await run(tmp_path, long_job(reply(GOOD)))
    assert bench.session.steps == len(bench.all(StepFinished)) == len(model.requests)
    assert all("FACTS" not in event.text for event in bench.all(Text))
    assert sum(event.new_tokens for event in bench.all(StepFinished)) == bench.session.new_tokens


async def test_what_it_cost_is_told_and_logged(tmp_path: Path):
    bench, model = await run(tmp_path, long_job(reply(GOOD)))
    [started], [event] = bench.all(Compacting), bench.all(Compacted)
    asked, after = model.requests[-2:]
    assert started.reason == event.reason == "limit"
    assert started.prompt_tokens == event.tokens_before
    assert (event.epoch, event.tokens_after) == (1, after.tokens)
    assert event.computed_tokens == event.new_tokens == asked.new_tokens + after.new_tokens
    assert (event.has_summary, event.kept_exchanges, event.dropped_exchanges) == (True, 1, 0)
    records = [json.loads(line) for line in bench.session.path.read_bytes().splitlines()]
    assert [r["tokens_after"] for r in records if r["kind"] == "compacted"] == [after.tokens]


async def test_it_does_not_come_twice_for_one_cause(tmp_path: Path):
    bench, _ = await run(tmp_path, long_job(reply(GOOD), look(10, 100), look(11, 100)), at=CompactAt(tokens=7_000))
    assert len(bench.all(Compacted)) == 1


async def test_a_long_job_is_compacted_again_and_only_the_newest_summary_stays(tmp_path: Path):
    more = [look(n) for n in range(10, 14)]
    bench, _ = await run(tmp_path, long_job(reply(GOOD), *more, reply("FACTS: new")))
    assert [event.epoch for event in bench.all(Compacted)] == [1, 2]
    summaries = [i.text for i in bench.session.transcript.items if isinstance(i, Notice) and carried() in i.text]
    assert summaries == [f"{carried()}\n\nFACTS: new"]
    assert bench.session.transcript.items[0] == TASK[0]


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        (reply("  "), "it was empty"),
        (reply("", call("look", "x1", text="a")), "it was empty"),
        (reply("FACTS: HR 4", stop=Stop.LENGTH), "it was cut off"),
        (reply("FACTS: " + "".join(f"tag {n} is {n * 7}. " for n in range(200))), "it was too long"),
        (reply("The boiler is warm and the pump is on. " * 100), "it repeated itself"),
    ],
)
async def test_a_summary_that_cannot_be_used_is_asked_for_once_more(tmp_path: Path, bad: Assistant, why: str):
    bench, model = await run(tmp_path, long_job(bad, reply(GOOD)))
    again = model.requests[-2]
    assert why in said(again)
    assert again.wire.startswith(model.requests[-3].wire)
    assert bench.runs.texts == [str(n) for n in range(5)]
    assert bench.session.transcript.items[1].text.endswith(GOOD)


async def test_a_summary_that_is_only_too_long_is_better_than_none(tmp_path: Path):
    long = "FACTS: " + "".join(f"tag {n} is {n * 7}. " for n in range(50))
    bench, _ = await run(tmp_path, long_job(reply(long), reply("")))
    [event] = bench.all(Compacted)
    assert event.has_summary
    assert bench.session.transcript.items[1] == Notice(f"{carried()}\n\n{long.strip()}")


async def test_where_a_bad_summary_left_no_room_it_is_asked_for_again_with_less_shown(tmp_path: Path):
    endless = reply("The boiler is warm and the pump is on. " * 200)
    bench, model = await run(tmp_path, long_job(endless, reply(GOOD)))
    first, again = model.requests[-3:-1]
    assert again.tokens < first.tokens
    assert again.wire.startswith(first.chunks[0].wire)
    assert bench.all(Compacted)[0].dropped_exchanges == 0


async def test_without_a_usable_summary_the_oldest_exchanges_are_dropped_whole_and_that_is_said(tmp_path: Path):
    bench, _ = await run(tmp_path, long_job(reply(""), reply("")))
    [event] = bench.all(Compacted)
    items = bench.session.transcript.items
    assert (event.has_summary, event.dropped_exchanges + event.kept_exchanges) == (False, 5)
    assert event.kept_exchanges == 2
    assert items[1] == Notice(dropped())
    assert [i.call_id for i in items if isinstance(i, ToolOutput)] == ["c3", "c4"]
    assert any("dropped" in said.text for said in bench.all(Said))


async def test_without_a_usable_summary_the_one_before_it_stays(tmp_path: Path):
    more = [look(n) for n in range(10, 14)]
    bench, _ = await run(tmp_path, long_job(reply(GOOD), *more, reply(""), reply("")))
    items = bench.session.transcript.items
    assert items[1:3] == (Notice(f"{carried()}\n\n{GOOD}"), Notice(dropped()))


def refusing(limit: int, n_ctx: int | None):
    """A model that refuses prompts of `limit` tokens and more, as a server does, and otherwise plays its script."""

    class Refusing(ScriptedModel):
        async def stream(self, request, sampling=None):
            if request.tokens >= limit:
                raise ContextFull("too long", n_ctx)
            async for part in super().stream(request, sampling):
                yield part

    return Refusing


async def test_a_refused_prompt_teaches_the_limit_and_the_request_goes_once_more(tmp_path: Path):
    model = refusing(9_000, 9_000)([*(look(n) for n in range(6)), reply(GOOD), reply("done")])
    bench = build(tmp_path, model)
    assert (await bench.agent.turn(TASK)).reason == "done"
    [event] = bench.all(Compacted)
    assert event.reason == "full"
    assert event.tokens_before >= 9_000 > event.tokens_after
    assert bench.runs.texts == [str(n) for n in range(6)]


async def test_what_the_summary_could_not_see_is_kept_word_for_word(tmp_path: Path):
    model = refusing(9_000, 9_000)([*(look(n) for n in range(6)), reply(GOOD), reply("done")])
    bench = build(tmp_path, model)
    await bench.agent.turn(TASK)
    asked, after = model.requests[-2:]
    seen = {n for n in range(6) if f"look did {n}" in said(asked)}
    kept = {n for n in range(6) if f"look did {n}" in said(after)}
    assert seen | kept == set(range(6))
    assert bench.all(Compacted)[0].dropped_exchanges == 0


async def test_where_the_first_prompt_of_an_epoch_is_refused_too_more_is_left_out(tmp_path: Path):
    class Shrunk(ScriptedModel):
        async def stream(self, request, sampling=None):
            if request.epoch == 1:
                raise ContextFull("too long", 5_000)
            async for part in super().stream(request, sampling):
                yield part

    model = Shrunk([*(look(n) for n in range(9)), reply(GOOD), reply("done")], context_tokens=18_000)
    bench = build(tmp_path, model, compact_at=CompactAt(tokens=13_000))
    assert (await bench.agent.turn(TASK)).reason == "done"
    assert [event.reason for event in bench.all(Compacting)] == ["limit", "full"]
    items = bench.session.transcript.items
    assert items[1:3] == (Notice(f"{carried()}\n\n{GOOD}"), Notice(dropped()))
    assert [i.call_id for i in items if isinstance(i, ToolOutput)] == ["c8"]


async def test_calls_of_neighbouring_epochs_never_share_an_id(tmp_path: Path):
    _, model = await run(tmp_path, long_job(reply(GOOD)))
    ids = [call_ids(request)() for request in model.requests]
    assert len(set(ids)) == len(ids)
    assert all(len(one) == 9 and one.isalnum() for one in ids)


async def test_a_context_that_even_a_compaction_cannot_make_room_in_ends_the_turn(tmp_path: Path):
    model = refusing(900, 900)([reply("ok")])
    bench = build(tmp_path, model)
    assert (await bench.agent.turn([User("x" * 2_000)])).reason == "context_full"


async def test_a_server_that_refuses_whatever_is_sent_ends_the_turn_and_not_in_a_circle(tmp_path: Path):
    class Never(ScriptedModel):
        refusals = 0

        async def stream(self, request, sampling=None):
            if len(self.requests) >= 5:
                self.refusals += 1
                raise ContextFull("too long", 12_000)
            async for part in super().stream(request, sampling):
                yield part

    model = Never([look(n) for n in range(5)])
    bench = build(tmp_path, model)
    assert (await bench.agent.turn(TASK)).reason == "context_full"
    assert model.refusals <= 6


async def test_a_message_cut_at_the_end_of_the_context_is_gone_on_with_after_a_compaction(tmp_path: Path):
    script = [*(look(n) for n in range(6)), reply(LONG[:2_000], stop=Stop.LENGTH), reply(GOOD), reply("whole")]
    bench, _ = await run(tmp_path, script, at=CompactAt(fraction=0.99), room=11_000)
    assert len(bench.all(Compacted)) == 1


async def test_zero_never_compacts_by_itself(tmp_path: Path):
    bench, _ = await run(tmp_path, long_job(), at=CompactAt.parse("0"))
    assert bench.all(Compacted) == []


async def test_between_turns_what_the_person_says_next_is_no_part_of_the_summary(tmp_path: Path):
    script = [*(look(n) for n in range(4)), reply(LONG[:1_500]), reply(GOOD), reply("second")]
    model = ScriptedModel(script, context_tokens=ROOM)
    bench = build(tmp_path, model, compact_at=CompactAt(tokens=7_400))
    await bench.agent.turn(TASK)
    assert bench.all(Compacted) == []
    await bench.agent.turn([User("And the pump?")])
    asked, after = model.requests[-2:]
    assert "And the pump?" not in said(asked)
    assert said(after).endswith("[user]And the pump?\n[model]")
    assert len(bench.all(Compacted)) == 1


async def test_on_request_it_comes_between_turns_and_the_next_prompt_is_short(tmp_path: Path):
    model = ScriptedModel([*(look(n) for n in range(3)), reply("done"), reply(GOOD), reply("more")])
    bench = build(tmp_path, model)
    await bench.agent.turn(TASK)
    assert await bench.agent.compact()
    assert bench.session.is_finished
    await bench.agent.turn([User("go on")])
    assert bench.all(Compacted)[0].reason == "asked"
    assert model.requests[-1].tokens < model.requests[-3].tokens


async def test_on_request_there_may_be_nothing_to_leave_out(tmp_path: Path):
    bench = build(tmp_path, ScriptedModel([reply("done")]))
    await bench.agent.turn(TASK)
    assert not await bench.agent.compact()
    assert bench.session.transcript.epoch == 0


async def test_a_server_that_fails_while_the_summary_is_written_leaves_the_old_epoch(tmp_path: Path):
    def fail(request: object) -> Assistant:
        raise ServerFault("garbage")

    model = ScriptedModel([*(look(n) for n in range(3)), reply("done"), fail, fail, fail, reply("more")])
    bench = build(tmp_path, model)
    await bench.agent.turn(TASK)
    before = bench.session.transcript.digest
    with pytest.raises(ServerFault, match="garbage"):
        await bench.agent.compact()
    assert bench.session.transcript.digest == before
    assert (await bench.agent.turn([User("go on")])).text == "more"


async def test_an_interrupt_in_the_summary_leaves_the_old_epoch_and_none_of_the_summary(tmp_path: Path):
    held = Held(reply("FACTS: half"))
    model = ScriptedModel([*(look(n) for n in range(5)), held, reply(GOOD), reply("done")], context_tokens=ROOM)
    bench = build(tmp_path, model, compact_at=AT)
    task = asyncio.create_task(bench.agent.turn(TASK))
    await held.reached.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert bench.session.transcript.epoch == 0
    assert "half" not in str(bench.session.transcript.items)
    assert (await bench.agent.turn([User("go on")])).reason == "done"
    assert [i.status for i in bench.session.transcript.items if isinstance(i, ToolOutput)] == [Status.OK]


async def test_an_interrupt_in_the_summary_of_a_refused_prompt_is_no_answer_to_it(tmp_path: Path):
    held = Held(reply("FACTS: half"))
    model = refusing(9_000, 9_000)([*(look(n) for n in range(6)), held, reply(GOOD), reply("done")])
    bench = build(tmp_path, model)
    task = asyncio.create_task(bench.agent.turn(TASK))
    await held.reached.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (await bench.agent.turn([User("go on")])).reason == "done"
    assert "half" not in str(bench.session.transcript.items)


@pytest.mark.parametrize("lane", list(Lane))
async def test_a_resumed_session_goes_on_in_its_last_epoch(tmp_path: Path, lane: Lane):
    script = [*(look(n) for n in range(3)), reply("done"), reply(GOOD), reply("more")]
    model = ScriptedModel(script, lane)
    bench = build(tmp_path, model)
    await bench.agent.turn(TASK)
    assert await bench.agent.compact()
    bench.session.append(User("go on"))
    expected = await bench.session.request()
    bench.session.close()
    session, kept = Session.resume(bench.session.path, model)
    with session:
        assert await session.request() == expected
        assert session.transcript.items == bench.session.transcript.items
        assert kept.steps == 5


async def test_every_cut_of_the_file_leaves_the_old_epoch_or_the_new_one_whole(tmp_path: Path):
    bench, model = await run(tmp_path, long_job(reply(GOOD)))
    bench.session.close()
    whole = bench.session.path.read_bytes()
    lines = whole.splitlines(keepends=True)
    at = next(n for n, line in enumerate(lines) if b'"kind":"epoch","epoch":1' in line)
    start = len(b"".join(lines[:at]))
    for cut in (
        start - 9,
        start,
        start + 1,
        start + len(lines[at]) // 2,
        start + len(lines[at]) - 2,
        start + len(lines[at]),
    ):
        bench.session.path.write_bytes(whole[:cut])
        session, _ = Session.resume(bench.session.path, model)
        with session:
            is_new = cut == start + len(lines[at])
            assert session.transcript.epoch == int(is_new)
            outputs = [i.call_id for i in session.transcript.items if isinstance(i, ToolOutput)]
            assert outputs == (["c4"] if is_new else [f"c{n}" for n in range(5)])
            request = await session.request()
        assert load(bench.session.path).epoch["epoch"] == request.epoch


async def test_the_file_keeps_every_epoch_and_the_summarys_making(tmp_path: Path):
    bench, _ = await run(tmp_path, long_job(reply(""), reply(GOOD)))
    kept = load(bench.session.path)
    [earlier] = kept.earlier
    assert [i.call_id for i in earlier if isinstance(i, ToolOutput)][:5] == [f"c{n}" for n in range(5)]
    assert earlier[-1].text == GOOD
    assert kept.items[-1].text == "done"


class Counting(ScriptedModel):
    """A chat server that says how long each prompt was: four bytes a token."""

    def _usage(self, request, message):
        return Usage(len(request.wire) // 4, 0, len(message.wire) // 4, is_cache_known=False)


async def test_messages_are_compacted_by_what_the_server_says_they_are(tmp_path: Path):
    model = Counting(long_job(reply(GOOD), steps=6), Lane.CHAT, context_tokens=3_000)
    bench = build(tmp_path, model)
    assert (await bench.agent.turn(TASK)).reason == "done"
    [event] = bench.all(Compacted)
    assert (event.reason, event.new_tokens) == ("limit", None)
    assert 1_500 < event.tokens_before < 3_000
    assert event.tokens_after < event.tokens_before
    assert model.requests[-1].wire.startswith(model.requests[0].chunks[0].wire)


async def test_a_document_of_the_session_shows_all_epochs(tmp_path: Path):
    bench, _ = await run(tmp_path, long_job(reply(GOOD)))
    kept = load(bench.session.path)
    text = as_markdown(bench.session.path)
    assert first_task(kept) == "Convert the boiler."
    assert all(f"look did {n}" in text for n in range(5))
    assert "## Compacted (" in text


async def test_a_resumed_chat_session_knows_how_long_its_prompt_was(tmp_path: Path):
    model = Counting([look(0), look(1), reply("done")], Lane.CHAT)
    bench = build(tmp_path, model)
    await bench.agent.turn(TASK)
    before = sizes(bench.session.transcript, bench.session.last_usage)
    bench.session.close()
    session, _ = Session.resume(bench.session.path, model)
    with session:
        assert sizes(session.transcript, session.last_usage) == before
