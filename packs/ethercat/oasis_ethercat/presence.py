"""Who is there: slaves and their states, found out by listening and by reads that change nothing."""

from dataclasses import dataclass

from oasis_ethercat import al_codes, interface
from oasis_ethercat.esc import ERROR_FLAG, SYNC_MANAGER_BYTES, Register, State
from oasis_ethercat.raw import NoAnswer, RawBus

WATCHDOG = 0x001B
_MANAGERS = 4


@dataclass(frozen=True, slots=True)
class Seen:
    """A slave as its registers show it. `is_fed`: it has outputs under a watchdog that has not expired."""

    position: int
    status: int
    code: int
    is_fed: bool = False

    @property
    def is_running(self) -> bool:
        return self.status & 0x0F in {State.SAFEOP, State.OP}

    @property
    def is_left_behind(self) -> bool:
        return bool(self.status & ERROR_FLAG) and self.code == WATCHDOG

    @property
    def words(self) -> str:
        """State, and the AL status code in words where there is one."""
        name = al_codes.state_name(self.status)
        return f"{name}, {al_codes.words(self.code)}" if self.status & ERROR_FLAG else name


@dataclass(frozen=True, slots=True)
class Presence:
    """What was found on an interface. `heard` counts frames of another master; then nothing was sent."""

    interface: str
    slaves: tuple[Seen, ...]
    heard: int = 0

    @property
    def is_running(self) -> bool:
        return any(slave.is_running for slave in self.slaves)

    @property
    def refusal(self) -> str:
        """Why nothing further may be done that changes the segment, empty where it may.

        States SAFEOP or OP are a master's work. It is known to be gone only where no frame is heard for longer than a
        watchdog, a watchdog has expired, and no slave with outputs is still fed.
        """
        if self.heard:
            return (
                f"Another master is sending on {self.interface}: its frames were heard within 0.12 s. Two masters "
                "corrupt each other, so nothing was sent. Stop the other master first."
            )
        if not self.is_running or (
            any(s.is_left_behind for s in self.slaves) and not any(s.is_fed for s in self.slaves)
        ):
            return ""
        busy = [f"{s.position} {al_codes.state_name(s.status)}" for s in self.slaves if s.is_running]
        return (
            f"Another master may be running this segment: slaves {', '.join(busy[:8])}. Initialising would reset its "
            "slaves, so only their registers were read. Stop the other master, or switch the slaves off and on."
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be said before anything else."""
        lines = [self.refusal] if self.refusal else []
        behind = [s for s in self.slaves if s.is_left_behind]
        if behind and not self.heard:
            which = ", ".join(str(s.position) for s in behind)
            lines.append(
                f"A master stopped while slaves were in OP: the watchdog brought {which} to SAFEOP with outputs off. "
                'Find out why it stopped; a write of "bus state" starts again.'
            )
        return tuple(lines)


def look(bus: RawBus, is_listening: bool = True) -> Presence:
    """Listen, then read. Raises ToolFault where nothing answers."""
    if is_listening and (heard := bus.heard()):
        return Presence(bus.name, (), heard)
    count = bus.count()
    if not count:
        raise interface.no_slaves(bus.name)
    return Presence(bus.name, tuple(_seen(bus, position) for position in range(1, count + 1)))


def _seen(bus: RawBus, position: int) -> Seen:
    try:
        data = bus.read(position, Register.AL_STATUS, 6)
        status, code = data[0], data[4] | data[5] << 8
        in_use = status & 0x0F in {State.SAFEOP, State.OP}
        fed = in_use and not status & ERROR_FLAG and _has_watched_outputs(bus, position)
    except NoAnswer:
        return Seen(position, 0, 0)
    return Seen(position, status, code, fed)


def _has_watched_outputs(bus: RawBus, position: int) -> bool:
    """Is a sync manager active that is buffered, written by the master, and triggers the watchdog?"""
    data = bus.read(position, Register.SYNC_MANAGER, _MANAGERS * SYNC_MANAGER_BYTES)
    for at in range(0, len(data), SYNC_MANAGER_BYTES):
        length = data[at + 2] | data[at + 3] << 8
        control, active = data[at + 4], data[at + 6]
        if length and active & 1 and control & 0x4F == 0x44:
            return True
    return False
