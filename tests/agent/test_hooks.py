"""Hooks: JSON in, the exit code decides, output at the tail; what goes wrong in one ends nothing."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest

from oasis.agent import hook_process
from oasis.agent.calls import CallRunner
from oasis.agent.hooks import Hooks
from oasis.agent.loop import Agent
from oasis.agent.session import Session
from oasis.config import Hook
from oasis.core.items import Assistant, Notice, Status, ToolCall, ToolOutput, User
from oasis.core.prefix import Prefix
from oasis.core.rule import Allow, Ask, Deny, Rule
from oasis.core.tool import Outcome, Preview, Risk
from oasis.models.scripted import ScriptedModel, call, reply
from oasis.tools.registry import Registry
from tests.agent.harness import NOW, OPEN, Runs, tool

CALL = ToolCall("c1", "edit", '{"text":"a.st"}')
EDIT = tool("edit", Risk.WRITE, Runs())
SHOWN = Preview("Edit a.st", "a.st")


class Bench:
    """A project, the folder of the user's settings, and what hooks said."""

    def __init__(self, base: Path) -> None:
        self.project, self.folder = base / "plant", base / "settings"
        self.project.mkdir()
        self.folder.mkdir()
        self.said: list[str] = []

    def script(self, text: str, name: str = "hook.py") -> list[str]:
        (self.folder / name).write_text(f"import json, sys\nwhat = json.load(sys.stdin)\n{text}\n")
        return [sys.executable, name]

    def hooks(self, *hooks: Hook) -> Hooks:
        return Hooks(hooks, self.project, self.folder, self.said.append)

    def seen(self) -> dict[str, Any]:
        return json.loads((self.folder / "seen").read_text())


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


async def before(hooks: Hooks):
    return await hooks.before_tool(EDIT, CALL, {"text": "a.st"}, SHOWN)


async def after(hooks: Hooks) -> Outcome:
    return await hooks.after_tool(EDIT, CALL, {"text": "a.st"}, SHOWN, Outcome("done"))


KEEP = "open('seen', 'w').write(json.dumps(what))"


async def test_a_hook_is_told_what_is_about_to_run(bench: Bench):
    hooks = bench.hooks(Hook(event="before_tool", command=bench.script(KEEP)))
    await hooks.turn_begins("20260101-1", is_resumed=False)
    assert (await before(hooks)).denial is None
    assert bench.seen() == {
        "v": 1,
        "event": "before_tool",
        "session": "20260101-1",
        "project": str(bench.project),
        "tool": "edit",
        "risk": "write",
        "call_id": "c1",
        "arguments": {"text": "a.st"},
        "title": "Edit a.st",
        "subject": "a.st",
    }


async def test_exit_code_2_denies_with_its_reason(bench: Bench):
    hooks = bench.hooks(
        Hook(event="before_tool", command=bench.script("sys.stderr.write('frozen until Monday\\n'); sys.exit(2)"))
    )
    assert (await before(hooks)).denial == Deny(
        "Not run: a hook of the engineer's (hook.py at before_tool) denies it: frozen until Monday"
    )


async def test_after_a_denial_no_further_hook_runs(bench: Bench):
    deny = bench.script("sys.exit(2)", "deny.py")
    hooks = bench.hooks(
        Hook(event="before_tool", command=deny), Hook(event="before_tool", command=bench.script(KEEP, "keep.py"))
    )
    assert (await before(hooks)).denial is not None
    assert not (bench.folder / "seen").exists()


@pytest.mark.parametrize("code", [1, 3])
async def test_any_other_exit_code_is_reported_and_the_work_goes_on(code: int, bench: Bench):
    hooks = bench.hooks(
        Hook(event="before_tool", command=bench.script(f"sys.stderr.write('oh'); print('no'); sys.exit({code})"))
    )
    answer = await before(hooks)
    assert (answer.denial, answer.text) == (None, "")
    assert bench.said == [
        f"The hook hook.py at before_tool failed with exit code {code}: oh. The work goes on without it."
    ]


async def test_output_goes_to_the_end_of_the_tools_output(bench: Bench):
    hooks = bench.hooks(Hook(event="after_tool", command=bench.script("print('2 warnings', what['status'])")))
    outcome = await after(hooks)
    name = "hook.py at after_tool"
    assert outcome == Outcome(f"done\n[end]\n[hook {name}]\n2 warnings ok\n[end]", Status.OK)


