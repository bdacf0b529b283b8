"""A pair of virtual Ethernet interfaces: one for the master, one for the slaves. Linux only.

A machine without them, or a process without the right to make them, is told so with the reason.
"""

import contextlib
import os
import shutil
import socket
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from oasis.errors import ToolFault
from oasis_ethercat.esc import ETHERTYPE


class NoSegmentHere(ToolFault):
    """The simulator cannot run on this machine; the text says why."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Names of the two ends (at most 15 characters)."""

    master: str
    slaves: str


def _ip(*words: str) -> None:
    path = shutil.which("ip") or "/usr/sbin/ip"
    try:
        subprocess.run([path, *words], check=True, capture_output=True, text=True)  # noqa: S603 - fixed words
    except FileNotFoundError:
        raise NoSegmentHere(
            "The EtherCAT simulator needs the `ip` command (package iproute2) and it is not there. Install it."
        ) from None
    except subprocess.CalledProcessError as fault:
        raise NoSegmentHere(
            f"The virtual interfaces for the EtherCAT simulator could not be made: {fault.stderr.strip()}. "
            "It needs CAP_NET_ADMIN and CAP_NET_RAW: run as root, or in a network namespace of your own."
        ) from fault


def make_pair(name: str = "") -> Pair:
    """Make a pair and bring it up; `name` is the master's end, unique where it is empty. Raises NoSegmentHere."""
    if not sys.platform.startswith("linux"):
        raise NoSegmentHere(
            "The EtherCAT simulator needs Linux: it answers on virtual Ethernet interfaces, which "
            f"{sys.platform} does not have."
        )
    if name and Path(f"/sys/class/net/{name}").exists():
        raise NoSegmentHere(
            f"The interface {name} is there already: another lab runs, or one was killed. "
            f"End it, or remove what it left: ip link delete {name}."
        )
    unique = f"{os.getpid():x}{os.urandom(2).hex()}"[-10:]
    pair = Pair(name, f"{name}s") if name else Pair(f"oecm{unique}", f"oecs{unique}")
    _ip("link", "add", pair.master, "type", "veth", "peer", "name", pair.slaves)
    for end in (pair.slaves, pair.master):
        with contextlib.suppress(OSError):
            Path(f"/proc/sys/net/ipv6/conf/{end}/disable_ipv6").write_text("1", encoding="ascii")
        _ip("link", "set", end, "up")
    return pair


def remove_pair(pair: Pair) -> None:
    """Take a pair away; both ends go."""
    _ip("link", "delete", pair.slaves)


def set_link(pair: Pair, is_up: bool) -> None:
    """Plug or unplug the slaves' end: the master's end loses its carrier."""
    _ip("link", "set", pair.slaves, "up" if is_up else "down")


def open_raw(interface: str) -> socket.socket:
    """A socket for EtherCAT frames that come in on an interface. Raises NoSegmentHere without CAP_NET_RAW."""
    try:
        raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    except PermissionError:
        raise NoSegmentHere(
            "The EtherCAT simulator may not open raw sockets: CAP_NET_RAW is missing. Run as root."
        ) from None
    raw.bind((interface, ETHERTYPE))
    return raw
