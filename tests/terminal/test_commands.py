"""Commands of the session, and what the command line begins it with."""

import asyncio
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

if sys.platform == "win32":
    pytest.skip("a pty is POSIX's", allow_module_level=True)

from oasis.cli.main import app
from tests.models.server import delta, serving, sse, stream
from tests.terminal.pty_session import terminal
from tests.terminal.script import text

SECRET = "zebra-crossing-4711"


async def test_several_words_on_the_command_line_are_the_first_message(project: Path):
    async with (
        serving(text("Done.")) as server,
        terminal(project, "--server", server.url, "look at a.st") as session,
    ):
        await session.until("› look at a.st", "Done.", "turn 1")
        session.send("/exit\r")
        assert await session.ended() == 0
    assert server.requests[0]["messages"][-1]["content"].endswith("look at a.st")


def test_an_unknown_command_says_how_a_task_is_given():
    found = CliRunner().invoke(app, ["lokk", "at", "a.st"])
    assert found.exit_code == 2
    assert "oasis run" in found.output
    assert "'lokk'" in found.output


async def test_a_session_is_picked_from_a_list(project: Path):
    async with (
        serving(text("First."), text("Second."), text("Third.")) as server,
        terminal(project, "--server", server.url, columns=100) as session,
    ):
        await session.until("m · chat lane")
        for task, answer in (("task one", "First."), ("task two", "Second.")):
            session.send(f"{task}\r")
            await session.until(answer, "turn 1")
            session.send("/clear\r")
            await session.until("A new session begins")
            session.send("/open 99\r")
            await session.until("There is no #99")
        session.send("/resume\r")
        await session.until("Which session goes on?", "1 turn  task two", "1 turn  task one")
        session.send("2")
        await session.until("goes on after 1 step.")
        session.send("and now\r")
        await session.until("Third.")
        session.send("/quit\r")
        assert await session.ended() == 0
    said = [message["content"] for message in server.requests[-1]["messages"] if message["role"] == "user"]
    assert any("task one" in words for words in said)
    assert not any("task two" in words for words in said)


async def test_a_command_that_only_shows_does_not_wait_for_the_turn(project: Path):
    never = asyncio.Event()
    async with serving(stream(sse(delta(content="half")), never)) as server:
        async with terminal(project, "--server", server.url) as session:
            await session.until("m · chat lane")
            session.send("go\r")
            await session.until("half")
            session.send("/model\r")
            await session.until("m, chat lane.")
            session.send("/model nosuch\r")
            await session.until("/model has to wait until the turn ends")
            session.send("\x03")
            await session.until("Interrupted.")
            session.send("/model nosuch\r")
            await session.until("There is no model nosuch")
            assert "Change the model" not in session.text
            session.send("/quit\r")
            assert await session.ended() == 0
        never.set()


async def test_compacting_is_told_at_once(project: Path):
    summary = "## Goal\nSay it.\n"
    async with (
        serving(text("It is long. " * 400), text("It is short."), text(summary), text(summary)) as server,
        terminal(project, "--server", server.url) as session,
    ):
        await session.until("m · chat lane")
        for turn in (1, 2):
            session.send("say it\r")
            await session.until(f"turn {turn}")
        session.send("/compact\r")
        await session.until("Summarised. The new epoch begins with your next message")
        session.send("/quit\r")
        assert await session.ended() == 0


async def test_an_export_masks_the_secrets_of_the_environment(project: Path):
    async with (
        serving(text(f"It is {SECRET}.")) as server,
        terminal(project, "--server", server.url, MY_TOKEN=SECRET) as session,
    ):
        await session.until("m · chat lane")
        session.send("say it\r")
        await session.until(f"It is {SECRET}.", "turn 1")
        session.send("/export out.md\r")
        await session.until("Wrote out.md.")
        session.send("/quit\r")
        assert await session.ended() == 0
    written = (project / "out.md").read_text()
    assert "It is [secret left out]." in written
