"""A model that writes fast, a command that writes much, and what the first seconds need."""

import asyncio
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

if sys.platform == "win32":
    pytest.skip("a pty is POSIX's", allow_module_level=True)

from tests.models.server import Part, delta, serving, sse, stream
from tests.terminal.pty_session import REPOSITORY, terminal
from tests.terminal.script import text

COLOUR = re.compile(rb"\x1b\[[0-9;]*?(?<![0-9])(?:3[0-7]|4[0-7]|9[0-7]|38|48)(?:;[0-9;]*)?m")


class Endless:
    """A message that goes on at 500 tokens a second until it is told to stop."""

    def __init__(self) -> None:
        self.stop = asyncio.Event()

    def __iter__(self) -> Iterator[Part]:
        yield stream()[0]
        count = 0
        while not self.stop.is_set():
            count += 10
            words = [f"word{n} " for n in range(count, count + 9)]
            yield sse(*(delta(content=word) for word in [*words, "end.\n\n"]))
            due = asyncio.Event()
            asyncio.get_running_loop().call_later(0.02, due.set)
            yield due


async def test_keys_are_heard_while_the_model_writes_and_much_output_takes_little_memory(project: Path):
    endless = Endless()
    async with (
        serving(endless, text("ok")) as server,
        terminal(project, "--server", server.url, columns=80, NO_COLOR="1") as session,
    ):
        await session.until("m · chat lane")
        session.send("write\r")
        await session.until("word400")
        for typed in ("a", "ab", "abc"):
            session.send(typed[-1])
            await session.until(f"› {typed}")
        assert "turn 1" not in session.text
        session.send("\x15\x1b")
        await session.until("Interrupted.", "turn 1")
        endless.stop.set()

        before = psutil.Process(session.process.pid).memory_info().rss
        session.send("!seq -f 'line %.0f of very many lines of output' 100000\r")
        await session.until("+ output of seq")
        assert psutil.Process(session.process.pid).memory_info().rss - before < 64 << 20
        assert len(session.text.split("\n")) < 1_000

        session.send("/drop\r")
        await session.until("1 output left out.")
        session.send("go on\r")
        await session.until("turn 2")
        session.send("/quit\r")
        assert await session.ended() == 0
        assert session.is_sane
    assert "very many" not in server.bodies[1].decode()
    assert COLOUR.search(bytes(session.output)) is None


@pytest.mark.parametrize("key", ["\x1b", "\x03"])
async def test_a_command_of_ones_own_that_runs_on_is_ended_with_all_its_processes(project: Path, key: str):
    async with serving() as server, terminal(project, "--server", server.url) as session:
        await session.until("m · chat lane")
        session.send("!echo begun; (sleep 600; echo never) & echo $! > pid; wait\r")
        async with asyncio.timeout(60):
            while not (project / "pid").exists() or not (project / "pid").read_text().strip():
                await asyncio.sleep(0.01)
        inner = psutil.Process(int((project / "pid").read_text()))
        session.send(key)
        await session.until("begun\n", "ended by the engineer", "The command was ended", "+ output of echo")
        assert not inner.is_running() or inner.status() == psutil.STATUS_ZOMBIE
        session.send("/quit\r")
        assert await session.ended() == 0


def test_the_prompt_is_shown_before_anything_heavy_is_imported():
    """What stands before the prompt imports prompt_toolkit and typer, and nothing else that is large."""
    program = (
        "import sys, oasis.cli.main, oasis.cli.chat, oasis.ui.terminal.terminal, oasis.ui.terminal.equipment\n"
        "print(*sys.modules)"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=REPOSITORY)
    heavy = {
        "httpx",
        "pydantic",
        "jinja2",
        "jsonschema",
        "yaml",
        "markdown_it",
        "pygments",
        "psutil",
        "pathspec",
        "mcp",
        "platformdirs",
        "rich.console",
        "rich.text",
        "oasis.core.events",
        "oasis.ui.terminal.feed",
        "oasis.ui.terminal.conversation",
        "oasis.ui.terminal.commands.registry",
    }
    assert heavy.isdisjoint(found.stdout.split())
