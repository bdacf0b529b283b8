"""The plant's commands where they are used: at a terminal, and ended with Ctrl-C."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from typer.testing import CliRunner

from oasis.cli.main import app
from oasis.cli.plant.ancestors import is_session
from oasis.lab.lab import Device
from oasis.lab.site import sample

if sys.platform == "win32":
    pytest.skip("a pty is POSIX's", allow_module_level=True)

import fcntl
import pty
import struct
import termios

from oasis_modbus.simulator.stations import Running, running

COMMAND = (sys.executable, "-m", "oasis.cli.main")
PATIENCE_S = 120
"""How long a starved machine may take until something is seen, before a test gives up waiting for it."""
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), "TERM": "xterm-256color"}


class Terminal:
    """A command at a terminal of its own, 100 columns wide."""

    def __init__(self, master: int, process: asyncio.subprocess.Process) -> None:
        self.master, self.process = master, process
        self.output = bytearray()
        self._more = asyncio.Event()
        asyncio.get_running_loop().add_reader(master, self._read)

    def _read(self) -> None:
        try:
            self.output += os.read(self.master, 65536)
        except OSError:
            asyncio.get_running_loop().remove_reader(self.master)
        self._more.set()

    async def saw(self, text: str, times: int = 1) -> None:
        async with asyncio.timeout(PATIENCE_S):
            while self.output.count(text.encode()) < times:
                self._more.clear()
                await self._more.wait()

    def type(self, text: str) -> None:
        os.write(self.master, text.encode())

    async def ended(self) -> tuple[int, str]:
        """The exit code, and all that came."""
        async with asyncio.timeout(PATIENCE_S):
            code = await self.process.wait()
        return code, self.output.decode()


@asynccontextmanager
async def terminal(*arguments: object, home: Path) -> AsyncGenerator[Terminal, None]:
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
    process = await asyncio.create_subprocess_exec(
        *(*COMMAND, *map(str, arguments)),
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env={**ENVIRONMENT, "XDG_STATE_HOME": str(home)},
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
    )
    shown = Terminal(master, process)
    try:
        yield shown
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
        asyncio.get_running_loop().remove_reader(master)
        os.close(slave)
        os.close(master)


@asynccontextmanager
async def lab(folder: Path, **options: object) -> AsyncGenerator[tuple[Running, Path], None]:
    async with running({"speed": 0, **options}) as run:
        site = folder / "plant.toml"
        site.write_text(sample([Device("modbus", station) for station in run.stations]))
        yield run, site


async def test_a_write_is_shown_whole_asked_about_and_sent_once(tmp_path: Path):
    async with (
        lab(tmp_path) as (run, site),
        terminal("plant", "write", "set_point", 75, "--site", site, home=tmp_path) as shown,
    ):
        await shown.saw("does not: ")
        assert run.witness.writes == []
        for said in ("before  82 degC (raw 0334)", "after   75 degC", "limits  20 to 95 degC", "06 00 00 02 ee"):
            assert said.encode() in shown.output
        shown.type("set_point\n")
        code, out = await shown.ended()
        assert code == 0
        assert "Written and read back: set_point: 82 → 75 degC. It reads 75 degC." in out
        assert run.witness.counts == {(1, "holding", 0): 1}


@pytest.mark.parametrize("typed", ["yes please\n", "\x04"])
async def test_anything_but_y_or_the_tag_s_name_sends_nothing(tmp_path: Path, typed: str):
    async with (
        lab(tmp_path) as (run, site),
        terminal("plant", "write", "set_point", 75, "--site", site, home=tmp_path) as shown,
    ):
        await shown.saw("does not: ")
        shown.type(typed)
        code, out = await shown.ended()
        assert code == 1
        assert "Not approved, so nothing was sent" in out
        assert run.witness.writes == []


async def test_ctrl_c_at_the_question_sends_nothing(tmp_path: Path):
    async with (
        lab(tmp_path) as (run, site),
        terminal("plant", "write", "set_point", 75, "--site", site, home=tmp_path) as shown,
    ):
        await shown.saw("does not: ")
        shown.type("\x03")
        await shown.saw("nothing was sent")
        code, out = await shown.ended()
        assert code == 130
        assert "Traceback" not in out
        assert run.witness.writes == []


async def test_an_answer_typed_before_the_question_is_no_answer(tmp_path: Path):
    async with (
        lab(tmp_path) as (run, site),
        terminal("plant", "write", "set_point", 75, "--site", site, home=tmp_path) as shown,
    ):
        shown.type("y\ny\n")
        await shown.saw("does not: ")
        shown.type("n\n")
        code, out = await shown.ended()
        assert code == 1
        assert "Not approved, so nothing was sent" in out
        assert run.witness.writes == []


async def test_ctrl_c_after_the_write_was_sent_says_that_its_outcome_is_unknown(tmp_path: Path):
    async with (
        lab(tmp_path) as (run, site),
        terminal("plant", "write", "set_point", 75, "--site", site, home=tmp_path) as shown,
    ):
        run.faults.switch_on("lost-reply")
        await shown.saw("does not: ")
        shown.type("y\n")
        async with asyncio.timeout(PATIENCE_S):
            while not run.witness.writes:
                await asyncio.sleep(0.01)
        shown.type("\x03")
        await shown.saw("Outcome: UNKNOWN")
        await shown.ended()
        assert len(run.witness.writes) == 1


async def test_a_session_s_command_writes_nothing_even_unattended(tmp_path: Path):
    session = tmp_path / "bin" / "oasis"
    session.parent.mkdir()
    session.write_text(f"import subprocess, sys; sys.exit(subprocess.run([{COMMAND[0]!r}, *sys.argv[2:]]).returncode)")
    async with lab(tmp_path) as (run, site):
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, str(session), "run", *COMMAND[1:], "plant", "write", "pump_2_speed", "20", "--yes"),
            *("--site", str(site)),
            stderr=asyncio.subprocess.PIPE,
            env={**ENVIRONMENT, "XDG_STATE_HOME": str(tmp_path)},
        )
        async with asyncio.timeout(PATIENCE_S):
            _, errors = await process.communicate()
        assert process.returncode == 1
        assert "was started by an Oasis session" in errors.decode()
        assert run.witness.writes == []


@pytest.mark.parametrize(
    ("command", "is_one"),
    [
        (["/usr/bin/python3", "/home/x/.local/bin/oasis"], True),
        (["/usr/bin/python3", "/home/x/.local/bin/oasis", "run", "do it"], True),
        (["python", "-m", "oasis.cli.main", "run"], True),
        (["python3", "-m", "oasis"], True),
        (["python3", "-m", "oasis", "plant", "write"], False),
        (["python3", "-m"], False),
        (["oasis", "plant", "write"], False),
        (["tmux", "new", "-s", "oasis"], False),
        (["python3", "oasis.py", "plant"], False),
        (["oasis", "lab"], False),
        (["bash", "-c", "cat oasis.toml"], False),
        (["vim", "/home/x/oasis/README.md"], False),
        ([], False),
    ],
)
def test_a_session_is_known_by_its_command_line(command: list[str], is_one: bool):
    assert is_session(command) == is_one


async def test_watching_draws_a_live_table_and_ctrl_c_leaves_the_terminal_as_it_was(tmp_path: Path):
    path = tmp_path / "run.csv"
    arguments = ("plant", "watch", "--interval", "0.1", "--csv", path, "--site")
    async with (
        lab(tmp_path, speed=50) as (_, site),
        terminal(*arguments, site, "water", "flame", home=tmp_path) as shown,
    ):
        await shown.saw("water", times=6)
        shown.type("\x03")
        await shown.saw("are in")
        code, out = await shown.ended()
        assert code == 0
        assert "Traceback" not in out
        assert out.rfind("\x1b[?25h") > out.rfind("\x1b[?25l")
        assert any(bar in out for bar in "▂▃▄▅▆▇")
        assert path.read_text().splitlines()[0] == "time,water [degC],flame,not good"


async def test_the_lab_says_what_to_connect_to_and_ctrl_c_ends_it_cleanly(tmp_path: Path):
    site = tmp_path / "plant.toml"
    process = await asyncio.create_subprocess_exec(
        *(*COMMAND, "lab", "--json", "--site", str(site), "--pack", "modbus"),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=ENVIRONMENT,
    )
    assert process.stdout is not None
    async with asyncio.timeout(PATIENCE_S):
        said = json.loads(await process.stdout.readline())
        names = [device["name"] for device in said["devices"]]
        assert names == ["boiler", "pump station", "neighbour", "serial server", "serial line"]
        assert said["devices"][0]["url"] in site.read_text()
        process.send_signal(signal.SIGINT)
        _, errors = await process.communicate()
    assert process.returncode == 0
    assert errors.decode() == "The lab has ended.\n"


def test_the_lab_leaves_a_site_file_that_is_there_as_it_is(tmp_path: Path):
    site = tmp_path / "plant.toml"
    site.write_text("mine")
    result = CliRunner().invoke(app, ["lab", "--site", str(site)])
    assert "no lab wrote it, and it is left as it is" in str(result.exception)
    assert site.read_text() == "mine"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--fualts"], "Did you mean --faults"),
        (["--faults", "--fault", "modbus:busy"], "with --fault leave it out"),
        (["plant.toml"], "the lab takes no arguments"),
    ],
)
def test_what_the_lab_cannot_mean_is_said(arguments: list[str], said: str):
    result = CliRunner().invoke(app, ["lab", *arguments])
    assert result.exit_code == 2
    assert said in " ".join(result.output.split())
