"""pysoem's master on one interface: initialised, states, SDO, mapping. One lock around everything acyclic.

Process data are exchanged by `cyclic` alone; SOEM allows that beside one acyclic call.
"""

import contextlib
import threading
import time
from collections.abc import Collection, Mapping
from typing import Any

from oasis.errors import ToolFault
from oasis_ethercat import abort_codes, interface, library, process_map
from oasis_ethercat import sii as sii_contents
from oasis_ethercat.coe_types import DataType
from oasis_ethercat.esc import ERROR_FLAG, FMMU_BYTES, Register, State
from oasis_ethercat.presence import Seen

SDO_TIMEOUT_MS = 300
STATE_TIMEOUT_S = 3.0
LARGEST_OBJECT = 8192
_FMMUS = 4
_SILENT_CHECKS = 5
_POLL_S = 0.002
_TRIES = 3
_MOST_EMERGENCIES = 20


class SdoRefused(Exception):
    """The slave aborted an SDO; the text has the code in words."""


class SdoSilent(Exception):
    """No answer to an SDO came in time."""


class Slave:
    """A configured slave. `counter` is what process data add to the working counter for it."""

    def __init__(self, position: int, handle: Any) -> None:
        self.position = position
        self.handle = handle
        self.contents: sii_contents.Contents | None = None
        self.map: process_map.ProcessMap | None = None
        self.kinds: dict[tuple[int, int], DataType] = {}
        """Types of objects, as a scan of the object dictionary found them."""
        self.counter = 0
        self.output_shift = self.input_shift = 0
        self.emergencies: list[str] = []
        handle.add_emergency_callback(self._note)  # without one, pysoem raises it in place of the SDO's result

    def _note(self, emergency: Any) -> None:
        self.emergencies.append(f"error code 0x{emergency.error_code:04X}, error register 0x{emergency.error_reg:02X}")
        del self.emergencies[:-_MOST_EMERGENCIES]

    @property
    def name(self) -> str:
        return str(self.handle.name)

    @property
    def identity(self) -> sii_contents.Identity:
        return sii_contents.Identity(self.handle.man, self.handle.id, self.handle.rev, 0)


