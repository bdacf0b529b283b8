"""Processes of their own group, the shell that runs commands, and an environment without secrets.

What differs between POSIX and Windows is here and nowhere else in the tools.
"""

import contextlib
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import psutil

OWN_GROUP: dict[str, Any] = (
    {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}  # pyright: ignore
    if os.name == "nt"
    else {"start_new_session": True}
)
MARK = "OASIS_COMMAND"
"""The variable by which a command's processes are known again, also those that made themselves daemons."""
_SECRET = re.compile(
    r"(^|_)(ACCESS_?KEY(_ID)?|PRIVATE_?KEY|TOKEN|PASSWD|PASS|CREDENTIALS?)(_|$)"
    r"|API_?KEY|SECRET|PASSWORD|PASSPHRASE|CONNECTION_STRING",
    re.IGNORECASE,
)
_QUIET = {
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "MANPAGER": "cat",
    "TERM": "dumb",
    "NO_COLOR": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "PYTHONUNBUFFERED": "1",
}


def shell() -> list[str]:
    """The command that runs a command line: bash where there is one, else sh; Git's bash or cmd on Windows."""
    if os.name != "nt":
        return [shutil.which("bash") or "/bin/sh", "-c"]
    git = shutil.which("git")
    bash = Path(git).resolve().parent.parent / "bin" / "bash.exe" if git else None
    if bash and bash.is_file():
        return [str(bash), "-c"]
    return [os.environ.get("COMSPEC", "cmd.exe"), "/d", "/s", "/c"]


def quiet(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment for a command: no variable that looks like a key, token or password, no pager, no colours."""
    return {name: value for name, value in environment.items() if not _SECRET.search(name)} | _QUIET


def group_members(pid: int) -> list[psutil.Process]:
    """What still runs of the group that our child `pid` leads or led, and of its children."""
    found: dict[int, psutil.Process] = {}
    with contextlib.suppress(psutil.Error):
        leader = psutil.Process(pid)
        if leader.ppid() == os.getpid():
            found = {member.pid: member for member in (leader, *leader.children(recursive=True))}
    for candidate in psutil.process_iter():
        with contextlib.suppress(OSError, psutil.Error):
            if (candidate.ppid() if os.name == "nt" else os.getpgid(candidate.pid)) == pid:
                found[candidate.pid] = candidate
    return [member for member in found.values() if _runs(member)]


def end_group(pid: int, mark: str = "") -> None:
    """Kill the group that our child `pid` leads or led, and children that left it.

    With a `mark` also what was started with it in its environment (see MARK), wherever it went since.
    """
    members = [*group_members(pid), *(_marked(mark) if mark else ())]
    if os.name != "nt" and members:
        with contextlib.suppress(OSError):
            os.killpg(pid, signal.SIGKILL)
    end(members)


def _marked(mark: str) -> list[psutil.Process]:
    """Processes of this user that have the mark in their environment."""
    found: list[psutil.Process] = []
    for candidate in psutil.process_iter():
        with contextlib.suppress(OSError, psutil.Error):
            if candidate.environ().get(MARK) == mark:
                found.append(candidate)
    return found


def end(members: Sequence[psutil.Process]) -> None:
    """Kill these processes; one whose number went to another process since is left alone."""
    for member in members:
        with contextlib.suppress(psutil.Error):
            member.kill()


def _runs(member: psutil.Process) -> bool:
    with contextlib.suppress(psutil.Error):
        return member.status() != psutil.STATUS_ZOMBIE
    return False
