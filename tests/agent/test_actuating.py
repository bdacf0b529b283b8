"""What moves a machine is run with the token of the plan that was shown, and with nothing else."""

from pathlib import Path

import pytest

from oasis.agent.calls import CallRunner
from oasis.agent.gate import Answer, nobody_to_ask
from oasis.agent.loop import Agent
from oasis.agent.session import Session
from oasis.core.items import Status, ToolOutput, User
from oasis.core.prefix import Prefix
from oasis.core.rule import Allow, Ask, Deny, Rule
from oasis.core.tool import Arguments, Outcome, Preview, Risk, Tool, ToolSpec
from oasis.models.scripted import ScriptedModel, call, reply
from oasis.tools.registry import Registry
from tests.agent.harness import NOW, OPEN, TEXT


class Mover:
    def __init__(self) -> None:
        self.moved: list[tuple[str, str]] = []

    def tool(self) -> Tool:
        async def preview(arguments: Arguments) -> Preview:
            return Preview("move the valve", "valve", "before 1, after 2", token="a1b2")

        async def run(arguments: Arguments) -> Outcome:
            self.moved.append(("run", ""))
            return Outcome("ran")

        async def actuate(token: str, by: str) -> Outcome:
            self.moved.append((token, by))
            return Outcome("moved")

        return Tool(ToolSpec("move", "Moves.", TEXT), Risk.ACTUATE, preview, run, actuate)


async def output(mover: Mover, folder: Path, answer: Answer | None, *rules: Rule) -> ToolOutput:
    """The output of one call that a person answers with `answer`; None: nobody is there."""
    registry = Registry((mover.tool(),))
    model = ScriptedModel([reply("", call("move", text="valve")), reply("done")])
    session = Session.create(folder, Prefix("You are a test.", registry.specs), model, folder, NOW)
    OPEN.append(session)

    async def ask(asked: Ask) -> Answer:
        assert "before 1" in asked.preview.body
        assert answer is not None
        return answer

    asker = ask if answer else nobody_to_ask(["move"])
    runner = CallRunner(registry, rules, asker, lambda event: None)
    await Agent(model, session, runner, lambda event: None).turn([User("Move it.")])
    return next(item for item in session.transcript.items if isinstance(item, ToolOutput))


async def test_the_token_that_was_shown_runs_it_and_says_who_approved(tmp_path: Path):
    mover = Mover()
    assert (await output(mover, tmp_path, Allow("a1b2", "the engineer"))).status is Status.OK
    assert mover.moved == [("a1b2", "the engineer")]


@pytest.mark.parametrize("token", ["", "a1b3"])
async def test_another_token_runs_nothing(token: str, tmp_path: Path):
    mover = Mover()
    assert (await output(mover, tmp_path, Allow(token))).status is Status.DENIED
    assert mover.moved == []


async def test_a_rule_that_allows_everything_runs_nothing(tmp_path: Path):
    mover = Mover()
    said = await output(mover, tmp_path, Deny("no"), lambda tool, call, preview: Allow())
    assert said.status is Status.DENIED
    assert "nothing was sent" in said.text
    assert mover.moved == []


async def test_without_a_person_it_is_denied_whatever_is_allowed(tmp_path: Path):
    mover = Mover()
    said = await output(mover, tmp_path, None)
    assert said.status is Status.DENIED
    assert "unattended" in said.text
    assert mover.moved == []
