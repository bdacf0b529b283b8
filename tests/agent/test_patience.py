"""Messages that lead to nothing: asked about once or twice, then the turn ends."""

from dataclasses import replace
from pathlib import Path

import pytest

from oasis.core.items import Notice, Status, Stop, ToolCall, User
from oasis.core.tool import Arguments, Outcome
from oasis.models.scripted import ScriptedModel, call, reply
from oasis.tools.registry import Registry
from tests.agent.harness import build

TASK = [User("go")]


async def test_three_messages_of_calls_that_cannot_be_run_end_the_turn(tmp_path: Path):
    bad = [reply("", ToolCall(f"c{n}", "change", f"{{{n}", fault="no JSON")) for n in range(3)]
    bench = build(tmp_path, ScriptedModel(bad))
    assert (await bench.agent.turn(TASK)).reason == "malformed"


async def test_ten_messages_without_a_call_that_could_be_run_end_the_turn(tmp_path: Path):
    script = [reply("", call("no_such_tool" if n % 2 else "look", f"c{n}", other=str(n))) for n in range(10)]
    bench = build(tmp_path, ScriptedModel(script))
    finished = await bench.agent.turn(TASK)
    assert (finished.reason, finished.detail[:24]) == ("malformed", "in ten messages running ")
    assert bench.runs.texts == []


async def test_one_call_that_runs_between_those_that_cannot_is_patience_enough(tmp_path: Path):
    wrong = [reply("", call("no_such_tool", f"c{n}", other=str(n))) for n in range(18)]
    script = [*wrong[:9], reply("", call("look", "c", text="a")), *wrong[9:], reply("done")]
    bench = build(tmp_path, ScriptedModel(script))
    assert (await bench.agent.turn(TASK)).reason == "done"


async def test_the_same_call_three_times_running_is_stopped_also_when_it_succeeds(tmp_path: Path):
    bench = build(tmp_path, ScriptedModel([reply("", call("look", text="a"))] * 3))
    finished = await bench.agent.turn(TASK)
    assert finished.reason == "repeating"
    assert bench.runs.texts == ["a", "a"]
    assert bench.session.transcript.items[-1].status is Status.DENIED


async def test_a_value_that_changes_may_be_read_ten_times_running(tmp_path: Path):
    asked = reply("", call("look", text="a"))
    bench = build(tmp_path, ScriptedModel([asked] * 9 + [reply("It rises.")]))
    values = iter(range(20))

    async def run(arguments: Arguments) -> Outcome:
        return Outcome(f"{next(values)} bar")

    looks, *others = bench.agent._calls.registry.tools
    bench.agent._calls.registry = Registry((replace(looks, run=run), *others))
    assert (await bench.agent.turn(TASK)).text == "It rises."
    again = build(tmp_path, ScriptedModel([asked] * 10))
    again.agent._calls.registry = bench.agent._calls.registry
    assert (await again.agent.turn(TASK)).detail == "look was called ten times running with the same arguments"


async def test_the_same_call_again_after_another_is_no_repetition(tmp_path: Path):
    a, b = reply("", call("look", text="a")), reply("", call("look", text="b"))
    bench = build(tmp_path, ScriptedModel([a, a, b, a, a, reply("ok")]))
    assert (await bench.agent.turn(TASK)).reason == "done"


async def test_an_empty_answer_is_asked_for_again_at_most_twice(tmp_path: Path):
    model = ScriptedModel([reply("", reasoning="hm")] * 3)
    bench = build(tmp_path, model)
    assert (await bench.agent.turn(TASK)).reason == "malformed"
    assert len(model.requests) == 3
    assert sum(isinstance(item, Notice) for item in bench.session.transcript.items) == 2


@pytest.mark.parametrize(
    "text",
    [
        "```bash\npytest -q\n```",
        "Now I run the check:\n```sh\npython tools/check_st.py\n```",
        "Let me look at it first:\n\n```bash\nls\ncat a.st\n```\n",
    ],
)
async def test_a_command_that_is_only_written_is_asked_about_once(tmp_path: Path, text: str):
    model = ScriptedModel([reply(text), reply("", call("look", text="a")), reply(text)])
    bench = build(tmp_path, model)
    assert (await bench.agent.turn(TASK)).text == text
    asked = [item.text for item in bench.session.transcript.items if isinstance(item, Notice)]
    assert len(asked) == 1
    assert "nobody runs it" in asked[0]


@pytest.mark.parametrize(
    "text",
    [
        "Done. Run this to see it:\n```bash\npytest -q\n```",
        "```python\nprint(1)\n```",
        "```bash\npytest -q\n```\nAll 12 pass.",
        "```bash\na\n```\n\n```bash\nb\n```",
    ],
)
async def test_an_answer_with_a_command_in_it_is_an_answer(tmp_path: Path, text: str):
    bench = build(tmp_path, ScriptedModel([reply(text)]))
    assert (await bench.agent.turn(TASK)).text == text


async def test_a_cut_text_is_gone_on_with(tmp_path: Path):
    bench = build(tmp_path, ScriptedModel([reply("half an ans", stop=Stop.LENGTH), reply("wer")]))
    assert (await bench.agent.turn(TASK)).text == "wer"


async def test_a_message_cut_at_the_end_of_the_context_says_the_context_is_full(tmp_path: Path):
    bench = build(tmp_path, ScriptedModel([reply("half", stop=Stop.LENGTH)], context_tokens=10))
    assert (await bench.agent.turn(TASK)).reason == "context_full"


async def test_a_message_that_repeats_itself_is_stopped_and_asked_for_again_at_most_twice(tmp_path: Path):
    endless = reply("The boiler is warm and the pump is on. " * 400)
    model = ScriptedModel([endless] * 3)
    bench = build(tmp_path, model)
    assert (await bench.agent.turn(TASK)).reason == "repeating"
    assert len(model.requests) == 3
    assert bench.session.transcript.items[1].stop is Stop.REPEATING


async def test_a_long_message_that_says_something_is_no_runaway(tmp_path: Path):
    rows = "".join(f"| {n} | coil | {n * 7} | 0x{n:04X} |\n" for n in range(2000))
    bench = build(tmp_path, ScriptedModel([reply(rows)]))
    assert (await bench.agent.turn(TASK)).reason == "done"
