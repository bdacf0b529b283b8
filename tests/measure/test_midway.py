"""A recorded job with a compaction in the middle, on real engines."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from oasis.agent.assembly import toolbox
from oasis.cli.main import app
from oasis.config import Settings
from oasis.measure.depth import Plan, run
from oasis.measure.job import load
from oasis.resources import shipped

pytestmark = pytest.mark.engine
KINDS = [
    ("tiny-dense", True),
    ("tiny-swa", False),
    ("tiny-hybrid", True),
    pytest.param("tiny-swa", True, marks=pytest.mark.campaign),
    pytest.param("tiny-hybrid", False, marks=pytest.mark.campaign),
]


@pytest.mark.parametrize(("engine", "has_checkpoints"), KINDS)
async def test_a_compaction_computes_its_instruction_summary_and_what_is_kept(engine: str, has_checkpoints: bool):
    job = load(shipped("fixtures/jobs/depth.jsonl")).first(8)
    plan = Plan(engine, ["tokens"], job, toolbox(Path()).prefix, Settings(threads=1), has_checkpoints, compacts=True)
    depth = await run(plan, lambda text: None)
    assert depth.faults == []
    [tokens] = depth.ledgers
    told = tokens.compaction
    assert told["tokens_after"] < told["tokens_before"]
    assert told["computed_tokens"] - told["new_tokens"] <= 16
    assert tokens.amplification <= 1.01
    assert tokens.after["resume"].excess == 0


def test_the_command_reports_the_compaction_as_json():
    wanted = ["--engine", "tiny-swa", "--lanes", "tokens", "--steps", "6", "--compact", "--json"]
    done = CliRunner().invoke(app, ["bench", "depth", *wanted])
    lane = json.loads(done.stdout)["lanes"]["tokens"]
    assert (done.exit_code, lane["compaction"]["reason"], len(lane["steps"])) == (0, "asked", 7)
