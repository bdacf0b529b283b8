"""Process data in a thread of their own: sent often enough for the watchdog, working counters and states watched."""

import math
import os
import sys
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress

from oasis_ethercat.esc import State
from oasis_ethercat.master import Master
from oasis_ethercat.presence import WATCHDOG, Seen

PERIOD_S = 0.004
WATCHDOG_S = 0.1
SUPERVISE_S = 0.03
FRESH_S = 0.05
"""Inputs are good for so long after a cycle with the right counter."""
_RECEIVE_US = 10_000
_MOST_EVENTS = 50
_NICE = -10
_NEVER = 1 << 62
_UNHEARD = 3
"""Looks at the states without an answer, after which a slave counts as gone."""
_LATELY_S = 2.0
_TOO_BUSY = "the machine was too busy"


class Cyclic:
    """Exchanges process data every `period_s` (0: as fast as it goes) while it runs.

    `cycles` counts all, `wrong` those whose working counter was not the expected one; `events` tells in words what
    happened. A slave that leaves OP by itself gets zeros as outputs, so that it does not start again with old ones.
    """

    def __init__(self, master: Master, period_s: float = PERIOD_S) -> None:
        self._master = master
        self._period_s = period_s
        self._stop = threading.Event()
        self._changed = threading.Condition()
        self._pending: dict[int, bytes] = {}
        self._outputs = {slave.position: bytes(slave.bytes(True)) for slave in master.slaves}
        self._thread = threading.Thread(target=self._run, name=f"ethercat {master.name}", daemon=True)
        self._supervised = 0.0
        self._wake_at = _NEVER
        self._good_at = 0.0
        self._worst_gap_s = 0.0
        self._pause_s, self._paused_at = 0.0, -math.inf
        self._unheard: Counter[int] = Counter()
        self._told: int | None = None
        self.wanted: dict[int, State] = {}
        """The state that each slave was brought to; absent: none that takes process data."""
        self.fallen: dict[int, str] = {}
        self.is_settling = False
        """States are being changed: counters are not judged."""
        self.cycles = self.wrong = self.good_in_a_row = 0
        self.counter = 0
        self.expected = 0
        """The working counter when every slave that should answer does."""
        self.events: deque[str] = deque(maxlen=_MOST_EVENTS)

    @property
    def is_fresh(self) -> bool:
        """Were all slaves counted lately?"""
        return time.monotonic() - self._good_at < FRESH_S

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End after the cycle under way."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()

    @contextmanager
    def settling(self) -> Generator[None]:
        """Do not judge counters within: slaves are joining or leaving the process data."""
        with self._changed:
            self.is_settling = True
        try:
            yield
        finally:
            with self._changed:
                self.is_settling = False

    def wait_cycles(self, cycles: int, seconds: float) -> bool:
        """Wait for so many cycles that begin from now on."""
        with self._changed:
            end = self.cycles + 1 + cycles
            return self._wait(lambda: end - self.cycles, seconds)

    def wait_good(self, cycles: int, seconds: float) -> bool:
        """Wait for so many good cycles that begin from now on; False where they do not come in time."""
        with self._changed:
            end = self.cycles + 1 + cycles
            return self._wait(lambda: max(end - self.cycles, cycles - self.good_in_a_row), seconds)

    def _wait(self, missing: Callable[[], int], seconds: float) -> bool:
        """Wait until no cycles are missing. The thread is woken when they can have passed, not in every cycle."""
        limit = time.monotonic() + seconds
        while (left := missing()) > 0:
            self._wake_at = min(self._wake_at, self.cycles + left)
            if not self._changed.wait(limit - time.monotonic()) and time.monotonic() >= limit:
                return missing() <= 0
        return True

    def outputs(self, position: int) -> bytes:
        """What is being sent to a slave, from its first bit on."""
        with self._changed:
            return self._pending.get(position, self._outputs[position])

    def inputs(self, position: int) -> bytes:
        """What came last from a slave, from its first bit on."""
        slave = self._master.slave(position)
        assert slave.map is not None  # noqa: S101 - mapped before
        number = int.from_bytes(slave.handle.input, "little") >> slave.input_shift
        number &= (1 << slave.map.input_bits) - 1
        return number.to_bytes(slave.bytes(False), "little")

    def put(self, position: int, data: bytes) -> None:
        """Send other outputs to a slave from the next cycle on."""
        with self._changed:
            self._pending[position] = data

    def zero(self) -> None:
        """Send zeros to every slave from the next cycle on."""
        with self._changed:
            self._pending = {position: bytes(len(data)) for position, data in self._outputs.items()}

    def _run(self) -> None:
        """The cycle. What happens in each one is kept short: it competes with the slaves' answers for time."""
        _hurry()
        send, receive = self._master.handle.send_processdata, self._master.handle.receive_processdata
        is_over, clock = self._stop.is_set, time.monotonic
        last = due = clock()
        while not is_over():
            if self._pending:
                self._apply()
            send()
            self.counter = counter = receive(_RECEIVE_US)
            now = clock()
            self.cycles += 1
            if now - last > WATCHDOG_S or now - last > self._worst_gap_s:
                self._note_gap(now - last)
            last = now
            if counter == self.expected and not self.is_settling:
                self.good_in_a_row += 1
                self._good_at = now
            else:
                self._note_wrong(counter)
            if self.cycles >= self._wake_at:
                self._wake()
            if now - self._supervised > SUPERVISE_S:
                self._supervise(now)
            if self._period_s:
                due = max(due + self._period_s, now)
                self._stop.wait(due - now)

    def _apply(self) -> None:
        """Put outputs that changed into SOEM's image; slaves under eight bits share a byte with their neighbours."""
        with self._changed:
            pending, self._pending = self._pending, {}
            self._outputs |= pending
        for position, data in pending.items():
            slave = self._master.slave(position)
            assert slave.map is not None  # noqa: S101 - mapped before
            bits = slave.map.output_bits
            if not bits:
                continue
            if bits < 8:
                mask = ((1 << bits) - 1) << slave.output_shift
                now = int.from_bytes(slave.handle.output, "little")
                number = now & ~mask | int.from_bytes(data, "little") << slave.output_shift & mask
                slave.handle.output = number.to_bytes(len(slave.handle.output), "little")
            else:
                slave.handle.output = data

    def _note_gap(self, seconds: float) -> None:
        self._worst_gap_s = max(self._worst_gap_s, seconds)
        if seconds > WATCHDOG_S:
            self._pause_s, self._paused_at = seconds, time.monotonic()
            self.events.append(f"a cycle took {seconds * 1000:.0f} ms, longer than the watchdog: {_TOO_BUSY}")

    def _note_wrong(self, counter: int) -> None:
        """A counter that is not the expected one; while states change it is not judged."""
        if not self.is_settling:
            if self.good_in_a_row or counter != self._told:
                self._told = counter
                lost = "no frame came back" if counter < 0 else f"working counter {counter}"
                self.events.append(f"cycle {self.cycles}: {lost}, expected {self.expected}")
            self.wrong += 1
        self.good_in_a_row = 0

    def _wake(self) -> None:
        with self._changed:
            self._wake_at = _NEVER
            self._changed.notify_all()

    def _supervise(self, now: float) -> None:
        """Look at the states of the slaves; skipped while an acyclic call is under way.

        Where no slave answers, the frame was lost: that is seen in the counter, and what became of the slaves when they
        answer again. Where some do not answer, they are judged when that goes on.
        """
        if not self._master.lock.acquire(blocking=False):
            return
        try:
            seen = self._master.states(tries=1)
        finally:
            self._master.lock.release()
        self._supervised = now
        if not any(slave.status for slave in seen):
            return
        self._unheard = Counter({s.position: self._unheard[s.position] + 1 for s in seen if not s.status})
        for slave in seen:
            wanted = self.wanted.get(slave.position)
            if wanted is None or slave.status == wanted or 0 < self._unheard[slave.position] < _UNHEARD:
                continue
            if slave.position not in self.fallen:
                self.fallen[slave.position] = said = slave.words + self.cause(slave)
                self.events.append(f"slave {slave.position} left {wanted.name}: {said}")
            self.put(slave.position, bytes(len(self._outputs[slave.position])))

    def cause(self, slave: Seen) -> str:
        """That a watchdog expired because this machine did not send, where that was lately; else nothing."""
        if slave.code != WATCHDOG or time.monotonic() - self._paused_at > _LATELY_S:
            return ""
        return f" (this program sent nothing for {self._pause_s * 1000:.0f} ms: {_TOO_BUSY})"

    def brought(self, positions: list[int], state: State | None) -> None:
        """Slaves are in a state now (None: one without process data); what they fell from is forgotten."""
        for position in positions:
            self.fallen.pop(position, None)
            if state is None:
                self.wanted.pop(position, None)
            else:
                self.wanted[position] = state
        self.expected = sum(slave.counter for slave in self._master.slaves if slave.position in self.wanted)

    def health(self) -> str:
        """The cycle in one line."""
        counter = "no frame came back" if self.counter < 0 else f"working counter {self.counter} of {self.expected}"
        cycles = f"{self.cycles} cycles, {self.wrong} with a wrong counter"
        return f"{cycles}; {counter}; longest gap {self._worst_gap_s * 1000:.0f} ms"


def _hurry() -> None:
    """Run this thread before others where the system lets it: Linux with CAP_SYS_NICE."""
    if sys.platform.startswith("linux"):
        with suppress(PermissionError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICE)
