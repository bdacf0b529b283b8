"""A segment that runs in a process of its own, and the hands on it."""

import contextlib
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any

from oasis_ethercat.coe_types import Value
from oasis_ethercat.simulator.devices import DEVICES
from oasis_ethercat.simulator.veth import NoSegmentHere

DEFAULT = ("coupler", "di8", "do8", "do4", "ai2", "drive")


class RunningSegment:
    """`interface` is where a master plugs in. Commands are those of `faults.Bench`; positions count from 1.

    Raises RuntimeError where a command cannot be done.
    """

    def __init__(self, process: "subprocess.Popen[str]", interface: str, devices: Sequence[str]) -> None:
        self.interface = interface
        self.devices = tuple(devices)
        self._process = process
        self._lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"ethercat://{self.interface}"

    def power_cycle(self) -> None:
        """Switch all slaves off and on: faults, counts and what was written are gone."""
        self._do("power_cycle")

    def watchdog(self, milliseconds: int) -> None:
        """Another process data watchdog than 100 ms, until the power is switched off; at most 6,553."""
        self._do("watchdog", milliseconds)

    def link(self, is_up: bool) -> None:
        """Pull the master's cable or plug it in."""
        self._do("link", is_up)

    def cut_before(self, position: int | None) -> None:
        """Slaves from a position on vanish; None brings them back, in INIT."""
        self._do("cut_before", position)

    def swap(self, position: int, other: int) -> None:
        """Two slaves change places, and both are switched on anew."""
        self._do("swap", position, other)

    def add(self, device: str) -> None:
        """One more slave at the end, switched on; it stays."""
        self._do("add", device)

    def counter_error(self, amount: int) -> None:
        """Add to the working counter of process data."""
        self._do("counter_error", amount)

    def drop(self, frames: int) -> None:
        """Lose the next frames."""
        self._do("drop", frames)

    def drop_writes(self, address: int, frames: int) -> None:
        """Lose the next frames that write a register, before any slave takes them."""
        self._do("drop_writes", address, frames)

    def sii(self, position: int, field: str, value: int) -> None:
        """Another `vendor`, `product`, `revision` or `serial` in the SII than the device has."""
        self._do("sii", position, field, value)

    def al_error(self, position: int, code: int) -> None:
        """The slave falls back by itself with an AL status code."""
        self._do("al_error", position, code)

    def refuse(self, position: int, state: str, code: int) -> None:
        """The slave refuses the next request for a state with an AL status code."""
        self._do("refuse", position, state, code)

    def sdo_abort(self, position: int, index: int, subindex: int, code: int) -> None:
        """Every SDO to an object is aborted with a code; 0 ends that."""
        self._do("sdo_abort", position, index, subindex, code)

    def sdo_silent(self, position: int, is_silent: bool, index: int | None = None, subindex: int = 0) -> None:
        """SDO requests, to one object or (None) to any, get no answer."""
        self._do("sdo_silent", position, is_silent, index, subindex)

    def mailbox_delay(self, position: int, milliseconds: int) -> None:
        """The device takes so long for every answer in its mailbox."""
        self._do("mailbox_delay", position, milliseconds)

    def sdo_stray(self, position: int, index: int) -> None:
        """An SDO answer that nobody asked for gets into the mailbox just before the next one."""
        self._do("sdo_stray", position, index)

    def sdo_late(self, position: int) -> None:
        """The answer to the next SDO request comes together with that to the one after it."""
        self._do("sdo_late", position)

    def put(self, position: int, index: int, subindex: int, value: Value) -> None:
        """Set a value inside the device, such as an input."""
        self._do("put", position, index, subindex, value)

    def trip(self, position: int, code: int) -> None:
        """A drive goes to fault with an error code."""
        self._do("trip", position, code)

    def emergency(self, position: int, code: int) -> None:
        """An emergency gets into the mailbox just before the next SDO's answer."""
        self._do("emergency", position, code)

    def value(self, position: int, index: int, subindex: int = 0) -> Value:
        """A value as it is inside the device."""
        return self._do("value", position, index, subindex)

    def image(self, position: int) -> bytes:
        """A slave's SII image."""
        return bytes.fromhex(self._do("image", position))

    def frames(self) -> int:
        """Frames that came in so far."""
        return self._do("frames")

    def seen(self, position: int) -> dict[str, Any]:
        """What a slave has seen: state, states so far, outputs, counts of writes (`faults.Bench.seen`)."""
        return self._do("seen", position)

    def until(self, condition: Callable[[], bool], seconds: float = 5) -> bool:
        """Wait for a condition on what the slaves see; False where it did not come in time."""
        end = time.monotonic() + seconds
        while not (met := condition()) and time.monotonic() < end:
            time.sleep(0.002)
        return met

    def _do(self, name: str, *arguments: Any) -> Any:
        with self._lock:
            assert self._process.stdin and self._process.stdout  # noqa: S101 - pipes were asked for
            self._process.stdin.write(json.dumps({"do": name, "with": arguments}) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        answer = json.loads(line) if line else {"fault": "the simulator's process ended"}
        if "fault" in answer:
            raise RuntimeError(answer["fault"])
        return answer["ok"]


@contextmanager
def running_segment(*devices: str, name: str = "") -> Generator[RunningSegment]:
    """Run slaves (names of `devices.DEVICES`, in order; without any, DEFAULT) on interfaces of their own.

    `name` is the master's interface, at most 14 characters; a unique one where it is empty.

    Raises NoSegmentHere where the machine does not allow it, ValueError for an unknown device.
    """
    chosen = devices or DEFAULT
    if unknown := [device for device in chosen if device not in DEVICES]:
        raise ValueError(f"There is no device {unknown[0]!r}. There are: {', '.join(DEVICES)}.")
    process = subprocess.Popen(  # noqa: S603 - this Python, names from the catalogue
        [sys.executable, "-m", "oasis_ethercat.simulator.child", name or "-", *chosen],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
    )
    with process:
        assert process.stdin and process.stdout  # noqa: S101 - pipes were asked for
        try:
            started = json.loads(process.stdout.readline() or '{"fault": "the simulator did not start"}')
            if "fault" in started:
                raise NoSegmentHere(started["fault"])
            yield RunningSegment(process, started["ok"], chosen)
        finally:
            with contextlib.suppress(BrokenPipeError):
                process.stdin.close()
            process.wait()
