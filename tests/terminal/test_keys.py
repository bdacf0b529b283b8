"""Keys in a real pty: several lines, completion, search, pastes, an editor, taking back, commands."""

import asyncio
import sys
from pathlib import Path

import pytest

if sys.platform == "win32":
    pytest.skip("a pty is POSIX's", allow_module_level=True)

from tests.models.server import delta, serving, sse, stream
from tests.terminal.pty_session import terminal
from tests.terminal.script import text

EDITOR = "#!/bin/sh\nprintf ' from the editor' >> \"$1\"\n"


async def test_what_can_be_typed(project: Path, tmp_path: Path):
    editor = tmp_path / "editor.sh"
    editor.write_text(EDITOR)
    editor.chmod(0o755)
    never = asyncio.Event()
    (project / "src").mkdir()
    (project / "src" / "conveyor.st").write_text("")
    script = [
        text("one"),
        text("two"),
        text("three"),
        text("four"),
        stream(sse(delta(content="half")), never),
        text("end"),
    ]
    async with (
        serving(*script) as server,
        terminal(project, "--server", server.url, EDITOR=str(editor), VISUAL=str(editor)) as session,
    ):
        await session.until("m · chat lane")
        session.send("first\x1b\rsecond\\\rthird\x0afourth\r")
        await session.until("turn 1")

        session.send("look at @convst")
        await session.until("src/conveyor.st")
        session.send("\t")
        await session.until("› look at @src/conveyor.st")
        session.send(" please\r")
        await session.until("turn 2")

        lines = "\r".join(f"line {n}" for n in range(42))
        session.send(f"see \x1b[200~{lines}\x1b[201~")
        await session.until("› see [pasted 42 lines #1]")
        session.send("\r")
        await session.until("turn 3")

        session.send("written")
        await session.until("› written")
        session.send("\x18\x05")
        await session.until("› written from the editor")
        session.send("\r")
        await session.until("turn 4")

        session.send("hold on\r")
        await session.until("half")
        session.send("queued one\r")
        await session.until("↳ queued one")
        session.send("\x1b[A")
        await session.until("› queued one", gone="↳ queued one")
        session.send("\x15\x1b")
        await session.until("turn 5")

        session.send("\x12look")
        await session.until("search history: look", "look at @src/conveyor.st please")
        session.send("\r\x03")
        session.send("/stat")
        await session.until("model, session, figures")
        session.send("\t")
        await session.until("› /status")
        session.send("\r")
        await session.until("state saved")
        for command, answer in COMMANDS.items():
            session.send(f"{command}\r")
            await session.until(answer)
        never.set()
        session.send("/quit\r")
        assert await session.ended() == 0
        assert session.is_sane
    said = [request["messages"][-1]["content"] for request in server.requests[:4]]
    assert said[0].endswith("first\nsecond\nthird\nfourth")
    assert said[1] == "look at src/conveyor.st please"
    assert said[2] == "see " + lines.replace("\r", "\n")
    assert said[3] == "written from the editor"
    assert b"\x1b]52;c;aGFsZg==\x07" in session.output  # "half"
    assert (project.parent / "out.json").read_text().startswith("{")
    assert (project / "out.md").read_text().startswith("# Session ")
    assert server.requests[-1]["messages"][-1]["content"] != ""


COMMANDS = {
    "/help": "edit the input in $VISUAL",
    "/packs": "modbus://",
    "/skills": "/skills",
    "/mcp": "No MCP server is set",
    "/permissions": "each write is approved on its own",
    "/permissions accept-edits": "files of the project are changed without asking",
    "/site": "There is no site file",
    "/plan": "There is no site file",
    "/diff": "have changed no file",
    "/undo": "No turn of this session has changed files",
    "/prefix": "the head",
    "/context": "Estimated from bytes",
    "/export out.md": "Wrote out.md.",
    "/export ../out.json": "Wrote",
    "/open 1": "line 41",
    "/open 99": "There is no #99",
    "/drop": "Nothing waits",
    "/copy": "4 characters were sent to the terminal's clipboard",
    "/copy 99": "There is no #99.",
    "/model": "Tab lists",
    "/resume": "There is no other session of this project.",
    "/nwe": "Did you mean /new?",
    "/new": "begins with your next message",
}
"""What each command says in a session that has done nothing but talk."""
