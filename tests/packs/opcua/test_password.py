"""A password typed at a terminal: asked for once, not shown, kept nowhere."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from oasis_opcua import password
from oasis_opcua.address import parse
from oasis_opcua.simulator.line import PASSWORD, USER
from platformdirs import user_cache_path, user_config_path, user_data_path, user_state_path

from oasis.errors import ToolFault
from tests.packs.opcua.lines import LINE, Shared
from tests.packs.opcua.test_security import trust_server

READ = [sys.executable, "-c", "from oasis.cli.main import main; main()", "plant", "read"]
AT_A_TERMINAL = [*READ[:2], f"import fcntl, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); {READ[2]}", *READ[3:]]
"""The same in a session of its own, whose terminal is its standard input."""
ITEM = f"{LINE};s=Line1.Recipe.Name"


@pytest.mark.skipif(os.name == "nt", reason="a pseudo terminal is POSIX")
@pytest.mark.parametrize(("typed", "code", "said"), [
    (PASSWORD, 0, '"Oat'), ("wrong-horse", 1, f"does not let '{USER}' in"),
])  # fmt: skip
def test_a_person_is_asked_and_what_is_typed_is_not_shown(shared: Shared, typed: str, code: int, said: str):
    trust_server(shared)
    status, shown = _at_a_terminal([shared.url.replace("//", f"//{USER}@"), ITEM], typed)
    assert f"Password of {USER} on 127.0.0.1:{shared.line.port} (not shown): " in shown
    assert said in " ".join(shown.split())
    assert status == code
    assert typed not in shown
    assert [path for path in _kept() if typed in path.read_bytes().decode("latin-1")] == []


def test_nobody_is_asked_where_standard_input_is_no_terminal(shared: Shared):
    trust_server(shared)
    command = [*READ, shared.url.replace("//", f"//{USER}@"), ITEM]
    done = subprocess.run(command, input="secret\n", capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 1
    assert f"Set OASIS_OPCUA_PASSWORD_127_0_0_1_{shared.line.port}" in done.stderr
    assert "Password of" not in done.stderr


def test_nobody_is_asked_while_something_draws_on_the_terminal(monkeypatch: pytest.MonkeyPatch):
    import pty
    import tty

    ours, theirs = pty.openpty()
    tty.setraw(theirs)
    with os.fdopen(theirs, "r", closefd=True) as terminal:
        monkeypatch.setattr(sys, "stdin", terminal)
        monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
        with pytest.raises(ToolFault, match="There is no password"):
            password.asked(parse("opc.tcp://anna@h"))
    os.close(ours)


def _at_a_terminal(arguments: list[str], typed: str) -> tuple[int, str]:
    """Exit code of `oasis plant read` and all that its terminal shows; `typed` is typed at the question."""
    import pty

    terminal, theirs = pty.openpty()
    process = subprocess.Popen(
        [*AT_A_TERMINAL, *arguments, "--table"],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    shown = b""
    is_typed = False
    while data := _more(terminal):
        shown += data
        if not is_typed and b"(not shown): " in shown:
            is_typed = True
            os.write(terminal, f"{typed}\n".encode())
    os.close(terminal)
    return process.wait(60), shown.decode()


def _more(terminal: int) -> bytes:
    """What the terminal shows next; nothing once the program has ended."""
    try:
        return os.read(terminal, 4096)
    except OSError:
        return b""


def _kept() -> list[Path]:
    """Every file that Oasis has written for the user."""
    folders = (user_config_path("oasis"), user_state_path("oasis"), user_data_path("oasis"), user_cache_path("oasis"))
    return [
        path for folder in folders for path in folder.rglob("*") if path.is_file() and "simulator" not in path.parts
    ]
