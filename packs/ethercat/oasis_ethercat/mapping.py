"""What the slaves were really told about their process data, and what each adds to the working counter for it.

SOEM does not look whether its writes of sync managers and FMMUs arrived, nor whether process data fit its buffer.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from oasis.errors import ToolFault
from oasis_ethercat.esc import FMMU_BYTES, SYNC_MANAGER_BYTES, Register
from oasis_ethercat.slave import Slave

MOST_BYTES = 4096
"""pysoem's buffer for the process data of a segment; it writes past its end."""
MOST_SLAVES = 199
_FMMUS, _MANAGERS = 4, 8
_OUTPUT, _INPUT = 2, 1
_FRAME_BYTES, _FIRST_FRAME_BYTES = 1486, 1466
"""SOEM cuts process data into datagrams of so many bytes; the first leaves room for distributed clocks."""

Read = Callable[[int, int, int], bytes]
"""Registers: slave, address, length."""


@dataclass(frozen=True, slots=True)
class Fmmu:
    """An active FMMU: logical bytes from `start` on, where its bits begin, and the memory behind it."""

    kind: int
    start: int
    length: int
    first_bit: int
    last_bit: int
    memory: int

    @property
    def bits(self) -> int:
        return 8 * (self.length - 1) + self.last_bit - self.first_bit + 1

    @property
    def next_start(self) -> int:
        """Where SOEM goes on in the logical addresses."""
        return self.start + self.length - (self.last_bit != 7)


def check_size(slaves: Sequence[Slave]) -> None:
    """Raise ToolFault where all process data together are more than pysoem holds."""
    size = sum(slave.bytes(is_output) for slave in slaves for is_output in (True, False))
    if size > MOST_BYTES:
        raise ToolFault(
            f"The segment has {size} bytes of process data and pysoem holds {MOST_BYTES}, so it was not mapped. "
            "Assign fewer PDOs (0x1C12, 0x1C13) to the largest slaves, or divide the segment."
        )


def configured(slaves: Sequence[Slave], read: Read) -> list[str]:
    """Set each slave's counter and shifts from its registers; gives what is not as it should be, in words."""
    found = {slave.position: _fmmus(read(slave.position, Register.FMMU, _FMMUS * FMMU_BYTES)) for slave in slaves}
    limits = _datagrams(list(found.values()))
    wrong: list[str] = []
    for slave in slaves:
        units = found[slave.position]
        outputs, inputs = ([unit for unit in units if unit.kind == kind] for kind in (_OUTPUT, _INPUT))
        slave.output_shift = outputs[0].first_bit if outputs else 0
        slave.input_shift = inputs[0].first_bit if inputs else 0
        slave.counter = 2 * _crossed(outputs, limits) + _crossed(inputs, limits)
        wrong += _differences(slave, outputs, inputs)
        if units:
            wrong += _uncovered(slave, units, read(slave.position, Register.SYNC_MANAGER, 8 * SYNC_MANAGER_BYTES))
    return wrong


def _fmmus(data: bytes) -> list[Fmmu]:
    rows = (data[at : at + FMMU_BYTES] for at in range(0, len(data), FMMU_BYTES))
    return [
        Fmmu(
            row[11],
            int.from_bytes(row[0:4], "little"),
            int.from_bytes(row[4:6], "little"),
            row[6],
            row[7],
            int.from_bytes(row[8:10], "little"),
        )
        for row in rows
        if row[12] & 1
    ]


def _differences(slave: Slave, outputs: list[Fmmu], inputs: list[Fmmu]) -> list[str]:
    """Where SOEM's sizes or the slave's FMMUs are not those of its PDOs."""
    assert slave.map is not None  # noqa: S101 - mapped before
    wrong: list[str] = []
    ways = (
        ("outputs", slave.map.output_bits, slave.bytes(True), slave.handle.output, outputs),
        ("inputs", slave.map.input_bits, slave.bytes(False), slave.handle.input, inputs),
    )
    for name, bits, size, buffer, units in ways:
        if len(buffer) != size:
            wrong.append(f"slave {slave.position}: {name} of {size} bytes by its PDOs, {len(buffer)} by SOEM")
        elif sum(unit.bits for unit in units) != (bits if bits < 8 else 8 * size):
            wrong.append(f"slave {slave.position}: the FMMU of its {name} was not written")
    return wrong


def _uncovered(slave: Slave, units: list[Fmmu], managers: bytes) -> list[str]:
    """FMMUs that lead to memory that no active sync manager has."""
    spans: list[range] = []
    for at in range(0, len(managers), SYNC_MANAGER_BYTES):
        start, length = (int.from_bytes(managers[at + n : at + n + 2], "little") for n in (0, 2))
        if managers[at + 6] & 1:
            spans.append(range(start, start + length))
    held = {address for span in spans for address in span}
    return [
        f"slave {slave.position}: no sync manager holds its {'outputs' if unit.kind == _OUTPUT else 'inputs'}"
        for unit in units
        if unit.memory not in held or unit.memory + unit.length - 1 not in held
    ]


def _crossed(units: list[Fmmu], limits: list[int]) -> int:
    """In how many datagrams a slave takes part with these FMMUs."""
    spans = list(pairwise(limits))
    return sum(any(unit.start < end and begin < unit.start + unit.length for unit in units) for begin, end in spans)


def _datagrams(slaves: list[list[Fmmu]]) -> list[int]:
    """The logical addresses at which datagrams begin, and the end: SOEM's way, outputs of all slaves before inputs."""
    limits, used, at = [0], 0, 0
    most = _FIRST_FRAME_BYTES

    def end_datagram(size: int) -> None:
        nonlocal most
        limits.append(limits[-1] + size)
        most = _FRAME_BYTES

    for kind in (_OUTPUT, _INPUT):
        for units in slaves:
            ends = [unit.next_start for unit in units if unit.kind == kind]
            grown = max(ends, default=at) - at
            at += grown
            if used + grown > most >= grown:
                end_datagram(used)
                used = 0
            used += grown
            while used > most:
                size = most
                end_datagram(size)
                used -= size
        last = max((unit.start + unit.length for units in slaves for unit in units if unit.kind == kind), default=at)
        if last > at:  # bits that do not fill a byte
            if used + 1 > most:
                end_datagram(used)
                used = 0
            used, at = used + 1, last
    return [*limits, limits[-1] + used] if used else limits
