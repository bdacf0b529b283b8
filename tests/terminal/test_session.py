"""A whole session as an engineer has it, in a real pty."""

import asyncio
import sys
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

if sys.platform == "win32":
    pytest.skip("a pty is POSIX's", allow_module_level=True)

from tests.models.server import delta, serving, sse, stream
from tests.terminal.pty_session import steady, terminal
from tests.terminal.script import calling, calling_after, text

ANSWER = "# What it does\n\nTwo **assignments**:\n\n- `A` is 1\n- `B` is 2\n\n```\nA := 1;\n```\n\nNothing else."


@pytest.mark.parametrize("columns", [80, 120])
async def test_a_whole_session(project: Path, columns: int, snapshot: SnapshotAssertion):
    held, never = asyncio.Event(), asyncio.Event()
    script = [
        text(ANSWER[:30], ANSWER[30:], reasoning="The engineer wants to know what a.st does."),
        calling("read", path="a.st"),
        calling("edit", path="a.st", old="A := 1;", new="A := 10;"),
        calling("edit", path="a.st", old="B := 2;", new="B := 20;"),
        calling_after(held, "read", path="a.st"),
        text("B is 20 now."),
        stream(sse(delta(content="This goes on and")), never),
        text("All as before."),
    ]
    async with serving(*script) as server:
        async with terminal(project, "--server", server.url, columns=columns, rows=30) as session:
            await session.until("m · chat lane")
            session.send("what does @a.st do?\r")
            await session.until("turn 1")
            assert steady(session.end) == snapshot(name="an answer in markdown")

            session.send("set both to ten times that\r")
            await session.until("Edit a.st?", "y  yes, this once")
            assert steady(session.end) == snapshot(name="an edit is asked about")
            session.send("w")
            await session.until("Why not?")
            session.send("A has to stay\r")
            await session.until("denied", "+B := 20;", "y  yes, this once")
            session.send("y")
            await session.until("+1 -1", "waiting for the model")
            session.send("and check it\r")
            await session.until("goes to the model at the next safe point")
            assert steady(session.end) == snapshot(name="a message is queued")
            held.set()
            await session.until("turn 2", "B is 20 now.")
            assert (project / "a.st").read_text() == "A := 1;\nB := 20;\n"

            session.send("go on\r")
            await session.until("This goes on and")
            session.send("\x1b")
            await session.until("Interrupted.", "turn 3")
            session.resize(100, 30)
            session.send("/undo\r")
            await session.until("As before: a.st.")
            assert steady(session.end) == snapshot(name="interrupted, resized, undone")
            assert (project / "a.st").read_text() == "A := 1;\nB := 2;\n"
            session.send("/quit\r")
            assert await session.ended() == 0
            assert session.is_sane
        never.set()

        async with terminal(project, "--server", server.url, "--resume", "last", columns=columns, rows=30) as session:
            await session.until("goes on after", "This goes on and", "m · chat lane")
            assert steady(session.end) == snapshot(name="resumed")
            session.send("and now?\r")
            await session.until("All as before.", "turn 4")
            session.send("\x04")
            assert await session.ended() == 0

    messages = [request["messages"] for request in server.requests]
    assert messages[-1][: len(messages[-2])] == messages[-2]
    assert "A has to stay" in messages[3][-1]["content"]
    assert messages[5][-1]["content"].endswith("<oasis:user>\nand check it\n</oasis:user>")
    assert "undid your last changes" in messages[-1][-1]["content"]