class Master:
    """The segment as pysoem has configured it. Making one initialises it: every slave goes to INIT, then PREOP.

    `contents` is what is known of the slaves' SII by position.
    Raises ToolFault where there is no right, no slave, or a slave does not reach PREOP.
    """

    def __init__(self, name: str, contents: Mapping[int, sii_contents.Contents]) -> None:
        self._pysoem = library.pysoem()
        self.name = name
        self.lock = threading.RLock()
        self.handle: Any = self._pysoem.Master()
        self.is_mapped = False
        try:
            self.handle.open(interface.device_name(name))
        except ConnectionError as fault:
            interface.check(name)
            raise interface.not_allowed(name) from fault
        self.handle.sdo_read_timeout = self.handle.sdo_write_timeout = SDO_TIMEOUT_MS * 1000
        try:
            self.slaves = self._initialised()
            for slave in self.slaves:
                slave.contents = contents.get(slave.position)
        except BaseException:
            self.handle.close()
            raise

    def _initialised(self) -> list[Slave]:
        if self.handle.config_init() <= 0:
            interface.check(self.name)
            raise interface.no_slaves(self.name)
        slaves = [Slave(position, handle) for position, handle in enumerate(self.handle.slaves, 1)]
        self.handle.manual_state_change = 1
        self.handle.state_check(State.PREOP, int(STATE_TIMEOUT_S * 1e6))
        return slaves

    def slave(self, position: int) -> Slave:
        """The slave at a position. Raises ToolFault where there is none."""
        if not 1 <= position <= len(self.slaves):
            raise ToolFault(f"There is no slave {position}: the segment has {len(self.slaves)}, counted from 1.")
        return self.slaves[position - 1]

    def states(self) -> list[Seen]:
        """State and AL status code of every slave, read now. Status 0: no answer."""
        with self.lock:
            self.handle.read_state()
            if not all(slave.handle.state for slave in self.slaves):
                self.handle.read_state()
            return [Seen(s.position, s.handle.state, s.handle.al_status) for s in self.slaves]

    def request(self, state: State, positions: Collection[int]) -> list[Seen]:
        """Ask slaves for a state, errors acknowledged, and wait; gives those that did not come there."""
        with self.lock:
            chosen = [slave for slave in self.slaves if slave.position in positions]
            self.handle.read_state()
            for slave in chosen:
                self._acknowledge(slave)
            for asked in [self.handle] if len(chosen) == len(self.slaves) else [slave.handle for slave in chosen]:
                asked.state = state
                asked.write_state()
        return self._awaited(positions, state)

    @staticmethod
    def _acknowledge(slave: Slave) -> None:
        """Clear a slave's error flag where it is set, in the state it is in."""
        now = slave.handle.state & 0x0F
        if slave.handle.state & ERROR_FLAG:
            slave.handle.state = now | ERROR_FLAG
            slave.handle.write_state()
            slave.handle.state_check(now, 100_000)

    def _awaited(self, positions: Collection[int], state: State) -> list[Seen]:
        """Those of the slaves that are not in the state after all: refused, silent for a while, or too slow."""
        end = time.monotonic() + STATE_TIMEOUT_S
        silent = 0
        while True:
            left = [seen for seen in self.states() if seen.position in positions and seen.status != state]
            still = [seen for seen in left if seen.status and not seen.status & ERROR_FLAG]
            silent = 0 if still else silent + 1
            has_refused = left and all(seen.status & ERROR_FLAG for seen in left)
            if not left or has_refused or silent >= _SILENT_CHECKS or time.monotonic() > end:
                return left
            time.sleep(_POLL_S)

    def sdo_read(self, position: int, index: int, subindex: int) -> bytes:
        """An object's bytes. Raises SdoRefused, SdoSilent, ToolFault."""
        slave = self.slave(position)
        with self.lock:
            try:
                return slave.handle.sdo_read(index, subindex, LARGEST_OBJECT)
            except self._sdo_faults as fault:
                raise self._sdo_fault(fault) from fault

    def sdo_write(self, position: int, index: int, subindex: int, data: bytes) -> None:
        """Write an object's bytes. Raises SdoRefused, SdoSilent, ToolFault."""
        slave = self.slave(position)
        with self.lock:
            try:
                slave.handle.sdo_write(index, subindex, data)
            except self._sdo_faults as fault:
                raise self._sdo_fault(fault) from fault

    @property
    def _sdo_faults(self) -> tuple[type[Exception], ...]:
        p = self._pysoem
        return (p.SdoError, p.WkcError, p.MailboxError, p.PacketError)

    def _sdo_fault(self, fault: Any) -> Exception:
        if isinstance(fault, self._pysoem.SdoError):
            return SdoRefused(abort_codes.words(fault.abort_code & 0xFFFFFFFF))
        if isinstance(fault, self._pysoem.MailboxError):
            return SdoRefused(f"mailbox error 0x{fault.error_code:04X}: {fault.desc}")
        if isinstance(fault, self._pysoem.PacketError):
            return SdoRefused(f"the value is longer than {LARGEST_OBJECT} bytes or came broken: {fault.desc}")
        return SdoSilent(f"no answer within {SDO_TIMEOUT_MS} ms")

    def objects(self, position: int) -> list[Any]:
        """The object dictionary's objects as pysoem gives them. Raises SdoRefused."""
        with self.lock:
            try:
                return list(self.slave(position).handle.od)
            except (self._pysoem.SdoInfoError, *self._sdo_faults) as fault:
                raise SdoRefused("the slave does not answer SDO information requests") from fault

    def read(self, position: int, address: int, length: int) -> bytes:
        """A slave's registers. Raises ToolFault where it does not answer."""
        slave = self.slave(position)
        for _ in range(_TRIES):
            with self.lock, contextlib.suppress(self._pysoem.WkcError):
                return slave.handle._fprd(address, length, library.FRAME_TIMEOUT_US)
        raise ToolFault(f"Slave {position} does not answer any more: cable or power.")

    def sii(self, position: int, word: int) -> bytes:
        """Four bytes of a slave's SII from a word address on."""
        with self.lock:
            return self.slave(position).handle.eeprom_read(word)

    def contents(self, position: int) -> sii_contents.Contents:
        """A slave's SII, read once."""
        slave = self.slave(position)
        if slave.contents is None:
            slave.contents = sii_contents.contents(sii_contents.Image(lambda word: self.sii(position, word)))
        return slave.contents

    def process_map(self, position: int) -> process_map.ProcessMap:
        """A slave's process data, read once: from CoE where the slave has it, else from the SII."""
        slave = self.slave(position)
        if slave.map is None:
            contents = self.contents(position)
            try:
                slave.map = process_map.from_objects(contents, lambda i, s: self.sdo_read(position, i, s))
            except (SdoRefused, SdoSilent):
                slave.map = process_map.from_sii(contents)
        return slave.map

    def map(self) -> None:
        """Configure sync managers and FMMUs for process data; slaves must be in PREOP. Raises ToolFault."""
        if self.is_mapped:
            return
        with self.lock:
            for slave in self.slaves:
                self.process_map(slave.position)
            try:
                self.handle.config_map()
            except self._pysoem.ConfigMapError as fault:
                said = "; ".join(str(self._sdo_fault(error)) for error in fault.error_list)
                raise ToolFault(
                    f"The process data could not be mapped: {said}. Look at the slave's `pdo` scan."
                ) from fault
            for slave in self.slaves:
                self._read_fmmus(slave)
        self.is_mapped = True

    def _read_fmmus(self, slave: Slave) -> None:
        """What the slave adds to the working counter (outputs 2, inputs 1), and where its bits begin."""
        data = self.read(slave.position, Register.FMMU, _FMMUS * FMMU_BYTES)
        rows = [data[at : at + FMMU_BYTES] for at in range(0, len(data), FMMU_BYTES)]
        active = [row for row in rows if row[12] & 1]
        outputs, inputs = ([row for row in active if row[11] == kind] for kind in (2, 1))
        slave.counter = 2 * bool(outputs) + bool(inputs)
        slave.output_shift = outputs[0][6] if outputs else 0
        slave.input_shift = inputs[0][6] if inputs else 0

    def close(self) -> None:
        """Let go of the interface; states stay as they are."""
        with self.lock:
            self.handle.close()
