"""However an interactive session ends, the terminal is as it was."""

import asyncio
import os
import signal
import sys
from pathlib import Path

import psutil
import pytest

if sys.platform == "win32":
    pytest.skip("a pty is POSIX's", allow_module_level=True)

from oasis.engine.tiny import tiny
from tests.models.server import delta, serving, sse, stream
from tests.terminal.pty_session import PtySession, terminal
from tests.terminal.script import calling, text

BROKEN = """
import oasis.ui.terminal.writing as writing, sys
def boom(*_): raise RuntimeError("boom")
writing.Writing.draw = boom
sys.argv = ["oasis", "--server", "{url}"]
from oasis.cli.main import main
main()
"""


STAGES = ["starting", "streaming", "asking"]
ENDS = {"SIGTERM": "running", "SIGHUP": "typing"}


def script(stage: str, never: asyncio.Event, project: Path) -> list:
    if stage == "streaming":
        return [stream(sse(delta(content="half")), never)]
    return [calling("bash", command=f"echo started > {project}/started; sleep 60")]


async def reach(session: PtySession, stage: str, project: Path) -> None:
    """Bring the session to the stage at which it is to end."""
    if stage == "starting":
        return await session.until("connecting")
    await session.until("m · chat lane")
    if stage == "typing":
        session.send("half a mess")
        return await session.until("half a mess")
    session.send("do it\r")
    if stage == "streaming":
        return await session.until("half")
    await session.until("y  yes, this once")
    if stage == "running":
        session.send("y")
        async with asyncio.timeout(60):
            while not (project / "started").exists():
                await asyncio.sleep(0)
    return None


@pytest.mark.parametrize("stage", STAGES)
async def test_ctrl_c_twice_ends_at_each_stage_and_leaves_the_terminal_sane(project: Path, stage: str):
    never = asyncio.Event()
    async with serving(*script(stage, never, project)) as server:
        async with terminal(project, "--server", server.url) as session:
            await reach(session, stage, project)
            session.send("\x03")
            await session.until("Ctrl-C again" if stage == "starting" else "›")
            session.send("\x03\x03")  # on a busy machine the first one may be too late to be the second
            assert await session.ended() == 0
            assert session.is_sane
            assert "Traceback" not in session.text
        never.set()


@pytest.mark.parametrize("name", ENDS)
async def test_a_signal_ends_it_and_leaves_the_terminal_sane(project: Path, name: str):
    never = asyncio.Event()
    async with serving(*script(ENDS[name], never, project)) as server:
        async with terminal(project, "--server", server.url) as session:
            await reach(session, ENDS[name], project)
            session.process.send_signal(getattr(signal, name))
            assert await session.ended() == 130
            assert session.is_sane
            assert "Traceback" not in session.text
        never.set()


async def test_a_terminal_that_goes_away_ends_it(project: Path):
    async with serving() as server, terminal(project, "--server", server.url) as session:
        await session.until("m · chat lane")
        session.hang_up()
        async with asyncio.timeout(30):
            assert await session.process.wait() == 130


async def test_an_error_nobody_foresaw_leaves_the_terminal_sane(project: Path):
    async with serving(text("hello")) as server:
        session = PtySession(80, 24)
        program = BROKEN.format(url=server.url)
        await session.start_program([sys.executable, "-c", program], project)
        try:
            await session.until("›")
            session.send("hello\r")
            assert await session.ended() == 1
            assert "nobody foresaw" in session.text
            assert "Traceback" not in session.text
            assert session.is_sane
        finally:
            await session.close()


@pytest.mark.engine
async def test_an_engine_that_is_killed_is_told_of_and_started_again(
    project: Path, tmp_path_factory: pytest.TempPathFactory
):
    model = tiny("tiny-dense", tmp_path_factory.getbasetemp().parent / "tiny-models")
    async with terminal(project, "--model", str(model), "--context", "8192", OASIS_KV="false") as session:
        await session.until("token lane", "·")
        engine = next(p for p in psutil.Process(session.process.pid).children() if p.pid != os.getpid())
        engine.kill()
        async with asyncio.timeout(60):
            while engine.status() != psutil.STATUS_ZOMBIE:
                await asyncio.sleep(0)
        session.send("hello\r")
        await session.until("It is started again.", "› hello")
        session.send("\x1b")
        await session.until("turn 1")
        session.send("/quit\r")
        assert await session.ended() == 0
        assert session.is_sane


