"""What fills the context: in the token lane the parts add up to the prompt, to the token."""

from pathlib import Path

import pytest

from oasis.agent.compaction_seed import carried
from oasis.agent.context import fill
from oasis.agent.filling import ORDER, Tally
from oasis.core.items import Notice, ToolOutput, User
from oasis.core.prefix import Prefix
from oasis.core.tool import ToolSpec
from oasis.core.transcript import Transcript
from oasis.core.usage import Usage
from oasis.engine.embedded import EmbeddedEngine
from oasis.models.base import Lane
from oasis.models.scripted import ScriptedModel, call, reply
from tests.agent.harness import build
from tests.models.engine_session import CALL, EngineSession, token_model

SCRIPT = [
    reply("Let me look.", call("look", "c1", text="a"), call("change", "c2", text="b"), reasoning="Think first."),
    reply("It is done."),
]


def tokens(filling) -> dict[str, int]:
    return {part.name: part.tokens for part in filling.parts}


async def a_turn(folder: Path, lane: Lane):
    model = ScriptedModel(SCRIPT, lane, context_tokens=10_000)
    bench = build(folder, model)
    await bench.agent.turn([Notice("The directory."), User("Go on.")])
    return model, bench


async def test_the_parts_add_up_to_the_prompt(tmp_path: Path):
    model, bench = await a_turn(tmp_path, Lane.TOKENS)
    filling = await fill(bench.session.transcript, model, bench.session.last_usage)
    chunks = bench.session.transcript.chunks
    assert filling.used == sum(chunk.tokens for chunk in chunks)
    assert filling.free == 10_000 - filling.used
    assert filling.is_exact
    assert [part.name for part in filling.parts] == [
        "system text",
        "MCP servers' tools",
        "first notices",
        "what you wrote",
        "the model's text",
        "the model's reasoning",
        "tool calls",
        "tool outputs",
    ]
    assert [name for name, _ in filling.parts[-1].detail] == ["change", "look"]


async def test_the_heads_parts_are_counted_one_by_one(tmp_path: Path):
    specs = [ToolSpec(name, "x" * 10, {}) for name in ("read", "plant_read", "cad_open")]
    prefix = Prefix("System.", tuple(specs))
    model = ScriptedModel([])
    transcript = Transcript(prefix, model.encoder)
    parts = tokens(await fill(transcript, model, None))
    assert list(parts) == ["system text", "built-in tools", "packs' tools", "MCP servers' tools"]
    assert [parts[name] for name in list(parts)[1:]] == [len(spec.wire) + 1 for spec in specs]
    assert sum(parts.values()) == len(prefix.wire)


async def test_what_waits_to_be_sent_is_in_it_and_said(tmp_path: Path):
    model, bench = await a_turn(tmp_path, Lane.TOKENS)
    before = await fill(bench.session.transcript, model, None)
    bench.session.append(Notice("x" * 1000))
    after = await fill(bench.session.transcript, model, None)
    assert after.used == before.used + after.waiting
    assert tokens(after)["later notices"] == after.waiting > 100
    assert "wait to be sent" in after.said


async def test_the_summary_of_an_epoch_is_a_part_of_its_own(tmp_path: Path):
    model, bench = await a_turn(tmp_path, Lane.TOKENS)
    seed = [Notice("The directory."), Notice(f"{carried().strip()}\n\nAll is well."), User("Go on.")]
    transcript = await bench.session.transcript.next_epoch(seed)
    await transcript.request()
    parts = tokens(await fill(transcript, model, None))
    assert parts["summary"] > parts["first notices"] > 0


async def test_the_chat_lane_says_that_it_estimates_and_comes_near_the_servers_count(tmp_path: Path):
    model, bench = await a_turn(tmp_path, Lane.CHAT)
    presented = 500
    filling = await fill(bench.session.transcript, model, Usage(prompt_tokens=presented))
    last = bench.session.transcript.chunks[-1]
    assert not filling.is_exact and filling.said.startswith("Estimated")
    before_last = sum(len(c.wire) for c in bench.session.transcript.chunks) - len(last.wire)
    assert filling.used == pytest.approx(presented * (1 + len(last.wire) / before_last), rel=0.25)


def test_what_is_shared_out_is_shared_to_the_last_token():
    tally = Tally()
    tally.share(10, {("tool outputs", "a"): 1, ("tool outputs", "b"): 1, ("what you wrote", ""): 1})
    tally.share(3, {("later notices", ""): 0})
    assert {part.name: part.tokens for part in tally.parts()} == {
        "tool outputs": 7,
        "what you wrote": 3,
        "later notices": 3,
    }
    assert [part.name for part in tally.parts()] == [n for n in ORDER if n in {p.name for p in tally.parts()}]


@pytest.mark.engine
async def test_on_a_real_engine_the_parts_add_up_to_the_prompt_that_the_server_counted(dense_engine: EmbeddedEngine):
    async with token_model(dense_engine) as model:
        session = EngineSession(model)
        await session.step("<think>\nLook.\n</think>" + CALL, Notice("The directory."), User("Convert a.st."))
        _, answer = await session.step("Done.", ToolOutput("c1", "read", "VAR x : INT; END_VAR\n" * 20))
        filling = await fill(session.transcript, model, answer.usage)
        generated = session.transcript.chunks[-1].tokens
    assert filling.used == answer.usage.prompt_tokens + generated
    parts = tokens(filling)
    assert parts["system text"] > parts["built-in tools"] > 0
