"""What can be done to a running segment from outside: faults, inputs, and what its slaves have seen.

Every public method of Bench is a command; arguments and results are JSON values.
"""

from collections.abc import Callable
from typing import Any

from oasis_ethercat.coe_types import Value
from oasis_ethercat.esc import ERROR_FLAG, Register, State
from oasis_ethercat.simulator import sii
from oasis_ethercat.simulator.coe import Coe, emergency, stray
from oasis_ethercat.simulator.devices import DEVICES
from oasis_ethercat.simulator.segment import Segment
from oasis_ethercat.simulator.slave import Slave


class Bench:
    """A segment with hands on it. Positions count from 1."""

    def __init__(self, segment: Segment, slaves: list[Slave], plug: Callable[[bool], None]) -> None:
        self._segment = segment
        self._slaves = slaves
        self._plug = plug

    def power_cycle(self) -> None:
        """Switch all slaves off and on: faults, counts and what was written are gone."""
        self._plug(True)
        self._slaves[:] = [Slave(slave.device, serial) for serial, slave in enumerate(self._slaves, 1)]
        self._segment.plug(self._slaves)

    def watchdog(self, milliseconds: int) -> None:
        """Another process data watchdog than 100 ms, until the power is switched off; at most 6,553."""
        for slave in self._slaves:
            slave.registers.put(Register.WATCHDOG_TIME, milliseconds * 10)

    def link(self, is_up: bool) -> None:
        """Pull the master's cable or plug it in."""
        self._plug(is_up)

    def cut_before(self, position: int | None) -> None:
        """Slaves from a position on vanish; None brings them back in INIT, as after power-up."""
        back = self._slaves[len(self._segment.slaves) :]
        if position is None:
            for slave in back:
                slave.power_up()
        self._segment.cut_before(position)

    def swap(self, position: int, other: int) -> None:
        """Two slaves change places, and both are switched on anew."""
        slaves = self._slaves
        slaves[position - 1], slaves[other - 1] = slaves[other - 1], slaves[position - 1]
        for at in (position, other):
            self._slave(at).power_up()
        self._segment.plug(slaves)

    def add(self, device: str) -> None:
        """One more slave at the end, switched on."""
        self._slaves.append(Slave(DEVICES[device], len(self._slaves) + 1))
        self._segment.plug(self._slaves)

    def counter_error(self, amount: int) -> None:
        """Add to the working counter of process data."""
        self._segment.counter_error = amount

    def drop(self, frames: int) -> None:
        """Lose the next frames."""
        self._segment.drop = frames

    def drop_writes(self, address: int, frames: int) -> None:
        """Lose the next frames that write a register, before any slave takes them."""
        self._segment.drop_writes[address] = frames

    def sii(self, position: int, field: str, value: int) -> None:
        """Another `vendor`, `product`, `revision` or `serial` in the SII than the device has."""
        sii.change(self._slave(position).sii.image, field, value)

    def al_error(self, position: int, code: int) -> None:
        """The slave falls back by itself, from OP to SAFEOP, with an AL status code."""
        machine = self._slave(position).machine
        machine.enter(State.SAFEOP if machine.state is State.OP else machine.state, code)

    def refuse(self, position: int, state: str, code: int) -> None:
        """The slave refuses the next request for a state with an AL status code."""
        self._slave(position).machine.refusals[State[state]] = code

    def sdo_abort(self, position: int, index: int, subindex: int, code: int) -> None:
        """Every SDO to an object is aborted with a code; 0 ends that."""
        self._coe(position).sdo.aborts[index, subindex] = code

    def sdo_silent(self, position: int, is_silent: bool, index: int | None = None, subindex: int = 0) -> None:
        """SDO requests, to one object or (None) to any, get no answer."""
        key = None if index is None else (index, subindex)
        silent = self._coe(position).sdo.silent
        silent.add(key) if is_silent else silent.discard(key)

    def mailbox_delay(self, position: int, milliseconds: int) -> None:
        """The device takes so long for every answer in its mailbox."""
        mailbox = self._slave(position).mailbox
        if mailbox is None:
            raise ValueError(f"slave {position} has no mailbox")
        mailbox.delay_s = milliseconds / 1000

    def sdo_stray(self, position: int, index: int) -> None:
        """An SDO answer that nobody asked for gets into the mailbox just before the next one."""
        self._coe(position).ahead.append(stray(index))

    def sdo_late(self, position: int) -> None:
        """The answer to the next SDO request comes together with that to the one after it."""
        self._coe(position).sdo.late = 1

    def put(self, position: int, index: int, subindex: int, value: Value) -> None:
        """Set a value inside the device: an input switched, a set point lost."""
        slave = self._slave(position)
        slave.objects.put(index, value, subindex)
        slave.process.refresh()

    def trip(self, position: int, code: int) -> None:
        """A drive goes to fault with an error code."""
        self._slave(position).process.trip(code)

    def emergency(self, position: int, code: int) -> None:
        """An emergency gets into the mailbox just before the next SDO's answer."""
        self._coe(position).ahead.append(emergency(code, 1))

    def value(self, position: int, index: int, subindex: int) -> Value:
        """A value as it is inside the device."""
        return self._slave(position).objects.values[index, subindex]

    def image(self, position: int) -> str:
        """The SII image in hexadecimal."""
        return bytes(self._slave(position).sii.image).hex()

    def frames(self) -> int:
        """Frames that came in so far."""
        return self._segment.frames

    def seen(self, position: int) -> dict[str, Any]:
        """State, states so far, outputs as the device sees them, and counts of each kind of write."""
        slave = self._slave(position)
        sdo = slave.coe.sdo.requests if slave.coe else {"upload": 0, "download": 0}
        code = slave.registers.word(Register.AL_STATUS_CODE)
        return {
            "state": slave.machine.state.name
            + (f"+0x{code:04X}" if slave.registers.memory[Register.AL_STATUS] & ERROR_FLAG else ""),
            "states": list(slave.machine.history),
            "outputs": slave.process.outputs(),
            "register_writes": slave.register_writes,
            "state_requests": slave.state_requests,
            "sii_reads": slave.sii.reads,
            "sii_writes": slave.sii.writes,
            "sdo_uploads": sdo["upload"],
            "sdo_downloads": sdo["download"],
            "values_written": slave.objects.downloads,
            "output_writes": slave.process.writes,
        }

    def _slave(self, position: int) -> Slave:
        return self._slaves[position - 1]

    def _coe(self, position: int) -> Coe:
        coe = self._slave(position).coe
        if coe is None:
            raise ValueError(f"slave {position} has no mailbox")
        return coe
