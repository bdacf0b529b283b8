"""install.sh and .ci/run: what they say, make, remove and refuse."""

import os
import re
import shutil
import stat
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parent.parent
SCRIPT = REPOSITORY / "install.sh"
SHELL = shutil.which("sh")

pytestmark = pytest.mark.skipif(SHELL is None or os.name == "nt", reason="install.sh is for POSIX shells")

COMMANDS = ("basename", "cat", "chmod", "cp", "dirname", "find", "grep", "ln", "mkdir", "mktemp", "readlink")
COMMANDS += ("rm", "rmdir", "sed", "sh", "sort", "tr")
STAND_IN = """#!/bin/sh
# A Python whose environments cost nothing: `-m venv` makes one, pip in it "installs" an oasis.
case "$*" in
*'print("%d.%d"'*) echo 3.11 ;;
*'import ensurepip'*) [ -z "$NO_ENSUREPIP" ] ;;
*'-m virtualenv'* | *'-m pip --python'*) exit 1 ;;
*version_info*) exit 0 ;;
*'-m venv'*)
    for place in "$@"; do :; done
    mkdir -p "$place/bin" && cp "$0" "$place/bin/python" ;;
*'-m pip wheel'*) : >"$7/oasis_agent-0.1.0-py3-none-any.whl" ;;
*'-m pytest'*) shift 2 && echo "pytest $*" ;;
*'-m pip install'*)
    [ -z "$PIP_FAILS" ] || { echo 'no such host' >&2; exit 1; }
    printf '#!/bin/sh\\necho oasis 0.1.0\\n' >"$(dirname "$0")/oasis" && chmod +x "$(dirname "$0")/oasis" ;;
*--version*) echo Python 3.11.9 ;;
esac
"""


class Machine:
    """A home, a PATH with standard commands and chosen Pythons, and a checkout's copy in a folder with a space."""

    def __init__(self, root: Path) -> None:
        self.home = root / "home"
        self.bin = root / "bin"
        self.checkout = root / "a check out"
        for folder in (self.home, self.bin, self.checkout):
            folder.mkdir()
        shutil.copy(SCRIPT, self.checkout)
        shutil.copy(REPOSITORY / "pyproject.toml", self.checkout)
        for name in COMMANDS:
            found = shutil.which(name)
            assert found, name
            (self.bin / name).symlink_to(found)

    def has_python(self, text: str = STAND_IN, name: str = "python3.11") -> None:
        python = self.bin / name
        python.write_text(text)
        python.chmod(0o755)

    def run(self, *arguments: str, stdin: str | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
        """The script by its path; through a pipe from elsewhere when `stdin` is its text."""
        start = [SHELL or "sh", str(self.checkout / "install.sh")] if stdin is None else [SHELL or "sh", "-s", "--"]
        return subprocess.run(
            [*start, *arguments],
            input=stdin or "",
            env={"HOME": str(self.home), "PATH": str(self.bin), "PYTHON": "python3.11", **environment},
            cwd=self.home,
            capture_output=True,
            text=True,
            check=False,
        )

    def files(self) -> list[str]:
        return sorted(str(path.relative_to(self.home)) for path in self.home.rglob("*"))

    @property
    def link(self) -> Path:
        return self.home / ".local/bin/oasis"


def small_wheel(folder: Path) -> Path:
    """A wheel of the same name that needs nothing and whose `oasis` prints its version."""
    path, about = folder / "oasis_agent-0.0.1-py3-none-any.whl", "oasis_agent-0.0.1.dist-info"
    files = {
        "oasis.py": "def main() -> None:\n    print('oasis 0.0.1')\n",
        f"{about}/METADATA": "Metadata-Version: 2.1\nName: oasis-agent\nVersion: 0.0.1\n",
        f"{about}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{about}/entry_points.txt": "[console_scripts]\noasis = oasis:main\n",
    }
    files[f"{about}/RECORD"] = "".join(f"{name},,\n" for name in [*files, f"{about}/RECORD"])
    with zipfile.ZipFile(path, "w") as wheel:
        for name, text in files.items():
            wheel.writestr(name, text)
    return path


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


@pytest.mark.parametrize("script", ["install.sh", ".ci/run"])
def test_the_scripts_parse_and_can_be_executed(script: str) -> None:
    path = REPOSITORY / script
    shell = shutil.which("bash") if script == ".ci/run" else SHELL
    assert shell
    subprocess.run([shell, "-n", str(path)], check=True)
    assert path.stat().st_mode & stat.S_IXUSR


def test_help_names_every_command(machine: Machine) -> None:
    result = machine.run("--help")
    assert result.returncode == 0
    for command in ("demo", "test", "lint", "check", "release", "--uninstall", "--from", "--extras"):
        assert command in result.stdout
    assert machine.files() == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--frobnicate"], "unknown command or flag: --frobnicate"),
        (["--from"], "--from needs a value"),
        (["--from", "/nowhere"], "/nowhere is neither a wheel"),
        (["--from", "/nowhere/x.whl"], "does not exist"),
        (["--extras", "modbus; rm -rf /"], "is not a list such as"),
        (["--uninstall", "--extras", "modbus"], "goes with no other flag"),
        (["release", "now"], "takes no arguments"),
    ],
)
def test_wrong_usage_exits_with_2_and_makes_nothing(machine: Machine, arguments: list[str], said: str) -> None:
    machine.has_python()
    result = machine.run(*arguments)
    assert (result.returncode, result.stdout) == (2, "")
    assert said in result.stderr
    assert machine.files() == []


