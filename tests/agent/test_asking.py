"""A server that fails, loads or stays away: the same request again where that can help."""

from pathlib import Path

from oasis.core.events import Retrying
from oasis.core.items import Assistant, User
from oasis.errors import ContextFull, ServerFault, ServerLoading, ServerUnreachable
from oasis.models.scripted import ScriptedModel, reply
from tests.agent.harness import build

TASK = [User("go")]


def failing(fault: Exception):
    def fail(request: object) -> Assistant:
        raise fault

    return fail


async def test_a_broken_connection_is_tried_again_with_the_same_request(tmp_path: Path):
    model = ScriptedModel([failing(ServerUnreachable("reset")), failing(ServerUnreachable("reset")), reply("ok")])
    bench = build(tmp_path, model)
    assert (await bench.agent.turn(TASK)).reason == "done"
    assert len({request.digest for request in model.requests}) == 1
    assert [event.attempt for event in bench.all(Retrying)] == [1, 2]
    assert bench.naps == sorted(bench.naps)


async def test_a_server_that_stays_away_ends_the_turn_and_loses_no_item(tmp_path: Path):
    bench = build(tmp_path, ScriptedModel([failing(ServerUnreachable("gone"))] * 6))
    finished = await bench.agent.turn(TASK)
    assert (finished.reason, finished.detail) == ("server", "gone")
    assert bench.session.transcript.items == tuple(TASK)
    assert bench.session.transcript.is_unanswered


async def test_nothing_is_sent_again_to_an_engine_that_has_ended(tmp_path: Path):
    bench = build(tmp_path, ScriptedModel([failing(ServerUnreachable("reset")), reply("never")]))
    bench.agent.is_gone = lambda: True
    finished = await bench.agent.turn(TASK)
    assert (finished.reason, finished.detail) == ("server", "the embedded engine has ended in the middle of a step")
    assert bench.naps == []
    assert bench.session.transcript.is_unanswered


async def test_an_engine_that_is_found_gone_after_a_pause_is_not_asked_again(tmp_path: Path):
    model = ScriptedModel([failing(ServerUnreachable("reset")), reply("never")])
    bench = build(tmp_path, model)
    bench.agent.is_gone = lambda: bool(bench.naps)
    assert (await bench.agent.turn(TASK)).reason == "server"
    assert len(model.requests) == 1


async def test_a_model_that_is_loading_is_waited_for_and_the_wait_is_seen(tmp_path: Path):
    bench = build(tmp_path, ScriptedModel([failing(ServerLoading("Loading model"))] * 8 + [reply("ok")]))
    assert (await bench.agent.turn(TASK)).reason == "done"
    assert {event.reason for event in bench.all(Retrying)} == {"Loading model"}


async def test_a_full_context_stops_with_its_own_reason(tmp_path: Path):
    bench = build(tmp_path, ScriptedModel([failing(ContextFull("too long", 4096))]))
    assert (await bench.agent.turn(TASK)).reason == "context_full"


async def test_an_answer_that_makes_no_sense_is_asked_for_twice_more_and_then_said(tmp_path: Path):
    model = ScriptedModel([failing(ServerFault("garbage"))] * 3)
    bench = build(tmp_path, model)
    finished = await bench.agent.turn(TASK)
    assert (finished.reason, finished.detail) == ("server", "garbage")
    assert len(model.requests) == 3