async def test_a_silent_hook_leaves_the_output_as_it_is(bench: Bench):
    hooks = bench.hooks(Hook(event="after_tool", command=bench.script("")))
    assert await after(hooks) == Outcome("done")


async def test_what_a_hook_objects_after_a_tool_is_told_to_the_model(bench: Bench):
    hooks = bench.hooks(
        Hook(event="after_tool", command=bench.script("sys.stderr.write('line 3: no such tag'); sys.exit(2)"))
    )
    assert "line 3: no such tag" in (await after(hooks)).text


async def test_a_hook_is_for_the_tools_it_names(bench: Bench):
    command = bench.script("print('ran')")
    named = [["edit", "write"], ["plant_*"], ["e*"], []]
    answers = [await before(bench.hooks(Hook(event="before_tool", command=command, tools=tools))) for tools in named]
    assert [bool(answer.text) for answer in answers] == [True, False, True, True]


async def test_what_hooks_say_at_a_sessions_start_and_a_turns_end_becomes_a_notice_before_the_next_message(
    bench: Bench,
):
    hooks = bench.hooks(
        Hook(event="session_start", command=bench.script("print('resumed', what['is_resumed'])", "a.py")),
        Hook(event="turn_end", command=bench.script("print(what['reason'], what['text'])", "b.py")),
    )
    assert await hooks.turn_begins("s", is_resumed=True) == [Notice("[hook a.py at session_start]\nresumed True")]
    assert await hooks.turn_begins("s", is_resumed=True) == []
    await hooks.turn_ended("done", "Well.")
    assert await hooks.turn_begins("s", is_resumed=True) == [Notice("[hook b.py at turn_end]\ndone Well.")]
    assert await hooks.turn_begins("s", is_resumed=True) == []


async def test_a_hook_that_takes_too_long_is_ended_with_its_children(bench: Bench):
    command = bench.script(
        "import subprocess, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        "open('pid', 'w').write(str(child.pid)); time.sleep(600)"
    )
    hooks = bench.hooks(Hook(event="before_tool", command=command, timeout_s=3))
    assert (await before(hooks)).denial is None
    assert bench.said == [
        "The hook hook.py at before_tool failed: it was ended after 3 s. The work goes on without it."
    ]
    assert not _runs(int((bench.folder / "pid").read_text()))


async def test_a_cancelled_hook_is_ended(bench: Bench):
    command = bench.script("import os, time\nopen('pid', 'w').write(str(os.getpid())); time.sleep(600)")
    running = asyncio.create_task(before(bench.hooks(Hook(event="before_tool", command=command))))
    file = bench.folder / "pid"
    while not (file.exists() and file.read_text()):
        await asyncio.sleep(0.01)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert not _runs(int(file.read_text()))


