"""One slave: what a datagram that addresses it does to its registers, SII, mailbox and process data."""

import time

from oasis_ethercat.esc import Command, Register, State
from oasis_ethercat.simulator import fmmu, sii
from oasis_ethercat.simulator.al import INVALID_MAILBOXES, StateMachine
from oasis_ethercat.simulator.coe import Coe, emergency
from oasis_ethercat.simulator.device import Device
from oasis_ethercat.simulator.mailbox import COE, Mailbox
from oasis_ethercat.simulator.objects import Objects
from oasis_ethercat.simulator.process_data import ProcessData
from oasis_ethercat.simulator.registers import Registers
from oasis_ethercat.simulator.sii_interface import SiiInterface

_PROCESS_STATES = frozenset({State.SAFEOP, State.OP})
_READS = frozenset({Command.LRD, Command.LRW})
_WRITES = frozenset({Command.LWR, Command.LRW})


class Slave:
    """A device on the wire. Time is `time.monotonic()` seconds."""

    def __init__(self, device: Device, serial: int) -> None:
        self.device = device
        self.registers = Registers(has_clock=device.has_clock)
        self.objects = Objects(device, serial)
        self.sii = SiiInterface(self.registers, sii.image(device, serial))
        self.process = ProcessData(device, self.registers, self.objects)
        self._state = State.INIT
        self.machine = StateMachine(self.registers, self._check, self._entered)
        self.coe: Coe | None = None
        self.mailbox: Mailbox | None = None
        if device.mailboxes:
            self.coe = Coe(self.objects, device.mailboxes, self.advance) if device.has_coe else None
            self.mailbox = Mailbox(device.mailboxes, self.registers, self.coe.answer if self.coe else None)
        self._fmmus: list[fmmu.Fmmu] = []
        self.register_writes = 0
        self.state_requests = 0

    @property
    def station_address(self) -> int:
        return self.registers.word(Register.STATION_ADDRESS)

    def advance(self, now: float | None = None) -> None:
        """Bring the device up to `now`."""
        self.process.advance(time.monotonic() if now is None else now, self.machine)
        if self.mailbox:
            self.mailbox.advance()
        while self.objects.emergencies:
            code, register = self.objects.emergencies.pop(0)
            if self.mailbox and self.coe and self.machine.state is not State.INIT:
                self.mailbox.send(COE, emergency(code, register))

    def power_up(self) -> None:
        """Registers as after power-up, INIT; what was counted stays."""
        self.registers.memory[:] = Registers(has_clock=self.device.has_clock).memory
        self._fmmus = []
        self.machine.enter(State.INIT)

    def read(self, address: int, length: int) -> bytes | None:
        """What a physical read finds; None where the slave does not count as having answered."""
        if (box := self.mailbox) and box.boxes.into <= address < box.boxes.into + box.boxes.into_bytes:
            return box.read(address, length)
        try:
            return self.registers.read(address, length)
        except IndexError:
            return None

    def write(self, address: int, data: bytes, now: float) -> bool:
        """Take a physical write; False where the slave does not count as having taken it."""
        if (box := self.mailbox) and box.boxes.out <= address < box.boxes.out + box.boxes.out_bytes:
            return box.write(address, data)
        if not self.registers.write(address, data):
            return False
        span = range(address, address + len(data))
        if Register.SII_CONTROL + 1 in span:
            self.sii.command()
            return True
        if address < Register.RAM:
            self.register_writes += 1
        if Register.AL_CONTROL in span:
            self.state_requests += 1
            self.machine.request(self.registers.word(Register.AL_CONTROL))
        if address < Register.SYNC_MANAGER and span.stop > Register.FMMU:
            self._fmmus = fmmu.configured(self.registers.memory)
        if box and Register.SYNC_MANAGER + 14 in span:
            box.repeat()
        if address in self.process.output_span:
            self.process.fed(now)
        return True

    def logical(self, command: int, start: int, data: bytearray, now: float) -> int:
        """Let a logical datagram pass, outputs out of `data`, inputs into it; gives what the counter grows by."""
        if self.machine.state not in _PROCESS_STATES:
            return 0
        took = gave = 0
        for unit in self._fmmus:
            if not unit.overlaps(start, len(data)):
                continue
            if unit.kind == fmmu.WRITE and command in _WRITES:
                unit.write(self.registers.memory, data, start)
                took = 2 if command == Command.LRW else 1
            elif unit.kind == fmmu.READ and command in _READS:
                unit.read(self.registers.memory, data, start)
                gave = 1
        if took:
            self.process.fed(now)
        return took + gave

    def _check(self, state: State) -> int:
        if state is State.PREOP and (box := self.mailbox):
            boxes = box.boxes
            wanted = ((boxes.out, boxes.out_bytes), (boxes.into, boxes.into_bytes))
            if (self.registers.sync_manager(0), self.registers.sync_manager(1)) != wanted:
                return INVALID_MAILBOXES
        return self.process.check(state)

    def _entered(self) -> None:
        left, self._state = self._state, self.machine.state
        if self._state is State.INIT and self.mailbox:
            self.mailbox.clear()
        self.process.entered(self._state, left)
