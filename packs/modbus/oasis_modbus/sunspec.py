"""SunSpec: the chain of models in a device."""

from collections.abc import Callable
from dataclasses import dataclass

from oasis_modbus.tables import LAST, TABLES
from oasis_modbus.units import Refused, Unit

BASES = (40_000, 50_000, 0)
"""Wire addresses where the chain may begin. SunSpec Device Information Model Specification 1.1, 6.2."""
MARK = [0x5375, 0x6E53]
NAMES = {
    1: "common", 2: "basic aggregator", 11: "Ethernet link", 12: "IPv4", 101: "inverter, single phase",
    102: "inverter, split phase", 103: "inverter, three phase", 111: "inverter, single phase, float",
    112: "inverter, split phase, float", 113: "inverter, three phase, float", 120: "nameplate ratings",
    121: "basic settings", 122: "extended measurements", 123: "immediate controls", 124: "basic storage",
    160: "multiple MPPT", 201: "meter, single phase", 202: "meter, split phase", 203: "meter, wye",
    204: "meter, delta", 211: "meter, single phase, float", 213: "meter, wye, float", 401: "string combiner",
    701: "DER AC measurement", 702: "DER capacity", 703: "enter service", 704: "DER AC controls", 713: "DER storage",
    802: "battery base", 803: "lithium-ion battery bank",
}  # fmt: skip
_END = 0xFFFF
_MOST_MODELS = 64


@dataclass(frozen=True, slots=True)
class Placed:
    """A model in a device: the wire address of its id register, and how many registers follow id and length."""

    id: int
    at: int
    length: int

    @property
    def item(self) -> str:
        return f"holding {self.at}-{self.at + 1 + self.length}"

    @property
    def name(self) -> str:
        return NAMES.get(self.id, "")


async def chain(unit: Unit, spend: Callable[[], bool]) -> tuple[list[Placed], str]:
    """The models of a device, and why the walk ended early (empty: at the end mark). No models: no SunSpec device.

    Raises LinkFault.
    """
    for base in BASES:
        if not spend():
            return [], "the budget"
        if await _words(unit, base, 2) != MARK:
            continue
        found: list[Placed] = []
        at = base + 2
        while len(found) < _MOST_MODELS and at < LAST:
            if not spend():
                return found, "the budget"
            head = await _words(unit, at, 2)
            if not head or head[0] == _END:
                missing = f"holding {at} does not read, where the next model or the end mark should be"
                return found, "" if head else missing
            if why := _impossible(at, *head):
                return found, why
            found.append(Placed(head[0], at, head[1]))
            at += 2 + head[1]
        return found, "the chain has no end mark"
    return [], ""


async def block(unit: Unit, placed: Placed) -> list[int]:
    """All registers of a model, id and length first; in requests of 120. Raises Refused, LinkFault."""
    words: list[int] = []
    while len(words) < placed.length + 2:
        count = min(120, placed.length + 2 - len(words))
        words += await unit.values(TABLES["holding"], placed.at + len(words), count)
    return words


def _impossible(at: int, model: int, length: int) -> str:
    """Why what stands there is no model, empty where it can be one."""
    if not model:
        return f"holding {at} is 0 where the next model or the end mark FFFF should be"
    last = at + 1 + length
    if last <= LAST:
        return ""
    return (
        f"model {model} at holding {at} says that {length} registers follow, and would end at {last}, over {LAST}, the "
        "last address there is; it is not used"
    )


async def _words(unit: Unit, at: int, count: int) -> list[int]:
    """The registers; empty where they do not exist."""
    try:
        return await unit.values(TABLES["holding"], at, count)
    except Refused:
        return []
