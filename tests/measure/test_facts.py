"""Facts that were read early are still known after several compactions, on a real engine and in the real loop."""

import json

import pytest
from typer.testing import CliRunner

from oasis.cli.main import app
from oasis.measure.facts_job import facts, known_in, recited, stated_in, summary


@pytest.mark.engine
def test_facts_read_early_are_known_at_the_end_and_nothing_is_computed_twice():
    wanted = ["--engine", "tiny-swa", "--steps", "70", "--context", "12800", "--json"]
    done = CliRunner().invoke(app, ["bench", "facts", *wanted])
    found = json.loads(done.stdout)
    assert (done.exit_code, found["right"], found["asked"], found["ended"]) == (0, 30, 30, ["done"])
    assert len(found["compactions"]) >= 2
    for one in found["compactions"]:
        assert one["told"]["computed_tokens"] - one["told"]["new_tokens"] <= 16
        assert one["after"] == one["stated"]
    assert found["amplification"] <= 1.01


def test_what_is_recited_comes_from_the_prompt_alone():
    one, other = facts()[3], facts()[4]
    prompt = f"{one.line}\n{other.line}\nDo not call a tool."
    assert known_in(recited(prompt).text) == {one, other}
    assert recited(f"{one.line}\nWhat is the set point of {one.name}?").text == one.value
    assert recited(f"{one.line}\nWhat is the set point of {other.name}?").text == "unknown"
    assert stated_in(summary([one])) == {one}


def test_the_facts_are_thirty_and_no_two_alike():
    assert len({fact.name for fact in facts()}) == len({fact.value for fact in facts()}) == 30
