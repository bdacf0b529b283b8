"""The process data of one slave: outputs applied in OP only, inputs refreshed, the watchdog over both."""

import time

from oasis_ethercat.esc import CoeDetail, Register, State
from oasis_ethercat.simulator.al import (
    INVALID_INPUT_MAPPING,
    INVALID_INPUTS,
    INVALID_OUTPUT_MAPPING,
    INVALID_OUTPUTS,
    WATCHDOG,
    StateMachine,
)
from oasis_ethercat.simulator.device import Behaviour, Device
from oasis_ethercat.simulator.objects import Objects
from oasis_ethercat.simulator.process_image import ProcessImage
from oasis_ethercat.simulator.registers import Registers


class ProcessData:
    """Between sync manager memory, the object dictionary and what the device does."""

    def __init__(self, device: Device, registers: Registers, objects: Objects) -> None:
        self._device = device
        self._registers = registers
        self._objects = objects
        self._receive = ProcessImage(device.receive)
        self._transmit = ProcessImage(device.transmit)
        self._behaviour = device.behaviour()
        self._is_active = type(self._behaviour) is not Behaviour
        self._applied = b""
        self._stepped = self._fed = time.monotonic()
        self._watchdog = 0.0
        self.writes = 0
        """Process data datagrams that wrote outputs."""

    @property
    def output_span(self) -> range:
        start = self._device.output_address
        return range(start, start + self._receive.bytes)

    def check(self, state: State) -> int:
        """The AL status code that refuses a state for the lengths of the sync managers, or 0."""
        if state is State.SAFEOP:
            device = self._device
            if code := self._choose():
                return code
            if self._receive.bytes and self._length(device.output_sync_manager) != self._receive.bytes:
                return INVALID_OUTPUTS
            if self._transmit.bytes and self._length(device.input_sync_manager) != self._transmit.bytes:
                return INVALID_INPUTS
        return 0

    def _choose(self) -> int:
        """Take the PDOs that 0x1C12 and 0x1C13 name where the device lets them be chosen; a code where one is none."""
        boxes = self._device.mailboxes
        if not boxes or CoeDetail.PDO_ASSIGN not in boxes.coe:
            return 0
        every = {pdo.index: pdo for pdo in (*self._device.receive, *self._device.transmit, *self._device.unassigned)}
        chosen = [
            [every.get(self._objects.number(way, sub)) for sub in range(1, self._objects.number(way) + 1)]
            for way in (0x1C12, 0x1C13)
        ]
        for pdos, code in zip(chosen, (INVALID_OUTPUT_MAPPING, INVALID_INPUT_MAPPING), strict=True):
            if None in pdos:
                return code
        self._receive, self._transmit = (ProcessImage(tuple(pdo for pdo in pdos if pdo)) for pdos in chosen)
        return 0

    def _length(self, sync_manager: int) -> int:
        return self._registers.sync_manager(sync_manager)[1]

    def entered(self, state: State, left: State) -> None:
        """A state was entered: outside OP the outputs are in their safe state, zero."""
        self._fed = time.monotonic()
        self._watchdog = self._registers.watchdog_seconds()
        if state is not State.OP:
            self._make_safe(was_running=left is State.OP)
        self.refresh()

    def _make_safe(self, was_running: bool) -> None:
        span = self.output_span
        self._registers.memory[span.start : span.stop] = bytes(len(span))
        self._applied = b""
        if was_running:
            for key in self._receive.keys:
                self._objects.values[key] = 0
            self._behaviour.lost(self._objects)

    def fed(self, now: float) -> None:
        """Outputs came in."""
        self.writes += 1
        self._fed = now
        self._registers.memory[Register.WATCHDOG_STATUS] = 1

    def advance(self, now: float, machine: StateMachine) -> None:
        """Bring the device up to `now` (seconds, monotonic): watchdog, outputs, behaviour, inputs."""
        if machine.state is State.OP:
            if self._receive.bytes and self._watchdog and now - self._fed > self._watchdog:
                self._expire(machine)
                return
            self._apply()
        if self._is_active:
            self._behaviour.step(self._objects, now - self._stepped)
            self._stepped = now
            self.refresh()

    def _expire(self, machine: StateMachine) -> None:
        memory = self._registers.memory
        memory[Register.WATCHDOG_STATUS] = 0
        memory[Register.WATCHDOG_COUNTER] = min(255, memory[Register.WATCHDOG_COUNTER] + 1)
        machine.enter(State.SAFEOP, WATCHDOG)

    def _apply(self) -> None:
        span = self.output_span
        data = bytes(self._registers.memory[span.start : span.stop])
        if data != self._applied:
            self._applied = data
            self._receive.unpack(data, self._objects)

    def refresh(self) -> None:
        """Put the actual values into the inputs' memory."""
        if self._transmit.bytes:
            start = self._device.input_address
            packed = self._transmit.pack(self._objects.values)
            self._registers.memory[start : start + self._transmit.bytes] = packed

    def trip(self, code: int) -> None:
        """A fault inside the device."""
        self._behaviour.trip(self._objects, code)

    def outputs(self) -> dict[str, int]:
        """The outputs as the device sees them, by name."""
        entries = (entry for pdo in self._device.receive for entry in pdo.entries if entry.index)
        return {entry.name: self._objects.number(entry.index, entry.subindex) for entry in entries}
