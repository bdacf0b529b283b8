"""Commands of a session with a pack: no network, no serial line, nothing written that no tool may write."""

import socket
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from oasis.tools import bash
from oasis.tools import isolation as isolation_module
from oasis.tools.isolation import Isolation, isolation, why_none
from tests.tools.conftest import Project

here = isolation()
isolated = pytest.mark.skipif(here is None, reason=why_none())
own_processes = pytest.mark.skipif(
    not here or not here.has_own_processes, reason=why_none() or "no namespace of processes"
)


def run(command: str, *read_only: Path) -> subprocess.CompletedProcess[str]:
    assert here
    argv = here.wrapped(["bash", "-c", command], read_only)
    return subprocess.run(argv, check=False, capture_output=True, text=True, timeout=30, stdin=subprocess.DEVNULL)


@isolated
def test_a_command_reaches_no_listener_of_this_machine():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.2)
        port = listener.getsockname()[1]
        said = run(f"echo x > /dev/tcp/127.0.0.1/{port} && echo reached")
        with pytest.raises(TimeoutError):
            listener.accept()
    assert "reached" not in said.stdout


@isolated
def test_a_command_talks_to_itself_over_loopback():
    code = (
        "import socket; s = socket.create_server(('127.0.0.1', 0)); "
        "c = socket.create_connection(s.getsockname()); print('through')"
    )
    assert run(f'{sys.executable} -c "{code}"').stdout == "through\n"


@isolated
def test_a_protected_file_cannot_be_changed_removed_or_uncovered(tmp_path: Path):
    kept = tmp_path / "plant.toml"
    kept.write_text("as it was")
    run(
        f"cd {tmp_path}; echo x > plant.toml; rm -f plant.toml; mv plant.toml other; umount {kept}; echo x > plant.toml",
        kept,
    )
    assert kept.read_text() == "as it was"


@isolated
def test_everything_else_can_be_written(tmp_path: Path):
    assert run(f"echo yes > {tmp_path}/made; exit 3").returncode == 3
    assert (tmp_path / "made").read_text() == "yes\n"


@isolated
def test_a_path_with_spaces_and_quotes_is_protected(tmp_path: Path):
    kept = tmp_path / 'it\'s a "plant" $(x).toml'
    kept.write_text("as it was")
    assert run(f'cd {tmp_path}; for f in *; do echo x > "$f"; done; echo ran', kept).stdout == "ran\n"
    assert kept.read_text() == "as it was"


def test_bubblewrap_shares_no_network_and_binds_what_is_protected(tmp_path: Path):
    kept = tmp_path / "plant.toml"
    kept.touch()
    argv = Isolation("", "bwrap").wrapped(["true"], [kept, tmp_path / "missing"])
    assert argv[:1] + argv[-2:] == ["bwrap", "--", "true"]
    assert "--unshare-net" in argv
    assert ["--ro-bind", str(kept), str(kept)] == argv[argv.index("--ro-bind") : argv.index("--ro-bind") + 3]
    assert str(tmp_path / "missing") not in argv


def test_where_there_is_none_it_says_why(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(isolation_module, "isolation", lambda: None)
    assert why_none()


@isolated
def test_a_folder_above_what_is_protected_cannot_be_renamed(tmp_path: Path):
    folder = tmp_path / "plant"
    folder.mkdir()
    kept = folder / "plant.toml"
    kept.write_text("as it was")
    run(f"cd {tmp_path}; mv plant other; mkdir -p plant; echo x > plant/plant.toml", kept)
    assert kept.read_text() == "as it was"


@isolated
def test_a_command_reaches_no_socket_file_of_a_program_outside(tmp_path: Path):
    place = tmp_path / "s"
    code = f"import socket; socket.socket(socket.AF_UNIX).connect('{place}'); print('reached')"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(place))
        listener.listen()
        assert "reached" not in run(f'{sys.executable} -c "{code}"').stdout


@isolated
def test_a_command_sees_no_device_but_null_and_its_like():
    names = set(run("ls /dev").stdout.split())
    assert {"null", "zero", "urandom"} <= names
    assert not {name for name in names if name.startswith(("ttyS", "ttyUSB", "hidraw", "bus", "vd", "sd"))}


@own_processes
def test_a_command_sees_and_ends_no_process_outside():
    sleeping = subprocess.Popen(["sleep", "60"])
    try:
        said = run(f"kill -9 {sleeping.pid}; ls -d /proc/[0-9]* | wc -l")
        assert sleeping.poll() is None
        assert "No such process" in said.stderr
        assert int(said.stdout) < 10
    finally:
        sleeping.kill()
        sleeping.wait()


@own_processes
def test_what_a_command_leaves_running_ends_with_it_and_that_is_said(tmp_path: Path):
    mark = tmp_path / "mark"
    said = run(f"setsid sh -c 'exec 3>{mark}; sleep 600' >/dev/null 2>&1 & until [ -e {mark} ]; do sleep 0.01; done")
    assert "was ended with it" in said.stderr
    assert not [p for p in psutil.process_iter() if _has_open(p, mark)]


@isolated
def test_a_command_that_leaves_nothing_running_says_nothing_more():
    said = run("echo one | cat; (exit 4)")
    assert (said.stdout, said.stderr, said.returncode) == ("one\n", "", 4)


def _has_open(process: psutil.Process, file: Path) -> bool:
    try:
        return str(file) in [opened.path for opened in process.open_files()]
    except psutil.Error:
        return False


def test_bubblewrap_gives_a_command_processes_of_its_own():
    assert "--unshare-pid" in Isolation("", "bwrap").wrapped(["true"], [])
    assert "--unshare-pid" not in Isolation("", "bwrap", has_own_processes=False).wrapped(["true"], [])


@isolated
async def test_a_command_that_missed_the_network_is_told_that_it_has_none(project: Project):
    tool = bash.tool(project.workspace, isolation=lambda: here)
    missed = await tool.run({"command": "echo 'connect: Connection refused'; exit 1"})
    other = await tool.run({"command": "echo 'no such file'; exit 1"})
    assert ["commands have no network" in outcome.text for outcome in (missed, other)] == [True, False]
