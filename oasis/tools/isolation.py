"""Commands without a network: what a shell must not have while a pack gives access to a plant.

With bubblewrap, else with namespaces of util-linux (`unshare`, `setpriv`), both Linux: the command sees no network
but its own loopback, no device but null and its like, no socket file of a program outside (a tmux, a Docker or a D-Bus
would run a command where the plant can be reached), and what no tool may write is read-only for it, where it is:
a folder above it cannot be renamed. Where the system has it, the command sees and ends its own processes only: not
Oasis, which owes the plant its safe values; what it leaves running ends with it. Elsewhere there is no isolation, and
the gate asks for each command.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

_LOOK_S = 10.0
_UNIX_SOCKETS = Path("/proc/net/unix")
_INSIDE = """
set -e
for place in "$@"; do
  shift
  [ "$place" = -- ] && break
  at=${place#???}
  case $place in
  at:*) mount --bind "$at" "$at" ;;
  ro:*) mount --bind "$at" "$at"; mount -o remount,bind,ro "$at" ;;
  no:*) [ ! -e "$at" ] || mount --bind /dev/null "$at" ;;
  esac
done
cd "$(pwd -P)"
ip link set lo up 2>/dev/null || true
mount -t tmpfs -o mode=755 tmpfs /dev/shm
mkdir -m 1777 /dev/shm/shm
mkdir /dev/shm/pts
for name in null zero full random urandom tty; do
  : > /dev/shm/$name
  mount --bind /dev/$name /dev/shm/$name
done
ln -s /proc/self/fd /dev/shm/fd
ln -s fd/0 /dev/shm/stdin
ln -s fd/1 /dev/shm/stdout
ln -s fd/2 /dev/shm/stderr
ln -s pts/ptmx /dev/shm/ptmx
mount -t devpts -o newinstance,ptmxmode=0666 devpts /dev/shm/pts 2>/dev/null || true
mount --rbind /dev/shm /dev
set +e
setpriv --no-new-privs --inh-caps=-all --ambient-caps=-all --bounding-set=-all -- "$@"
code=$?
[ $$ = 1 ] || exit $code
for place in /proc/[0-9]*; do
  name=
  [ $place = /proc/1 ] || { read -r name < $place/cmdline; } 2>/dev/null
  [ -z "$name" ] || { echo "[What the command left running was ended with it, since a pack is chosen.]" >&2; break; }
done
exit $code
"""


@dataclass(frozen=True, slots=True)
class Isolation:
    """How commands are kept from the plant; `how` says it for a person. `kind` is bwrap, root or user.

    has_own_processes  a command sees and ends none but its own
    """

    how: str
    kind: str
    has_own_processes: bool = True

    def wrapped(self, argv: Sequence[str], read_only: Sequence[Path]) -> list[str]:
        """The command line that runs `argv` isolated; `read_only` are files and folders it cannot write."""
        kept = [path.resolve() for path in read_only if path.exists()]
        if self.kind == "bwrap":
            return [*_bwrap(kept, self.has_own_processes), "--", *argv]
        above, hidden = (
            (f"at:{path}" for path in _above(kept)),
            (f"no:{path}" for path in _socket_files()),
        )
        places = [*above, *(f"ro:{path}" for path in kept), *hidden]
        return [
            *_unshare(self.kind, self.has_own_processes),
            "sh",
            "-c",
            _INSIDE,
            "oasis",
            *places,
            "--",
            *argv,
        ]


@cache
def isolation() -> Isolation | None:
    """What this system offers, tried once by running a command in it; None where it offers nothing."""
    if sys.platform != "linux":
        return None
    for found in _candidates():
        if _works(found):
            return found
    return None


def why_none() -> str:
    """Why commands are not isolated here, for a person; empty where they are."""
    if isolation():
        return ""
    if sys.platform != "linux":
        return "this system cannot take the network from a command"
    return "neither bubblewrap (bwrap) nor a network namespace (unshare, setpriv) can be used by this user"


def _candidates() -> list[Isolation]:
    found: list[Isolation] = []
    if shutil.which("bwrap"):
        found.append(Isolation("bubblewrap: no network, no serial line", "bwrap"))
    if shutil.which("unshare") and shutil.which("setpriv") and shutil.which("mount"):
        kind = "root" if os.geteuid() == 0 else "user"
        found.append(Isolation("network namespace: no network, no serial line", kind))
    return [*found, *(replace(one, has_own_processes=False) for one in found)]


def _bwrap(read_only: Sequence[Path], has_own_processes: bool) -> list[str]:
    held = [part for path in _above(read_only) for part in ("--bind", str(path), str(path))]
    bound = [part for path in read_only for part in ("--ro-bind", str(path), str(path))]
    hidden = [part for path in _socket_files() for part in ("--ro-bind", "/dev/null", path)]
    ends = ["--unshare-net", "--die-with-parent", "--cap-drop", "ALL"]
    own = ["--unshare-pid", "--proc", "/proc"] if has_own_processes else []
    return ["bwrap", "--bind", "/", "/", "--dev", "/dev", *own, *ends, *held, *bound, *hidden]


def _unshare(kind: str, has_own_processes: bool) -> list[str]:
    as_user = ["--user", "--map-root-user"] if kind == "user" else []
    own = ["--pid", "--fork", "--kill-child", "--mount-proc"] if has_own_processes else []
    return ["unshare", *as_user, "--net", "--mount", *own, "--propagation", "private"]


def _above(paths: Sequence[Path]) -> list[Path]:
    """Each folder above the paths, the upper before the lower. Mounted on itself, none of them can be renamed."""
    folders = {folder for path in paths for folder in path.parents if folder != folder.parent}
    return sorted(folders, key=lambda folder: len(folder.parts))


def _socket_files() -> list[str]:
    """Socket files that programs outside listen at. Those that begin with @ have no file, and end with the network."""
    try:
        lines = _UNIX_SOCKETS.read_text(errors="surrogateescape").splitlines()[1:]
    except OSError:
        return []
    rows = [line.split(maxsplit=7) for line in lines]
    named = {os.path.realpath(row[7]) for row in rows if len(row) == 8 and row[7].startswith("/")}
    return sorted(path for path in named if _is_socket(path))


def _is_socket(path: str) -> bool:
    """Whether this user can reach a socket file there."""
    try:
        return Path(path).is_socket()
    except OSError:
        return False


def _works(found: Isolation) -> bool:
    try:
        done = subprocess.run(  # noqa: S603
            found.wrapped(["sh", "-c", "exit 7"], ()),
            check=False,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_LOOK_S,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 7
