"""What a session file keeps of a compaction, and how it goes on from there."""

import asyncio
from pathlib import Path

import pytest

from oasis.agent.compaction_seed import sizes
from oasis.agent.export import as_markdown
from oasis.agent.kept import load
from oasis.agent.session import Session
from oasis.agent.sessions import first_task
from oasis.core.items import ToolOutput, User
from oasis.models.base import Lane
from oasis.models.scripted import Held, ScriptedModel, reply
from tests.agent.compacting import GOOD, TASK, Counting, long_job, look, run
from tests.agent.harness import build


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


async def test_a_summary_that_never_became_an_epoch_measures_no_prompt(tmp_path: Path):
    held = Held(reply(GOOD))
    model = Counting([*(look(n) for n in range(4)), reply("done"), reply(""), held], Lane.CHAT)
    bench = build(tmp_path, model)
    await bench.agent.turn(TASK)
    before = sizes(bench.session.transcript, bench.session.last_usage)
    task = asyncio.create_task(bench.agent.compact())
    await held.reached.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert sizes(bench.session.transcript, bench.session.last_usage) == before
    bench.session.close()
    session, kept = Session.resume(bench.session.path, model)
    with session:
        assert sizes(session.transcript, session.last_usage) == before
        assert kept.steps == 6
