"""The check before initialising where there are no raw sockets to look with: Windows and macOS.

SOEM's state read on a master that has configured nothing is one broadcast read of 0x0130; it writes nothing. It gives
the state where all slaves have the same without an error, and 255 for all else: less is told apart than on Linux.
"""

from importlib import import_module
from typing import Any

from oasis_ethercat.esc import State


def refusal(name: str) -> str:
    """Why the segment may not be initialised, empty where every slave is in INIT or every slave is in PREOP."""
    master = _master()
    try:
        master.open(name)
    except ConnectionError:
        return ""
    try:
        state = int(master.read_state())
    finally:
        master.close()
    if state in {State.INIT, State.PREOP}:
        return ""
    if state in {State.SAFEOP, State.OP}:
        return (
            f"Another master may be running the segment on {name}: its slaves are in {State(state).name}. Initialising "
            "would reset them, so nothing was sent. Stop the other master, or switch the slaves off and on."
        )
    return (
        f"No slave answers on {name}, or the slaves are in different states or in an error, which this system cannot "
        "tell apart. Nothing was sent. Check cable and power; switch the slaves off and on to begin from INIT."
    )


def _master() -> Any:
    return import_module("pysoem").Master()
