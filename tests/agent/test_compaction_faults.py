"""Compaction where a server refuses, fails or is interrupted: the old epoch stays, or less is shown."""

import asyncio
from pathlib import Path

import pytest

from oasis.agent.compaction_policy import CompactAt
from oasis.agent.compaction_seed import carried, dropped
from oasis.core.events import Compacted, Compacting
from oasis.core.items import Assistant, Notice, Status, Stop, ToolOutput, User
from oasis.errors import ContextFull, ServerFault
from oasis.models.scripted import Held, ScriptedModel, reply
from tests.agent.compacting import AT, GOOD, LONG, ROOM, TASK, look, refusing, run, said
from tests.agent.harness import build


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
