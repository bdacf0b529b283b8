"""The check before initialising where there are no raw sockets to look with: Windows and macOS.

SOEM's state read on a master that has configured nothing is one broadcast read of 0x0130; it writes nothing. It gives
the state where all slaves have the same without an error, and 255 for all else: less is told apart than on Linux.
"""

import time
from typing import Any

from oasis_ethercat import interface, library
from oasis_ethercat.esc import State
from oasis_ethercat.presence import Presence, Seen

_STATES = frozenset({State.INIT, State.PREOP, State.SAFEOP, State.OP})
_ANSWERS = 3
"""Looks that were answered and that tell no state: more of them tell no more."""
_SILENT_S, _PAUSE_S = 2.0, 0.02


def look(name: str) -> Presence:
    """The state of all slaves as one, at position 0; status 0 where it cannot be told. Raises ToolFault."""
    interface.check(name)
    master = interface.opened(name)
    try:
        status = _state(master)
    finally:
        master.close()
    return Presence(name, (Seen(0, status, 0),))


def _state(master: Any) -> int:
    """The state of all slaves, 0 where it cannot be told. A look that takes the frame's time was not answered."""
    answers, end = 0, time.monotonic() + _SILENT_S
    while answers < _ANSWERS and time.monotonic() < end:
        began = time.monotonic()
        status = int(master.read_state())
        if status in _STATES:
            return status
        if time.monotonic() - began < library.FRAME_TIMEOUT_US / 1e6:
            answers += 1
        else:
            time.sleep(_PAUSE_S)  # SOEM waits busily: on a busy machine it keeps the answer away
    return 0


def refusal(presence: Presence) -> str:
    """Why the segment may not be initialised, empty where every slave is in INIT or every slave is in PREOP."""
    status, name = presence.slaves[0].status, presence.interface
    if status in {State.INIT, State.PREOP}:
        return ""
    if status:
        return (
            f"Another master may be running the segment on {name}: its slaves are in {State(status).name}. "
            "Initialising would reset them, so nothing was sent. Stop the other master, or switch the slaves off "
            "and on."
        )
    return (
        f"No slave answers on {name}, or the slaves are in different states or in an error, which this system cannot "
        "tell apart. Nothing was sent. Check cable and power; switch the slaves off and on to begin from INIT."
    )