def test_an_installation_says_what_it_made(machine: Machine) -> None:
    machine.has_python()
    result = machine.run()
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("Installed: oasis 0.1.0\n")
    for made in (machine.checkout, machine.home / ".local/share/oasis/venv", machine.link, "extras       all"):
        assert str(made) in result.stdout
    assert subprocess.check_output([machine.link], text=True) == "oasis 0.1.0\n"


def test_the_line_for_the_path_is_shown_only_where_it_is_missing(machine: Machine) -> None:
    machine.has_python()
    assert "export PATH" in machine.run().stdout
    assert "export PATH" not in machine.run(PATH=f"{machine.bin}:{machine.link.parent}").stdout


def test_a_second_run_updates(machine: Machine) -> None:
    machine.has_python()
    machine.run()
    before = machine.files()
    result = machine.run()
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("Updated: oasis 0.1.0 -> oasis 0.1.0\n")
    assert machine.files() == before


def test_a_second_run_keeps_the_extras_of_the_first(machine: Machine) -> None:
    machine.has_python()
    machine.run("--extras", "opcua")
    assert re.search(r"extras +opcua\n", machine.run().stdout)


def test_it_installs_through_a_pipe(machine: Machine) -> None:
    machine.has_python()
    result = machine.run("--from", str(machine.checkout), stdin=SCRIPT.read_text())
    assert result.returncode == 0, result.stderr
    assert machine.link.exists()


def test_a_script_cut_off_in_the_pipe_does_nothing(machine: Machine) -> None:
    machine.has_python()
    text = SCRIPT.read_text()
    result = machine.run("--from", str(machine.checkout), stdin=text[: text.rindex("main ")])
    assert (result.returncode, result.stdout) == (0, "")
    assert machine.files() == []


def test_without_a_checkout_the_source_has_to_be_named(machine: Machine) -> None:
    machine.has_python()
    result = machine.run(stdin=SCRIPT.read_text())
    assert result.returncode == 2
    assert "say what to install: --from" in result.stderr
    assert machine.files() == []


def test_without_a_checkout_an_update_takes_the_source_of_the_first_time(machine: Machine) -> None:
    machine.has_python()
    machine.run()
    result = machine.run(stdin=SCRIPT.read_text())
    assert result.returncode == 0, result.stderr
    assert re.search(rf"from +{re.escape(str(machine.checkout))}\n", result.stdout)


def test_uninstalling_leaves_the_home_as_it_was(machine: Machine) -> None:
    machine.has_python()
    (machine.home / ".local").mkdir()
    (machine.home / "notes.txt").write_text("mine")
    before = machine.files()
    machine.run()
    result = machine.run("--uninstall")
    assert result.returncode == 0
    assert machine.files() == before


