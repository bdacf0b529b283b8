"""The benchmark on real engines: the token lane computes what is new and nothing else."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from oasis.agent.assembly import toolbox
from oasis.cli.main import app
from oasis.config import Settings
from oasis.errors import ConfigError, ServerUnreachable
from oasis.measure.depth import Plan, run
from oasis.measure.depth_text import lines
from oasis.measure.job import load
from oasis.measure.ledger import Ledger
from oasis.resources import shipped

pytestmark = pytest.mark.engine
ONE_THREAD = Settings(threads=1)


def plan(engine: str, *lanes: str, steps: int = 12, has_checkpoints: bool = True) -> Plan:
    job = load(shipped("fixtures/jobs/depth.jsonl")).first(steps)
    return Plan(engine, lanes, job, toolbox(Path()).prefix, ONE_THREAD, has_checkpoints)


async def measured(wanted: Plan) -> list[Ledger]:
    depth = await run(wanted, lambda text: None)
    assert depth.faults == []
    return depth.ledgers


@pytest.mark.parametrize("engine", ["tiny-swa", "tiny-hybrid"])
async def test_the_token_lane_computes_exactly_what_is_new_over_turns_faults_and_a_resume(engine: str):
    [tokens] = await measured(plan(engine, "tokens"))
    assert tokens.deviations() == []
    assert tokens.amplification == 1.0
    assert tokens.after["resume"].excess == 0
    assert tokens.after["interrupt"].excess <= 40 + 50  # what was received, and 40


async def test_without_checkpoints_a_hybrid_loses_its_prompt_at_an_interrupt_only():
    [tokens] = await measured(plan("tiny-hybrid", "tokens", steps=3, has_checkpoints=False))
    assert tokens.deviations() == []
    assert tokens.after["interrupt"].cached == 0


async def test_ordinary_habits_compute_much_more_than_the_chat_lane():
    chat, clock, dropped, pruned = await measured(plan("tiny-swa", "chat", "clock", "dropped", "pruned", steps=8))
    assert chat.amplification < 1.02
    assert [row.step for row in chat.rows if row.excess] == [8]  # arguments that are no JSON go back wrapped
    assert clock.amplification > 3
    assert dropped.amplification > 1.05
    assert pruned.amplification > 1.5


async def test_the_report_tells_steps_totals_and_deviations():
    depth = await run(plan("tiny-swa", "chat", "clock", steps=2), lambda text: None)
    report = "\n".join(lines(depth))
    assert "chat: Oasis, chat lane" in report
    assert "every step computed exactly its new tokens" in report
    assert "step 2 computed" in report


def test_the_command_prints_the_amplification_of_each_lane_as_json():
    done = CliRunner().invoke(
        app, ["bench", "depth", *["--engine", "tiny-swa", "--lanes", "chat", "--steps", "2", "--json"]]
    )
    lane = json.loads(done.stdout)["lanes"]["chat"]
    assert (done.exit_code, lane["amplification"], lane["deviations"], len(lane["steps"])) == (0, 1.0, [], 2)


async def test_an_unknown_lane_is_an_error_that_names_the_known_ones():
    with pytest.raises(ConfigError, match=r"no lane 'fast'.*tokens, chat, clock, dropped, pruned"):
        await run(plan("tiny-dense", "fast"), lambda text: None)


async def test_a_server_that_is_not_there_is_named_by_its_own_address(unused_tcp_port: int):
    url = f"http://127.0.0.1:{unused_tcp_port}"
    with pytest.raises(ServerUnreachable, match=url):
        await run(plan(url, "tokens", steps=1), lambda text: None)


def test_a_recorder_that_counts_otherwise_is_a_fault():
    ledger = Ledger("tokens")
    ledger.check("computed tokens", [5, 6], [5, 7])
    assert ledger.faults == ["step 2: computed tokens booked 6, the recorder says 7"]
