"""A session that goes on with another model."""

from pathlib import Path

from oasis.agent.other_model import price, seed_for
from oasis.agent.session import Session
from oasis.core.items import Notice, Status, ToolOutput, User
from oasis.models.scripted import ScriptedModel, call, reply
from tests.agent.harness import OPEN, build


async def held(folder: Path) -> tuple[Session, ScriptedModel]:
    model = ScriptedModel([reply("", call("look", text="a")), reply("It is a."), reply("Gone on.")])
    bench = build(folder, model)
    await bench.agent.turn([Notice("AGENTS.md: be brief"), User("what is it?")])
    return bench.session, model


async def test_the_conversation_is_told_as_text_behind_the_first_notices(tmp_path: Path):
    session, _ = await held(tmp_path)
    opening, told = seed_for(session.transcript.items, None)
    assert opening == Notice("AGENTS.md: be brief")
    assert told.text.endswith(
        'Engineer: what is it?\n\nCall look {"text": "a"}\n\nOutput of look (ok): look did a\n[end]\n\nModel: It is a.'
    )


def test_what_is_told_is_bounded_by_the_new_models_context():
    items = [User("x" * 1000) for _ in range(100)]
    (told,) = seed_for(items, 2_000)
    assert len(told.text) < 4_000
    assert "the beginning is left out" in told.text
    assert "characters left out" in seed_for([ToolOutput("c", "read", "x" * 5_000, Status.OK)], None)[0].text


def test_readings_take_a_token_for_each_digit_of_the_new_models_context():
    (told,) = seed_for([User("0123456789 " * 40) for _ in range(100)], 2_000)
    assert sum(map(str.isdigit, told.text)) <= 1_000
    assert len(told.text) > 900


async def test_a_price_is_told_before(tmp_path: Path):
    session, _ = await held(tmp_path)
    asked = price(session.transcript.prefix, seed_for(session.transcript.items, None), 2.0)
    size = len(session.transcript.prefix.wire) / 3.5
    assert asked.tokens > size
    assert asked.words() == f"A new epoch begins: about {asked.tokens:,} tokens are computed anew, about " + (
        f"{asked.tokens * 0.002:,.0f} s at the present model's rate."
    )


async def test_the_session_goes_over_in_one_record_and_is_resumed_with_the_new_model_only(tmp_path: Path):
    session, _ = await held(tmp_path)
    other = ScriptedModel([reply("Hello from here."), reply("And again.")], name="other")
    await session.change_model(other, session.transcript.prefix, seed_for(session.transcript.items, None))
    bench = build(tmp_path, other, session=session)
    await bench.agent.turn([User("and now?")])
    request = other.requests[0]
    assert request.epoch == 1
    assert request.new_tokens == request.tokens
    path, items = session.path, session.transcript.items
    session.close()
    OPEN.clear()
    again, _ = Session.resume(path, other)
    OPEN.append(again)
    assert again.transcript.items == items
    assert (await again.request()).wire.startswith(request.wire)
