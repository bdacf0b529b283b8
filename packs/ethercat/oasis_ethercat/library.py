"""pysoem, imported when it is first used, with time-outs that a busy machine keeps to."""

from collections.abc import Generator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from oasis.errors import ToolFault

FRAME_TIMEOUT_US = 50_000
"""A frame is sent again after this. On a busy machine SOEM's own 2 ms lead to answers that come twice."""
MAILBOX_FRAME_US = 150_000
"""The same for mailboxes: sent twice, a request is answered twice, and a write may be done twice."""
STATE_FRAME_US = 10_000
"""The same for states in between process data, which wait for it."""
FIRST_TIMEOUT_US = 600_000
"""How long nothing may come back to the frame that counts the slaves; it is sent again every FRAME_TIMEOUT_US."""


def pysoem() -> Any:
    """The library. Raises ToolFault where it is not installed or cannot be loaded."""
    try:
        library: Any = import_module("pysoem")
    except ImportError as fault:
        raise ToolFault(
            f"EtherCAT needs the library pysoem, and it cannot be loaded ({fault}). Install it: "
            "pip install 'oasis-agent[ethercat]'. On Windows it needs Npcap as well. On Linux a scan works without it."
        ) from fault
    library.settings.always_release_gil = True
    library.settings.timeouts.ret = FRAME_TIMEOUT_US
    library.settings.timeouts.safe = FIRST_TIMEOUT_US
    return library


@contextmanager
def frames_within(microseconds: int) -> Generator[None]:
    """Send a frame again only after so long, within. It is one setting for all masters of this process."""
    timeouts: Any = import_module("pysoem").settings.timeouts
    before, timeouts.ret = timeouts.ret, microseconds
    try:
        yield
    finally:
        timeouts.ret = before
