"""One segment as one driver holds it: looked at passively until it is configured, then run by a master of our own.

What changes slaves (initialising, states) is called for approved writes only.
"""

import contextlib
import hashlib
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from oasis.errors import ToolFault
from oasis.plant.locks import Busy, held
from oasis_ethercat import elsewhere, interface, raw, sii
from oasis_ethercat.cyclic import PERIOD_S, Cyclic
from oasis_ethercat.esc import ERROR_FLAG, State
from oasis_ethercat.master import Master
from oasis_ethercat.presence import Presence, Seen, look
from oasis_ethercat.raw import NoAnswer, RawBus

LOCK_WAIT_S = 1.0
LISTEN_AGAIN_S = 2.0
_CYCLE_WAIT_S = 0.1
_SHOWN = 8


class Refused(Exception):
    """A state was not reached; `slaves` are those that are elsewhere."""

    def __init__(self, wanted: State, slaves: list[Seen], cause: str = "") -> None:
        self.slaves = slaves
        said = "; ".join(f"slave {seen.position} is in {seen.words}" for seen in slaves[:_SHOWN])
        super().__init__(f"{wanted.name} was not reached: {said}{cause}")


class Segment:
    """The slaves behind one interface. Methods block; call them from a thread, one at a time."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.master: Master | None = None
        self.cyclic: Cyclic | None = None
        self._identity = ""
        self._names: dict[sii.Identity, str] = {}
        self._listen_after = 0.0
        self._held = contextlib.ExitStack()

    @contextmanager
    def _locked(self) -> Generator[None]:
        """Hold the interface against every other Oasis on this machine. Raises ToolFault."""
        mark = hashlib.sha256(self.name.encode()).hexdigest()[:16]
        try:
            with held(Path(tempfile.gettempdir()) / f"oasis-ethercat-{mark}.lock", LOCK_WAIT_S):
                yield
        except OSError as fault:
            raise ToolFault(
                f"The lock of {self.name} cannot be taken: {fault.strerror} ({fault.filename}). It may be another "
                "user's; where no Oasis of theirs runs, remove the file. Nothing was sent."
            ) from fault
        except Busy as fault:
            raise ToolFault(
                f"Another Oasis on this machine is the master on {self.name}. Two masters on one wire corrupt each "
                "other, so nothing was sent. End the other session first."
            ) from fault

    @contextmanager
    def passive(self) -> Generator[tuple[RawBus, Presence]]:
        """Look without changing anything; for a segment that is not configured here."""
        with self._locked(), RawBus(self.name) as bus:
            yield bus, self._looked(bus, is_sure=False)

    def _looked(self, bus: RawBus, is_sure: bool) -> Presence:
        """What is there; unless it must be sure, another master is listened for once in LISTEN_AGAIN_S only."""
        now = time.monotonic()
        presence = look(bus, is_listening=is_sure or now > self._listen_after)
        if not presence.heard and now > self._listen_after:
            self._listen_after = now + LISTEN_AGAIN_S
        return presence

    def states(self) -> list[Seen]:
        """State of every slave; without raw sockets that of all as one, at position 0. Raises ToolFault."""
        if self.master:
            interface.check(self.name)
            return self.master.states()
        if not raw.is_available():
            with self._locked():
                return list(elsewhere.look(self.name).slaves)
        with self.passive() as (_, presence):
            if presence.heard:
                raise ToolFault(presence.refusal)
            return list(presence.slaves)

    def identity(self) -> str:
        """Every slave with vendor, product and revision; empty where it cannot be looked at."""
        if not self.master and not raw.is_available():
            return ""
        if not self.master:
            with self.passive() as (bus, presence):
                return "" if presence.refusal else described(self._identities(images_of(bus, presence)))
        return self._identity

    def _identities(self, images: dict[int, sii.Image]) -> list[tuple[str, sii.Identity | None]]:
        """Name and identity of each slave from its SII; None where it cannot be read. A device's name is read once."""
        found: list[tuple[str, sii.Identity | None]] = []
        for image in images.values():
            try:
                identity = sii.identity(image)
                if identity not in self._names:
                    self._names[identity] = sii.name(image)
                found.append((self._names[identity], identity))
            except (NoAnswer, ToolFault):
                found.append(("", None))
        return found

    def initialise(self) -> None:
        """Reset every slave to INIT and bring it to PREOP. Raises ToolFault, Refused."""
        self.leave()
        with contextlib.ExitStack() as stack:
            stack.enter_context(self._locked())
            if raw.is_available():
                images, count = self._surveyed()
            else:
                images, count = {}, 0
                self._check_elsewhere()
            self.master = master = Master(self.name, images, count)
            self._held = stack.pop_all()
            self._identity = self._identity or described([(slave.name, slave.identity) for slave in master.slaves])
        if missing := [seen for seen in self.master.states() if seen.status != State.PREOP]:
            raise Refused(State.PREOP, missing)

    def check_free(self) -> list[Seen]:
        """The slaves' states. Raises ToolFault where another master may be running them."""
        if self.master:
            return self.states()
        if not raw.is_available():
            with self._locked():
                return self._check_elsewhere()
        with self.passive() as (_, presence):
            if presence.refusal:
                raise ToolFault(presence.refusal)
            return list(presence.slaves)

    def _check_elsewhere(self) -> list[Seen]:
        presence = elsewhere.look(self.name)
        if refusal := elsewhere.refusal(presence):
            raise ToolFault(refusal)
        return list(presence.slaves)

    def _surveyed(self) -> tuple[dict[int, sii.Image], int]:
        """The slaves' SII as far as it can be read, before initialising, and how many slaves there are.

        Raises ToolFault where another master may be running them.
        """
        with RawBus(self.name) as bus:
            presence = self._looked(bus, is_sure=True)
            if presence.refusal:
                raise ToolFault(presence.refusal)
            images = images_of(bus, presence)
            self._identity = described(self._identities(images))
            return {position: image for position, image in images.items() if _is_readable(image)}, len(images)

    def bring(self, wanted: State, position: int = 0) -> None:
        """Bring one slave (0: all) to a state, one state at a time. Raises ToolFault, Refused."""
        if wanted is State.INIT and not position:
            self._to_init()
            return
        if not self.master:
            if position:
                raise ToolFault(
                    f'The segment is not configured here. Write "bus state" before the state of slave {position}.'
                )
            self.initialise()
        master = self._configured()
        seen = [slave for slave in master.states() if position in {0, slave.position}]
        if missing := [str(slave.position) for slave in seen if not slave.status]:
            raise ToolFault(
                f"Slave {', '.join(missing)} does not answer any more. Check cable and power, then write "
                '"bus state" INIT and the state wanted: that configures the segment again.'
            )
        for step, positions in way(seen, wanted):
            self._step(master, step, positions)

    def _step(self, master: Master, state: State, positions: list[int]) -> None:
        """One state change and what belongs to it: mapping before SAFEOP, process data in SAFEOP and OP."""
        if state is State.SAFEOP:
            self._map(master)
        cyclic = self._run_cycles(master) if state >= State.SAFEOP else self.cyclic
        with cyclic.settling() if cyclic else contextlib.nullcontext():
            if cyclic and state < State.OP:
                self._calm(cyclic, positions)
            missing = master.request(state, positions)
            reached = [number for number in positions if number not in {seen.position for seen in missing}]
            if cyclic:
                cyclic.brought(reached, state if state >= State.SAFEOP else None)
                cyclic.wait_cycles(1, _CYCLE_WAIT_S)
        if cyclic and cyclic.wanted:
            cyclic.wait_good(1, _CYCLE_WAIT_S)
        if cyclic and not cyclic.wanted:
            cyclic.stop()
            self.cyclic = None
        if missing:
            causes = [cyclic.cause(seen) for seen in missing] if cyclic else []
            raise Refused(state, missing, max(causes, default=""))

    @staticmethod
    def _map(master: Master) -> None:
        """Map the process data; from INIT once more where a frame of that was lost. Raises ToolFault, Refused."""
        if not master.map():
            return
        master.initialise()
        if missing := [seen for seen in master.states() if seen.status != State.PREOP]:
            raise Refused(State.PREOP, missing)
        if wrong := master.map():
            raise ToolFault(
                f"The process data could not be mapped: {'; '.join(wrong[:_SHOWN])}. Every slave is in PREOP and none "
                "has process data. Compare the slave's scan item `N pdo` with its manual."
            )

    @staticmethod
    def _calm(cyclic: Cyclic, positions: list[int]) -> None:
        """Zeros as outputs before slaves leave OP; they are no longer expected to be in it."""
        for position in positions:
            cyclic.put(position, bytes(len(cyclic.outputs(position))))
        cyclic.wait_cycles(2, _CYCLE_WAIT_S)
        cyclic.brought(positions, None)

    def _run_cycles(self, master: Master) -> Cyclic:
        if self.cyclic is None:
            self.cyclic = Cyclic(master, PERIOD_S)
            self.cyclic.start()
        return self.cyclic

    def _to_init(self) -> None:
        if not self.master:
            self.initialise()
        self.leave()

    def leave(self) -> None:
        """Zero the outputs, leave OP, stop the cycle, go to INIT, give the SII back, let go of the interface."""
        if not self.master:
            return
        positions = [slave.position for slave in self.master.slaves]
        try:
            interface.check(self.name)
            if self.cyclic:
                with self.cyclic.settling():
                    self.cyclic.zero()
                    self.cyclic.wait_cycles(2, _CYCLE_WAIT_S)
                    self.cyclic.brought(positions, None)
                    self.master.request(State.SAFEOP, positions)
                    self.cyclic.stop()
            elsewhere_still = {seen.position for seen in self.master.request(State.INIT, positions)}
            self.master.return_sii(position for position in positions if position not in elsewhere_still)
        except ToolFault:  # the link is down: nothing can be sent, and the slaves' watchdog switches their outputs off
            pass
        finally:
            if self.cyclic:
                self.cyclic.stop()
            self.cyclic = None
            self.master.close()
            self.master = None
            self._identity = ""
            self._held.close()

    def _configured(self) -> Master:
        if self.master is None:
            raise ToolFault('The segment is not configured here. Write "bus state" PREOP first.')
        return self.master


