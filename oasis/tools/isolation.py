"""Commands without a network: what a shell must not have while a pack gives access to a plant.

With bubblewrap, else with namespaces of util-linux (`unshare`, `setpriv`), both Linux: the command sees no network
but its own loopback, no serial line, and what no tool may write is read-only for it. Elsewhere there is no isolation,
and the gate asks for each command.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_SERIAL = ("ttyS*", "ttyUSB*", "ttyACM*", "ttyAMA*", "ttymxc*", "rfcomm*")
_LOOK_S = 10.0
_INSIDE = """
set -e
for place in "$@"; do
  shift
  [ "$place" = -- ] && break
  case $place in
  ro:*) mount --bind "${place#ro:}" "${place#ro:}"; mount -o remount,bind,ro "${place#ro:}" ;;
  no:*) mount --bind /dev/null "${place#no:}" ;;
  esac
done
ip link set lo up 2>/dev/null || true
mount -t devpts -o newinstance,ptmxmode=0666 devpts /dev/pts 2>/dev/null || true
exec setpriv --no-new-privs --inh-caps=-all --ambient-caps=-all --bounding-set=-all -- "$@"
"""


@dataclass(frozen=True, slots=True)
class Isolation:
    """How commands are kept from the plant; `how` says it for a person. `kind` is bwrap, root or user."""

    how: str
    kind: str

    def wrapped(self, argv: Sequence[str], read_only: Sequence[Path]) -> list[str]:
        """The command line that runs `argv` isolated; `read_only` are files and folders it cannot write."""
        kept = [str(path) for path in read_only if path.exists()]
        if self.kind == "bwrap":
            return [*_bwrap(kept), "--", *argv]
        places = [*(f"ro:{path}" for path in kept), *(f"no:{path}" for path in _serial_lines())]
        return [*_unshare(self.kind), "sh", "-c", _INSIDE, "oasis", *places, "--", *argv]


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
    return found


def _bwrap(read_only: Sequence[str]) -> list[str]:
    bound = [part for path in read_only for part in ("--ro-bind", path, path)]
    return ["bwrap", "--bind", "/", "/", "--dev", "/dev", "--unshare-net", "--die-with-parent", *bound]


def _unshare(kind: str) -> list[str]:
    as_user = ["--user", "--map-root-user"] if kind == "user" else []
    return ["unshare", *as_user, "--net", "--mount", "--propagation", "private"]


def _serial_lines() -> list[str]:
    return sorted(str(path) for pattern in _SERIAL for path in Path("/dev").glob(pattern))


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