def test_uninstalling_names_and_keeps_settings_and_sessions(machine: Machine) -> None:
    machine.has_python()
    machine.run()
    kept = [machine.home / ".config/oasis", machine.home / ".local/state/oasis", machine.home / ".local/share/oasis"]
    for folder in kept:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "mine").write_text("kept")
    result = machine.run("--uninstall")
    for folder in kept:
        assert str(folder) in result.stdout
        assert (folder / "mine").read_text() == "kept"
    assert not machine.link.is_symlink()
    assert not (machine.home / ".local/share/oasis/venv").exists()


def test_uninstalling_what_was_never_installed_says_so(machine: Machine) -> None:
    result = machine.run("--uninstall")
    assert (result.returncode, result.stdout) == (0, "Oasis was not installed by this script; nothing was removed.\n")


def test_a_command_of_that_name_made_by_someone_else_is_left_alone(machine: Machine) -> None:
    machine.has_python()
    machine.link.parent.mkdir(parents=True)
    machine.link.write_text("#!/bin/sh\n")
    before = machine.files()
    result = machine.run()
    assert result.returncode == 1
    assert "was not made by this script" in result.stderr
    machine.run("--uninstall")
    assert machine.files() == before


def test_a_first_installation_that_fails_leaves_nothing(machine: Machine) -> None:
    machine.has_python()
    result = machine.run(PIP_FAILS="yes")
    assert result.returncode == 1
    assert "no such host" in result.stderr
    assert "pip could not install what Oasis needs" in result.stderr
    assert machine.files() == []


def test_an_update_that_fails_leaves_what_was_installed(machine: Machine) -> None:
    machine.has_python()
    machine.run()
    before = machine.files()
    assert machine.run(PIP_FAILS="yes").returncode == 1
    assert machine.files() == before
    assert subprocess.check_output([machine.link], text=True) == "oasis 0.1.0\n"


def test_an_environment_whose_python_is_gone_is_made_again(machine: Machine) -> None:
    machine.has_python()
    machine.run()
    (machine.home / ".local/share/oasis/venv/bin/python").unlink()
    result = machine.run()
    assert result.returncode == 0, result.stderr
    assert "Making the virtual environment" in result.stderr


def test_a_python_that_is_too_old_is_named(machine: Machine) -> None:
    machine.has_python("#!/bin/sh\nexit 1\n")
    result = machine.run()
    assert result.returncode == 1
    assert "PYTHON names python3.11, which is not Python 3.11 or later" in result.stderr
    assert machine.files() == []


def test_a_python_without_ensurepip_is_told_what_to_install(machine: Machine) -> None:
    machine.has_python()
    result = machine.run(NO_ENSUREPIP="yes")
    assert result.returncode == 1
    assert "sudo apt install python3.11-venv" in result.stderr
    assert machine.files() == []


def test_without_a_home_nothing_is_made(machine: Machine) -> None:
    machine.has_python()
    result = machine.run(HOME="")
    assert result.returncode == 1
    assert "HOME is not set" in result.stderr


