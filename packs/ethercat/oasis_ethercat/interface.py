"""The network interface under a segment: why it cannot be used, each reason in its own words."""

import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from oasis.errors import ToolFault
from oasis.plant.values import spelled
from oasis_ethercat import library

_FIRST_READS, _SILENT_READS = 40, 3
"""A read whose answer is a stranger's takes out at least that; nothing waits behind a read that is not answered."""


def device_name(name: str) -> str:
    """What SOEM calls an interface: its own name, on Windows the Npcap device whose name or description has it.

    Raises ToolFault on Windows where none has.
    """
    if sys.platform != "win32":
        return name
    adapters: list[Any] = library.pysoem().find_adapters()
    described = {str(adapter.name): _text(adapter.desc) for adapter in adapters}
    for device, description in described.items():
        if name == device or name.lower() in description.lower():
            return device
    raise ToolFault(
        f"There is no network adapter {spelled(name)}, so nothing was sent. There are: "
        f"{', '.join(described.values()) or 'none; is Npcap installed?'}. Name one of them: ethercat://NAME."
    )


def _text(description: bytes | str) -> str:
    return description.decode("utf-8", "replace") if isinstance(description, bytes) else description


def opened(name: str) -> Any:
    """A master of pysoem on an interface, configured by nobody. Raises ToolFault with the reason where there is none.

    SOEM's socket hears every interface until it is bound. What it heard is taken out by reads: else the frame of
    another segment of this machine would be the answer to the first question. Some states are read for that.
    """
    master: Any = library.pysoem().Master()
    try:
        master.open(device_name(name))
    except ConnectionError as fault:
        check(name)
        raise not_allowed(name) from fault
    silent = 0
    for _ in range(_FIRST_READS):
        began = time.monotonic()
        master.read_state()
        silent += time.monotonic() - began >= library.FRAME_TIMEOUT_US / 1e6
        if silent >= _SILENT_READS:
            break
    return master


def check(name: str) -> None:
    """Raise ToolFault where there is no such interface or its link is down."""
    if sys.platform == "win32":
        device_name(name)
        return
    import psutil  # noqa: PLC0415

    stats = psutil.net_if_stats()
    if name not in stats:
        raise ToolFault(
            f"There is no network interface {spelled(name)} on this machine, so nothing was sent. "
            f"There are: {', '.join(_wired(stats)) or 'none'}. Name one of them: ethercat://NAME."
        )
    if not (_has_carrier(name) if sys.platform.startswith("linux") else stats[name].isup):
        raise link_down(name)


def _has_carrier(name: str) -> bool:
    """Linux says so at once here, while the state that `isup` shows follows up to a second later."""
    try:
        return Path(f"/sys/class/net/{name}/carrier").read_text(encoding="ascii").strip() == "1"
    except OSError:
        return False


def _wired(names: Iterable[str]) -> list[str]:
    return sorted(name for name in names if name != "lo")


def link_down(name: str) -> ToolFault:
    """The fault that says that an interface has no carrier."""
    return ToolFault(
        f"The link of {name} is down: no cable, the first slave has no power, or the interface is switched off. "
        "Nothing was sent. Check the cable to the first slave's IN port and its power; on Linux `ip link set "
        f"{name} up`."
    )


def not_allowed(name: str) -> ToolFault:
    """The fault that says that this process may not send raw frames."""
    if sys.platform.startswith("linux"):
        what = f"CAP_NET_RAW is missing. Run as root, or: sudo setcap cap_net_raw+ep {sys.executable}"
    elif sys.platform == "win32":
        what = "Npcap must be installed in its WinPcap-compatible mode, and Oasis started as administrator"
    else:
        what = "the BPF devices (/dev/bpf*) must be readable: start Oasis with sudo"
    return ToolFault(f"This process may not send raw Ethernet frames on {name}: {what}. Nothing was sent.")


def no_slaves(name: str) -> ToolFault:
    """The fault that says that nothing answered."""
    return ToolFault(
        f"No EtherCAT slave answered on {name}: the link is up, the frame did not come back or no slave counted it. "
        "Is this the port to the segment, is the first slave powered, is the cable in its IN port, is a switch between?"
    )
