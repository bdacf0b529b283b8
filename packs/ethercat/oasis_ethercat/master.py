"""pysoem's master on one interface: initialised, states, SDO, mapping. One lock around everything acyclic.

Process data are exchanged by `cyclic` alone; SOEM allows that beside one acyclic call. SOEM does not say when a frame
of its configuration was lost: what it configured is looked at, and configured once more.
"""

import contextlib
import threading
import time
from collections.abc import Collection, Iterable, Mapping
from functools import partial
from typing import Any

from oasis.errors import ToolFault
from oasis_ethercat import interface, library, mapping, process_map
from oasis_ethercat import sii as sii_contents
from oasis_ethercat.dictionary import Dictionary
from oasis_ethercat.esc import ERROR_FLAG, CoeDetail, Mailbox, Register, State
from oasis_ethercat.presence import Seen
from oasis_ethercat.sdo import SdoClient, SdoRefused, SdoSilent
from oasis_ethercat.slave import Slave

STATE_TIMEOUT_S = 3.0
_SILENT_CHECKS = 5
_POLL_S = 0.002
_ACKNOWLEDGE_S = 0.1
_AGAIN_S = 0.1
_TRIES = 5
_STATE_TRIES = 12
_INVALID_MAILBOX = 0x0016


class Master:
    """The segment as pysoem has configured it. Making one initialises it: every slave goes to INIT, then PREOP.

    `images` is what was read of the slaves' SII by position, `expected` how many there were (0: not known).
    Raises ToolFault where there is no right, no slave, or the slaves are not those that were there.
    """

    def __init__(self, name: str, images: Mapping[int, sii_contents.Image], expected: int = 0) -> None:
        self._pysoem = library.pysoem()
        self.name = name
        self.lock = threading.RLock()
        self.is_mapped = False
        self.slaves: list[Slave] = []
        self._images = images
        self._expected = expected
        if expected > mapping.MOST_SLAVES:
            raise ToolFault(f"{expected} slaves answer and pysoem handles {mapping.MOST_SLAVES}: divide the segment.")
        self.handle: Any = interface.opened(name)
        self.sdo = SdoClient(self._pysoem, self.handle, self.lock)
        try:
            self.initialise()
        except BaseException:
            self.handle.close()
            raise

    def initialise(self) -> None:
        """Bring every slave to INIT, then PREOP; once more where a frame of that was lost. Raises ToolFault."""
        with self.lock:
            self.is_mapped = False
            missing = self._initialised()
            if not self.slaves or self._strangers() or any(_is_lost(seen) for seen in missing):
                time.sleep(_AGAIN_S)
                self._initialised()
            if not self.slaves:
                interface.check(self.name)
                raise interface.no_slaves(self.name)
            if strangers := self._strangers():
                raise ToolFault(
                    f"The segment changed while it was initialised: {'; '.join(strangers)}. Look at it again, and plan "
                    "again."
                )

    def _initialised(self) -> list[Seen]:
        """Initialise once; gives the slaves that are not in PREOP."""
        self.handle.manual_state_change = 0
        count = self.handle.config_init()
        self.handle.manual_state_change = 1
        handles: list[Any] = self.handle.slaves if count > 0 else []
        self.slaves = [Slave(at, handle, self._images.get(at)) for at, handle in enumerate(handles, 1)]
        for slave in self.slaves:  # without one, pysoem raises an emergency in place of the SDO's result
            slave.handle.add_emergency_callback(self._note_emergency)
            slave.contents = sii_contents.contents(slave.image) if slave.image else None
        return self._awaited([slave.position for slave in self.slaves], State.PREOP)

    def _strangers(self) -> list[str]:
        """Where the slaves found are not those that were there before, in words."""
        if self._expected and len(self.slaves) != self._expected:
            return [f"{self._expected} slaves were there, {len(self.slaves)} are now"]
        return [
            f"slave {slave.position} was {slave.contents.identity}, is {slave.identity}"
            for slave in self.slaves
            if slave.contents and str(slave.contents.identity) != str(slave.identity)
        ]

    def _note_emergency(self, emergency: Any) -> None:
        self.slave(emergency.slave_pos).note(emergency)

    def slave(self, position: int) -> Slave:
        """The slave at a position. Raises ToolFault where there is none."""
        if not 1 <= position <= len(self.slaves):
            raise ToolFault(f"There is no slave {position}: the segment has {len(self.slaves)}, counted from 1.")
        return self.slaves[position - 1]

    def states(self, tries: int = _STATE_TRIES) -> list[Seen]:
        """State and AL status code of every slave, read now. Status 0: no answer; of all of them: a frame was lost.

        pysoem holds Python while it waits: the frames' time is short, so that process data go on, and there are tries.
        """
        with self.lock, library.frames_within(library.STATE_FRAME_US):
            are_some_silent = False
            for _ in range(tries):
                self.handle.read_state()
                answered = [bool(slave.handle.state) for slave in self.slaves]
                if all(answered) or (are_some_silent and any(answered)):
                    break
                are_some_silent = any(answered)
                if not are_some_silent and tries > 1:
                    time.sleep(_POLL_S)  # SOEM waits busily: on a busy machine it keeps the answer away
            return [Seen(s.position, s.handle.state, s.handle.al_status) for s in self.slaves]

    def request(self, state: State, positions: Collection[int]) -> list[Seen]:
        """Ask slaves for a state, errors acknowledged, and wait; gives those that did not come there."""
        with self.lock:
            chosen = [slave for slave in self.slaves if slave.position in positions]
            self.states()
            for slave in chosen:
                self._acknowledge(slave)
            for asked in [self.handle] if len(chosen) == len(self.slaves) else [slave.handle for slave in chosen]:
                _ask(asked, state)
        return self._awaited(positions, state)

    def _acknowledge(self, slave: Slave) -> None:
        """Clear a slave's error flag where it is set, in the state it is in."""
        if not slave.handle.state & ERROR_FLAG:
            return
        _ask(slave.handle, slave.handle.state & 0x0F | ERROR_FLAG)
        end = time.monotonic() + _ACKNOWLEDGE_S
        while self.states()[slave.position - 1].status & ERROR_FLAG and time.monotonic() < end:
            time.sleep(_POLL_S)

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

    def sdo_read(self, position: int, index: int, subindex: int, *, is_complete: bool = False) -> bytes:
        """An object's bytes. Raises SdoRefused, SdoSilent, ToolFault."""
        return self.sdo.read(self.slave(position), index, subindex, is_complete=is_complete)

    def sdo_write(self, position: int, index: int, subindex: int, data: bytes) -> None:
        """Write an object's bytes. Raises SdoRefused, SdoSilent, ToolFault."""
        slave = self.slave(position)
        if process_map.is_mapping(index):
            slave.map, slave.is_outdated = (slave.map, True) if self.is_mapped else (None, False)
        self.sdo.write(slave, index, subindex, data)

    def dictionary(self, position: int) -> Dictionary:
        """What asks a slave for its object dictionary."""
        return Dictionary(self._pysoem, self.slave(position), self.contents(position), self.lock)

    def emergencies(self, seen: Seen) -> list[str]:
        """The emergencies of a slave so far, those that wait in its mailbox among them."""
        slave = self.slave(seen.position)
        has_mailbox = seen.status & 0x0F in {State.PREOP, State.SAFEOP, State.OP}
        if has_mailbox and slave.out_of_step is None and self.contents(seen.position).protocols & Mailbox.COE:
            with self.lock, library.frames_within(library.STATE_FRAME_US):
                self.sdo.clear(slave)
        return slave.emergencies

    def read(self, position: int, address: int, length: int) -> bytes:
        """A slave's registers. Raises ToolFault where it does not answer."""
        slave = self.slave(position)
        for _ in range(_STATE_TRIES):
            with self.lock, contextlib.suppress(self._pysoem.WkcError):
                return slave.handle._fprd(address, length, library.STATE_FRAME_US)
        raise ToolFault(f"Slave {position} does not answer any more: cable or power.")

    def sii(self, position: int, word: int) -> bytes:
        """Four bytes of a slave's SII from a word address on; zeros where it does not answer."""
        with self.lock:
            return self.slave(position).handle.eeprom_read(word)

    def return_sii(self, positions: Iterable[int]) -> None:
        """Take the SII of slaves in INIT back from their processors, to which SOEM gave it.

        It is then as after power-on, and a passive look can read it. A slave that does not answer is passed over.
        """
        for position in positions:
            handle = self.slave(position).handle
            for _ in range(_TRIES):
                with self.lock, contextlib.suppress(self._pysoem.WkcError):
                    handle._fpwr(Register.SII_CONFIG, bytes(1), library.STATE_FRAME_US)
                    break

    def image(self, position: int) -> sii_contents.Image:
        """A slave's SII; what was read of it once is not read again."""
        slave = self.slave(position)
        if slave.image is None:
            slave.image = sii_contents.Image(lambda word: self.sii(position, word))
        return slave.image

    def contents(self, position: int) -> sii_contents.Contents:
        """A slave's SII, read once."""
        slave = self.slave(position)
        if slave.contents is None:
            slave.contents = sii_contents.contents(self.image(position))
        return slave.contents

    def process_map(self, position: int) -> process_map.ProcessMap:
        """A slave's process data, read once: from CoE where the slave has it, else from the SII. Raises ToolFault."""
        slave = self.slave(position)
        if slave.map is None:
            contents = self.contents(position)
            try:
                found = process_map.from_objects(contents, partial(self._record, position))
            except SdoSilent as fault:
                raise ToolFault(
                    f"The PDOs of slave {position} could not be read by CoE: {fault}. Try again; where it stays so, "
                    "look at its state."
                ) from fault
            slave.map = found
        return slave.map

    def _record(self, position: int, index: int) -> list[bytes]:
        """The subindexes of a mapping object from 1 on, none where the slave refuses it. Raises SdoSilent."""
        contents = self.contents(position)
        if not contents.protocols & Mailbox.COE:
            return []
        if CoeDetail.COMPLETE_ACCESS in contents.coe:
            with contextlib.suppress(SdoRefused):
                data, size = self.sdo_read(position, index, 0, is_complete=True), process_map.value_bytes(index)
                count = min(data[0] if data else 0, (len(data) - 2) // size)
                return [data[2 + size * n : 2 + size * (n + 1)] for n in range(count)]
        try:
            count = int.from_bytes(self.sdo_read(position, index, 0)[:1], "little")
            return [self.sdo_read(position, index, sub) for sub in range(1, count + 1)]
        except SdoRefused:
            return []

    def map(self) -> list[str]:
        """Configure sync managers and FMMUs for process data; slaves must be in PREOP. Raises ToolFault.

        Gives what did not become what it should be, in words: a frame was lost. Then the segment is to be initialised
        and mapped once more.
        """
        if outdated := [str(slave.position) for slave in self.slaves if slave.is_outdated]:
            raise ToolFault(
                f"PDOs of slave {', '.join(outdated)} were chosen anew after the process data were mapped. "
                'Write "bus state" INIT, then the state wanted: that maps them again.'
            )
        if self.is_mapped:
            return []
        with self.lock:
            for slave in self.slaves:
                self.process_map(slave.position)
            mapping.check_size(self.slaves)
            said = ""
            with library.frames_within(library.MAILBOX_FRAME_US):
                try:
                    self.handle.config_map()
                except self._pysoem.ConfigMapError as fault:
                    said = self.sdo.mapping_faults(fault)
            wrong = mapping.configured(self.slaves, self.read)
        self.is_mapped = not wrong
        return [*wrong, said] if wrong and said else wrong

    def close(self) -> None:
        """Let go of the interface; states stay as they are."""
        with self.lock:
            self.handle.close()


def _ask(asked: Any, state: int) -> None:
    """Request a state of a slave or of all; again where no frame came back, since asking twice asks for the same."""
    for _ in range(_TRIES):
        asked.state = state
        if asked.write_state() > 0:
            return


def _is_lost(seen: Seen) -> bool:
    """Does a slave that is not in PREOP look as if a frame of its configuration did not reach it?"""
    is_error = bool(seen.status & ERROR_FLAG)
    return seen.code == _INVALID_MAILBOX if is_error else seen.status & 0x0F in {0, State.INIT}