def test_a_link_to_the_script_finds_its_checkout(machine: Machine) -> None:
    machine.has_python()
    (machine.home / "far").mkdir()
    (machine.home / "far/install.sh").symlink_to(machine.checkout / "install.sh")
    (machine.home / "set-up-oasis").symlink_to("far/install.sh")
    started = [SHELL or "sh", str(machine.home / "set-up-oasis")]
    environment = {"HOME": str(machine.home), "PATH": str(machine.bin), "PYTHON": "python3.11"}
    result = subprocess.run(started, env=environment, cwd="/", capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert re.search(rf"from +{re.escape(str(machine.checkout))}\n", result.stdout)


def test_nothing_is_made_that_others_may_write_to(machine: Machine) -> None:
    machine.has_python()
    before = os.umask(0)
    try:
        assert machine.run().returncode == 0
    finally:
        os.umask(before)
    made = [machine.home / name for name in machine.files() if not (machine.home / name).is_symlink()]
    assert made
    assert [path for path in made if path.stat().st_mode & (stat.S_IWGRP | stat.S_IWOTH)] == []


def test_a_home_with_a_space_and_an_umlaut_is_no_trouble(machine: Machine) -> None:
    machine.has_python()
    machine.home = machine.home / "Jörg Müller"
    machine.home.mkdir()
    result = machine.run()
    assert result.returncode == 0, result.stderr
    assert subprocess.check_output([machine.link], text=True) == "oasis 0.1.0\n"
    assert machine.run("--uninstall").returncode == 0
    assert machine.files() == []


def test_a_command_that_was_put_in_the_place_of_ours_is_named_and_stays(machine: Machine) -> None:
    machine.has_python()
    machine.run()
    machine.link.unlink()
    machine.link.write_text("mine")
    (machine.home / ".local/share/oasis/venv/notes.txt").write_text("in the environment, which is the script's own")
    result = machine.run("--uninstall")
    assert result.returncode == 0
    assert f"{machine.link} was not made by this script and stays" in result.stderr
    assert machine.link.read_text() == "mine"
    assert not (machine.home / ".local/share/oasis").exists()


def test_pip_is_not_left_asking_for_a_password(machine: Machine) -> None:
    machine.has_python(STAND_IN.replace("echo 'no such host'", 'echo "asks nobody: $PIP_NO_INPUT"'))
    result = machine.run(PIP_FAILS="yes")
    assert "asks nobody: 1\n" in result.stderr
    assert "An index that wants a password" in result.stderr


def test_the_tests_run_in_the_checkout_on_three_workers_with_the_arguments_given(machine: Machine) -> None:
    machine.has_python()
    result = machine.run("test", "--all", "-k", "two words")
    assert (result.returncode, result.stdout) == (0, "pytest -n 3 --all -k two words\n"), result.stderr
    assert machine.run("test", "-n0").stdout == "pytest -n 3 -n0\n"
    assert machine.files() == []


def test_a_second_set_up_installs_only_when_pyproject_changed(machine: Machine) -> None:
    machine.has_python()
    assert "Installing Oasis with [dev]" in machine.run("test").stderr
    assert machine.run("test").stderr == ""
    with (machine.checkout / "pyproject.toml").open("a") as file:
        file.write("# changed\n")
    assert "Installing Oasis with [dev]" in machine.run("test").stderr


def test_a_set_up_that_failed_is_done_again(machine: Machine) -> None:
    machine.has_python()
    assert machine.run("test", PIP_FAILS="yes").returncode == 1
    assert "Installing Oasis with [dev]" in machine.run("test").stderr


def test_the_demo_runs_from_a_checkout_that_is_set_up_for_tests_as_it_is(machine: Machine) -> None:
    machine.has_python()
    machine.run("test")
    result = machine.run("demo")
    assert (result.returncode, result.stdout, result.stderr) == (0, "oasis 0.1.0\n", "")


def test_the_commands_of_a_checkout_say_that_they_need_one(machine: Machine) -> None:
    result = machine.run("demo", stdin=SCRIPT.read_text())
    assert result.returncode == 2
    assert "works in a checkout" in result.stderr


def test_a_wheel_is_installed_by_a_real_pip_without_a_network(machine: Machine) -> None:
    machine.has_python(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    wheel = small_wheel(machine.home.parent)
    result = machine.run("--from", str(wheel), "--extras", "", PIP_NO_INDEX="1")
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("Installed: oasis 0.0.1\n")
    assert subprocess.check_output([machine.link], text=True) == "oasis 0.0.1\n"


@pytest.mark.campaign
def test_this_checkout_is_installed_updated_and_removed(machine: Machine, tmp_path: Path) -> None:
    own = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "HTTP", "SSL_"))}
    environment = {**own, "HOME": str(machine.home), "PATH": os.environ["PATH"], "PYTHON": sys.executable}

    def run(*arguments: str) -> str:
        command = [str(SCRIPT), *arguments]
        return subprocess.check_output(command, env=environment, cwd=tmp_path, stdin=subprocess.DEVNULL, text=True)

    assert run("--extras", "").startswith("Installed: oasis ")
    assert run().startswith("Updated: oasis ")
    assert subprocess.check_output([machine.link, "--version"], text=True).startswith("oasis ")
    assert str(machine.link) in run("--uninstall")
    assert not machine.link.is_symlink()