@pytest.mark.engine
async def test_an_engine_that_is_killed_in_a_turn_is_started_again_and_the_turn_goes_on(
    project: Path, tmp_path_factory: pytest.TempPathFactory
):
    model = tiny("tiny-dense", tmp_path_factory.getbasetemp().parent / "tiny-models")
    async with terminal(project, "--model", str(model), "--context", "8192", OASIS_KV="false") as session:
        await session.until("token lane", "·")
        engine = next(p for p in psutil.Process(session.process.pid).children() if p.pid != os.getpid())
        engine.suspend()
        session.send("hello\r")
        await session.until("\n› hello\n\n›")
        engine.kill()
        await session.until("the embedded engine has ended", "It is started again.", "goes on after", "turn 2")
        assert "Again in" not in session.text
        session.send("/quit\r")
        assert await session.ended() == 0


def _is_engine(child: psutil.Process) -> bool:
    """Has it become the engine? Held before that, it holds whoever starts it."""
    try:
        return "oasis.engine.child" in child.cmdline()
    except psutil.Error:
        return False


@pytest.mark.engine
async def test_esc_is_heard_while_an_engine_is_started_again(project: Path, tmp_path_factory: pytest.TempPathFactory):
    """The message is in the input again; sent once more, it starts the engine once more, in the same session."""
    model = tiny("tiny-dense", tmp_path_factory.getbasetemp().parent / "tiny-models")
    async with terminal(project, "--model", str(model), "--context", "8192", OASIS_KV="false") as session:
        await session.until("token lane", "·")
        oasis = psutil.Process(session.process.pid)
        first = oasis.children()[0]
        first.kill()
        async with asyncio.timeout(60):
            while first.status() != psutil.STATUS_ZOMBIE:
                await asyncio.sleep(0)
        session.send("hello\r")
        async with asyncio.timeout(60):
            while not (begun := [child for child in oasis.children() if child != first and _is_engine(child)]):
                await asyncio.sleep(0)
        begun[0].suspend()
        await session.until("It is started again.")
        session.send("\x1b")
        await session.until("The engine was not started again", "› hello")
        assert not begun[0].is_running() or begun[0].status() == psutil.STATUS_ZOMBIE
        session.send("\r")
        await session.until("turn 1")
        session.send("/quit\r")
        assert await session.ended() == 0


STOPPED = """
import asyncio, signal, sys
from oasis.cli import main
{before}
sys.argv = ["oasis", "--server", "http://127.0.0.1:9"]
main.main()
"""
TWICE = """
def run(work):
    work.close()
    signal.raise_signal(signal.SIGINT)
asyncio.run = run
told = main._fail
main._fail = lambda *said: (signal.raise_signal(signal.SIGINT), told(*said))
"""


async def test_a_second_ctrl_c_while_the_first_one_ends_it_changes_nothing(project: Path):
    session = PtySession(80, 24)
    await session.start_program([sys.executable, "-c", STOPPED.format(before=TWICE)], project)
    try:
        assert await session.ended() == 130
        assert "Traceback" not in session.text
        assert session.is_sane
    finally:
        await session.close()


SHELL = """
import fcntl, os, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execvp("bash", ["bash", "--norc", "--noprofile", "-i"])
"""
"""A shell that has this terminal for its own, and so can stop jobs and have them go on."""


@pytest.mark.parametrize("name", ["SIGTSTP", "SIGSTOP"])
async def test_a_session_that_is_stopped_goes_on_where_it_was(project: Path, name: str):
    async with serving(text("ok")) as server:
        session = PtySession(80, 24)
        await session.start_program([sys.executable, "-c", SHELL], project, PS1=r"$ \[\e[?25h\]")
        try:
            await session.until("$")
            session.send(f"{sys.executable} -m oasis.cli.main --server {server.url}\r")
            await session.until("m · chat lane")
            session.send("half a")
            await session.until("› half a")
            oasis = psutil.Process(session.process.pid).children()[0]
            oasis.send_signal(getattr(signal, name))
            await session.until("Stopped")
            session.send("fg\r")
            await session.until("› half a", gone="$ fg\n$")
            session.send(" message\r")
            await session.until("› half a message", "turn 1")
            session.send("/quit\r")
            await session.until("goes on with this session")
            session.send("exit\r")
            assert await session.ended() == 0
        finally:
            await session.close()
