import json

import pytest

from oasis.core.items import Assistant, Notice, ToolOutput, User
from oasis.errors import ConfigError
from oasis.measure.job import Job, load
from oasis.resources import shipped, tool_spec


@pytest.fixture(scope="module")
def job() -> Job:
    return load(shipped("fixtures/jobs/depth.jsonl"))


def test_the_recorded_job_has_60_steps_in_6_turns_that_begin_with_the_user(job: Job):
    begun = [step.number for step in job.steps if any(isinstance(item, User) for item in step.new)]
    assert (len(job.steps), job.turns, begun) == (60, 6, [1, 11, 21, 31, 41, 51])


def test_every_output_answers_a_call_of_the_message_before_it_in_order(job: Job):
    before: Assistant | None = None
    for step in job.steps:
        outputs = [item.call_id for item in step.new if isinstance(item, ToolOutput)]
        assert outputs == [call.id for call in before.calls] if before else not outputs
        before = step.written


def test_turns_end_with_an_answer_and_steps_within_them_with_calls(job: Job):
    assert [step.number for step in job.steps if not step.written.calls] == [10, 20, 30, 40, 50, 60]


def test_the_job_holds_what_goes_wrong_in_real_ones(job: Job):
    calls = [call for step in job.steps for call in step.written.calls]
    assert any(call.fault for call in calls)
    assert any(len(step.written.calls) > 1 for step in job.steps)
    assert any(step.written.reasoning for step in job.steps)
    assert sum(isinstance(item, Notice) for step in job.steps for item in step.new) > 1


def test_sound_calls_fit_the_tools_they_name(job: Job):
    for call in (call for step in job.steps for call in step.written.calls if not call.fault):
        schema = tool_spec(call.name).parameters
        arguments = json.loads(call.arguments)
        assert set(schema["required"]) <= set(arguments) <= set(schema["properties"])


def test_a_job_cut_in_size_says_so_and_keeps_its_messages(job: Job):
    cut = job.scaled(8)
    longest = max(len(item.text) for step in cut.steps for item in step.new if isinstance(item, ToolOutput))
    assert longest <= 8000 / 8
    assert [step.written for step in cut.steps] == [step.written for step in job.steps]
    assert "1/8" in cut.shortened


def test_more_steps_than_were_recorded_is_an_error(job: Job):
    with pytest.raises(ConfigError, match="60 steps; 61"):
        job.first(61)
