"""The simulator's process: `python -m oasis_ethercat.simulator.child NAME DEVICE...`; NAME `-` makes one up.

One JSON object a line: on standard input `{"do": name, "with": [arguments]}`, on standard output `{"ok": result}` or
`{"fault": text}`. The first line out names the master's interface. When standard input ends, so does the process, and
the interfaces go with it.
"""

import contextlib
import json
import os
import sys
import threading
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any

from oasis.errors import ToolFault
from oasis_ethercat.simulator.devices import DEVICES
from oasis_ethercat.simulator.faults import Bench
from oasis_ethercat.simulator.segment import Segment
from oasis_ethercat.simulator.slave import Slave
from oasis_ethercat.simulator.veth import make_pair, open_raw, remove_pair, set_link
from oasis_ethercat.simulator.wire import serve


def _say(line: dict[str, Any]) -> None:
    print(json.dumps(line), flush=True)


def _do(bench: Bench, line: str) -> None:
    try:
        request = json.loads(line)
        _say({"ok": getattr(bench, request["do"])(*request["with"])})
    except (ToolFault, ValueError, KeyError, IndexError, AttributeError, TypeError) as fault:
        _say({"fault": f"{type(fault).__name__}: {fault}"})


def _listen(bench: Bench, commands: deque[Callable[[], None]], over: threading.Event) -> None:
    for line in sys.stdin:
        commands.append(partial(_do, bench, line))
    over.set()


def main() -> None:
    """Run the devices named on the command line until standard input ends."""
    slaves = [Slave(DEVICES[name], serial) for serial, name in enumerate(sys.argv[2:], 1)]
    segment = Segment(slaves)
    try:
        pair = make_pair("" if sys.argv[1] == "-" else sys.argv[1])
    except ToolFault as fault:
        _say({"fault": str(fault)})
        return
    try:
        raw = open_raw(pair.slaves)
    except ToolFault as fault:
        remove_pair(pair)
        _say({"fault": str(fault)})
        return
    with contextlib.suppress(PermissionError):
        os.nice(-20)
    over = threading.Event()
    commands: deque[Callable[[], None]] = deque()
    bench = Bench(segment, slaves, partial(set_link, pair))
    threading.Thread(target=_listen, args=(bench, commands, over), daemon=True).start()
    try:
        with raw:
            _say({"ok": pair.master})
            serve(raw, segment, commands, over.is_set)
    finally:
        remove_pair(pair)


if __name__ == "__main__":
    main()