def way(seen: list[Seen], wanted: State) -> list[tuple[State, list[int]]]:
    """The states to ask for in turn, and of which slaves: going up each state of those below it, then down the others.

    A slave that is there already is asked only where it has an error to acknowledge.
    """
    states = {slave.position: slave.status & 0x0F for slave in seen}
    found: list[tuple[State, list[int]]] = []
    for state in (State.PREOP, State.SAFEOP, State.OP):
        below = [position for position, now in states.items() if now < state]
        if below and state <= wanted:
            found.append((state, below))
    rest = [s.position for s in seen if s.status & 0x0F > wanted or s.status == wanted | ERROR_FLAG]
    return [*found, (wanted, rest)] if rest else found


def images_of(bus: RawBus, presence: Presence) -> dict[int, sii.Image]:
    """The SII of each slave by position, read when it is asked for."""
    return {seen.position: sii.Image(partial(bus.sii, seen.position)) for seen in presence.slaves}


def _is_readable(image: sii.Image) -> bool:
    """Read all of an image: from then on it is known."""
    try:
        sii.contents(image)
    except (NoAnswer, ToolFault):
        return False
    return True


def described(found: list[tuple[str, sii.Identity | None]]) -> str:
    """The segment in one line, always spelled the same: the digest is over every slave's vendor, product, revision."""
    rows = [f"{position} {name} {identity}" for position, (name, identity) in enumerate(found, 1)]
    digest = hashlib.sha256("\n".join(rows).encode()).hexdigest()[:16]
    names = [name or "?" for name, _ in found[:_SHOWN]]
    more = ", …" if len(found) > _SHOWN else ""
    unread = sum(identity is None for _, identity in found)
    hint = f"; {unread} did not give their SII: switch them off and on" if unread else ""
    return f"{len(found)} slaves, sha256 {digest}: {', '.join(names)}{more}{hint}"