def _runs(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


async def test_a_flood_is_bounded_and_has_no_colours(bench: Bench):
    command = bench.script("print('\\x1b[31m' + 'a' * 10); print('x' * 3_000_000); print('z')")
    answer = await before(bench.hooks(Hook(event="before_tool", command=command)))
    assert len(answer.text) < hook_process.MAX_TEXT_CHARS + 200
    assert "\x1b" not in answer.text and "characters left out" in answer.text


async def test_a_command_that_does_not_read_its_input_is_not_at_fault(bench: Bench):
    (bench.folder / "deaf.py").write_text("print('deaf')")
    hooks = bench.hooks(Hook(event="after_tool", command=[sys.executable, "deaf.py"]))
    outcome = await hooks.after_tool(EDIT, CALL, {"text": "x" * 1_000_000}, SHOWN, Outcome("done"))
    assert "deaf" in outcome.text and bench.said == []


async def test_a_program_of_the_project_is_not_run(bench: Bench, monkeypatch: pytest.MonkeyPatch):
    evil = bench.project / "evil"
    evil.write_text("#!/bin/sh\ntouch ran\n")
    evil.chmod(0o755)
    (bench.folder / "link").symlink_to(evil)
    monkeypatch.setenv("PATH", str(bench.project), prepend=":")
    monkeypatch.chdir(bench.project)
    for command in ([str(evil)], ["evil"], ["./link"], ["../plant/evil"]):
        await before(bench.hooks(Hook(event="before_tool", command=command)))
    assert len(bench.said) == 4 and all("lies in the project" in text for text in bench.said)
    await before(bench.hooks(Hook(event="before_tool", command=["./evil"])))
    assert "there is no program ./evil" in bench.said[-1]
    assert not (bench.project / "ran").exists() and not (bench.folder / "ran").exists()


async def test_no_shell_reads_the_arguments(bench: Bench):
    command = [*bench.script("print(sys.argv[1])"), "$(touch ran); `touch ran`"]
    answer = await before(bench.hooks(Hook(event="before_tool", command=command)))
    assert "$(touch ran); `touch ran`" in answer.text
    assert not (bench.folder / "ran").exists()


class Talk:
    """A scripted session whose calls and turns have hooks."""

    def __init__(self, base: Path, hooks: Hooks, replies: list[Assistant], rules: tuple[Rule, ...]) -> None:
        model = ScriptedModel(replies)
        self.runs, self.events = Runs(), []
        registry = Registry((tool("look", Risk.READ, self.runs), tool("change", Risk.WRITE, self.runs)))
        self.session = Session.create(base / "sessions", Prefix("You are a test.", registry.specs), model, base, NOW)
        OPEN.append(self.session)
        calls = CallRunner(registry, rules, self.ask, self.events.append, hooks)
        self.agent = Agent(model, self.session, calls, self.events.append)
        self.asked: list[Ask] = []

    async def ask(self, ask: Ask) -> Allow:
        self.asked.append(ask)
        return Allow()

    def items(self, kind: type) -> list[Any]:
        return [item for item in self.session.transcript.items if isinstance(item, kind)]


async def test_a_call_that_a_hook_denies_is_not_asked_about_and_not_run(bench: Bench):
    hooks = bench.hooks(Hook(event="before_tool", command=bench.script("sys.stderr.write('no'); sys.exit(2)")))
    talk = Talk(bench.project, hooks, [reply("", call("change", "c1", text="a")), reply("ok")], ())
    await talk.agent.turn([User("go")])
    [output] = talk.items(ToolOutput)
    assert output.status is Status.DENIED and "denies it: no" in output.text
    assert (talk.asked, talk.runs.texts) == ([], [])


async def test_a_hook_is_not_run_for_a_call_that_a_rule_denies(bench: Bench):
    hooks = bench.hooks(Hook(event="before_tool", command=bench.script(KEEP)))
    talk = Talk(
        bench.project, hooks, [reply("", call("change", "c1", text="a")), reply("ok")], (lambda *_: Deny("rule"),)
    )
    await talk.agent.turn([User("go")])
    assert not (bench.folder / "seen").exists()


async def test_a_hook_that_goes_on_allows_nothing(bench: Bench):
    hooks = bench.hooks(Hook(event="before_tool", command=bench.script("")))
    talk = Talk(bench.project, hooks, [reply("", call("change", "c1", text="a")), reply("ok")], ())
    await talk.agent.turn([User("go")])
    assert len(talk.asked) == 1 and talk.runs.texts == ["a"]


async def test_what_hooks_say_stands_at_the_end_of_the_output_and_after_the_notices_of_the_project(bench: Bench):
    hooks = bench.hooks(
        Hook(event="session_start", command=bench.script("print('begun')", "s.py")),
        Hook(event="before_tool", command=bench.script("print('about to')", "b.py")),
        Hook(event="after_tool", command=bench.script("print('has', what['output'].splitlines()[0])", "a.py")),
        Hook(event="turn_end", command=bench.script("print('ended')", "e.py")),
    )
    talk = Talk(bench.project, hooks, [reply("", call("look", "c1", text="a")), reply("ok"), reply("bye")], ())
    talk.agent._calls._rules = (lambda *_: Allow(),)
    await talk.agent.turn([Notice("project"), User("go")])
    await talk.agent.turn([User("more")])
    [output] = talk.items(ToolOutput)
    assert output.text == (
        "look did a\n[end]\n[hook b.py at before_tool]\nabout to\n[end]\n[hook a.py at after_tool]\n"
        "has look did a\n[end]"
    )
    assert [item.text.splitlines()[-1] for item in talk.items(Notice)] == ["project", "begun", "ended"]
    assert talk.session.transcript.items[2] == User("go")
