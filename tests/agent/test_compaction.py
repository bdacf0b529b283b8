"""Compaction: a summary behind the live prefix, then the same head, the summary and the last exchanges."""

import json
from pathlib import Path

import pytest

from oasis.agent.compaction_policy import CompactAt
from oasis.agent.compaction_seed import carried, dropped
from oasis.core.events import Compacted, Compacting, Said, StepFinished, Text
from oasis.core.items import Assistant, Notice, Stop, ToolOutput, User
from oasis.models.base import Lane
from oasis.models.call_ids import call_ids
from oasis.models.scripted import ScriptedModel, call, reply
from tests.agent.compacting import GOOD, LONG, ROOM, TASK, Counting, is_asked, long_job, look, run, said
from tests.agent.harness import build


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


async def test_calls_of_neighbouring_epochs_never_share_an_id(tmp_path: Path):
    _, model = await run(tmp_path, long_job(reply(GOOD)))
    ids = [call_ids(request)() for request in model.requests]
    assert len(set(ids)) == len(ids)
    assert all(len(one) == 9 and one.isalnum() for one in ids)


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


async def test_messages_are_compacted_by_what_the_server_says_they_are(tmp_path: Path):
    model = Counting(long_job(reply(GOOD), steps=6), Lane.CHAT, context_tokens=3_000)
    bench = build(tmp_path, model)
    assert (await bench.agent.turn(TASK)).reason == "done"
    [event] = bench.all(Compacted)
    assert (event.reason, event.new_tokens) == ("limit", None)
    assert 1_500 < event.tokens_before < 3_000
    assert event.tokens_after < event.tokens_before
    assert model.requests[-1].wire.startswith(model.requests[0].chunks[0].wire)
