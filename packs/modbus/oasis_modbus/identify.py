"""Who a device says it is: function 43/14."""

from oasis.plant.values import spelled
from oasis_modbus import sunspec_items
from oasis_modbus.faults import Broken, Silent
from oasis_modbus.units import Refused, Unit

NAMES = {
    0: "vendor", 1: "product", 2: "revision", 3: "url", 4: "product name", 5: "model", 6: "application",
}  # fmt: skip
"""Application Protocol V1.1b3, 6.21: objects 0 to 2 are basic, 3 to 6 regular."""
BASIC, REGULAR = 1, 2
_COMMON = (("Mn", "vendor"), ("Md", "product"), ("Vr", "revision"), ("SN", "serial"))
_NO = (1, 2, 3, 4)
_MOST_REQUESTS = 8


async def objects(unit: Unit, level: int = BASIC) -> dict[int, str]:
    """The device's own texts by object number; empty where it has no function 43. Raises LinkFault, Refused (busy)."""
    found: dict[int, str] = {}
    at = 0
    for _ in range(_MOST_REQUESTS):
        try:
            reply = await unit.patient(bytes([0x2B, 0x0E, level, at]))
        except Refused as refused:
            if refused.code in _NO:
                return found
            raise
        texts, more, at = _parsed(reply.pdu)
        found |= texts
        if not more or at in found:
            break
    return found


async def identity(unit: Unit) -> str:
    """Who the device says it is: by function 43, else by SunSpec's model 1; empty where it says neither.

    Some devices are silent to a function that they do not have, or hang up: only one that does not read either is
    unreachable. Raises LinkFault, Refused (busy).
    """
    try:
        said = spelled_out(await objects(unit))
    except (Silent, Broken):
        said = ""
    if said:
        return said
    model = await sunspec_items.common(unit)
    return " ".join(f"{word} {spelled(model[name])}" for name, word in _COMMON if name in model)


def spelled_out(found: dict[int, str]) -> str:
    """Vendor, product and revision, always in this order; the texts are quoted, being the device's."""
    return " ".join(f"{NAMES[n]} {spelled(found[n])}" for n in (0, 1, 2) if found.get(n))


def _parsed(pdu: bytes) -> tuple[dict[int, str], bool, int]:
    """Texts, whether more follow, and from which object. A reply that is cut short gives what is whole in it."""
    texts: dict[int, str] = {}
    if len(pdu) < 7:
        return texts, False, 0
    more, following, count = pdu[4] == 0xFF, pdu[5], pdu[6]
    at = 7
    for _ in range(count):
        if len(pdu) < at + 2 or len(pdu) < at + 2 + pdu[at + 1]:
            break
        texts[pdu[at]] = pdu[at + 2 : at + 2 + pdu[at + 1]].decode("utf-8", "replace").strip("\0 ")
        at += 2 + pdu[at + 1]
    return texts, more, following
