"""The catalogue: terminals and the drive that can be plugged into a segment, by name."""

from oasis_ethercat.coe_types import BOOL, INT16, INT32, DataType
from oasis_ethercat.simulator.device import (
    READ,
    WRITE,
    Behaviour,
    Device,
    Entry,
    Item,
    Mailboxes,
    Pdo,
    Values,
    count,
    padding,
)
from oasis_ethercat.simulator.drive import DRIVE
from oasis_ethercat.simulator.odd_devices import BRIDGE, ENCODER, GATEWAY, SAFETY

VENDOR = 0x0000A515
"""A vendor number of the simulator's own; no member of the EtherCAT Technology Group has it."""

_UNDER, _OVER, _ERROR, _VALUE = 1, 2, 7, 0x11
_FULL_SCALE = 32767


def _channels(base: int, index: int, number: int, kind: DataType, name: str) -> tuple[Pdo, ...]:
    """One PDO and one object for each channel, as terminals have them."""
    return tuple(
        Pdo(base + n, f"Channel {n + 1}", (Entry(index + 0x10 * n, 1, kind, f"{name} {n + 1}"),)) for n in range(number)
    )


def _digital_in(number: int, product: int) -> Device:
    pdos = _channels(0x1A00, 0x6000, number, BOOL, "Input")
    return Device(f"OX-DI{number}", VENDOR, product, 0x00010000, transmit=pdos)


def _digital_out(number: int, product: int) -> Device:
    pdos = _channels(0x1600, 0x7000, number, BOOL, "Output")
    return Device(f"OX-DO{number}", VENDOR, product, 0x00010000, receive=pdos)


def _analogue_channel(number: int) -> Pdo:
    index = 0x6000 + 0x10 * number
    label = f"AI {number + 1}"
    entries = (
        Entry(index, _UNDER, BOOL, f"{label} underrange"),
        Entry(index, _OVER, BOOL, f"{label} overrange"),
        padding(4),
        Entry(index, _ERROR, BOOL, f"{label} error"),
        padding(8),
        padding(1),
        Entry(index, _VALUE, INT16, f"{label} value"),
    )
    return Pdo(0x1A00 + number, label, entries)


class _Ramp(Behaviour):
    """The first channel rises and falls between 4,000 and 12,000 counts in 20 s; the second keeps what it was given."""

    def __init__(self) -> None:
        self._seconds = 0.0

    def step(self, objects: Values, seconds: float) -> None:
        self._seconds = (self._seconds + seconds) % 20
        height = min(self._seconds, 20 - self._seconds) / 10
        offset, gain = objects.number(0x8000, 0x11), objects.number(0x8000, 0x12)
        scaled = int((4000 + 8000 * height) * gain / 0x10000) + offset
        objects.put(0x6000, max(-_FULL_SCALE, min(_FULL_SCALE, scaled)), _VALUE)
        objects.put(0x6000, abs(scaled) > _FULL_SCALE, _OVER)


COUPLER = Device("OX-COUPLER", VENDOR, 0x1100, 0x00010000)
DIGITAL_IN_8 = _digital_in(8, 0x1008)
DIGITAL_IN_4 = _digital_in(4, 0x1004)
DIGITAL_OUT_8 = _digital_out(8, 0x2008)
DIGITAL_OUT_4 = _digital_out(4, 0x2004)
ANALOGUE_IN_2 = Device(
    "OX-AI2",
    VENDOR,
    0x3102,
    0x00020000,
    transmit=(_analogue_channel(0), _analogue_channel(1)),
    mailboxes=Mailboxes(),
    objects={
        (0x6010, _VALUE): Item(INT16, -1234, "AI 2 value"),
        (0x8000, 0): count(0x12),
        (0x8000, 0x11): Item(INT16, 0, "AI 1 user offset", READ | WRITE, -_FULL_SCALE, _FULL_SCALE),
        (0x8000, 0x12): Item(INT32, 0x10000, "AI 1 user gain (0x10000 is 1)", READ | WRITE),
    },
    object_names={0x6000: "AI 1 inputs", 0x6010: "AI 2 inputs", 0x8000: "AI 1 settings"},
    behaviour=_Ramp,
)

DEVICES: dict[str, Device] = {
    "coupler": COUPLER,
    "di8": DIGITAL_IN_8,
    "di4": DIGITAL_IN_4,
    "do8": DIGITAL_OUT_8,
    "do4": DIGITAL_OUT_4,
    "ai2": ANALOGUE_IN_2,
    "drive": DRIVE,
    "gateway": GATEWAY,
    "encoder": ENCODER,
    "safety": SAFETY,
    "bridge": BRIDGE,
}
"""By the names that `running_segment` takes."""
