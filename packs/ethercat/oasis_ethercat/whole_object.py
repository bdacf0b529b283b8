"""All subindexes of an object: in one SDO where the slave has complete access, else one by one."""

from oasis.plant.values import Point, Reading
from oasis_ethercat import coe_types, object_reading
from oasis_ethercat.coe_types import DataType
from oasis_ethercat.esc import CoeDetail
from oasis_ethercat.grammar import Kind, Target
from oasis_ethercat.master import Master
from oasis_ethercat.sdo import SdoRefused, SdoSilent

_COUNT_BITS = 16
"""Subindex 0 in complete access: eight bits and eight of padding."""


def read(master: Master | None, point: Point, target: Target) -> list[Reading]:
    """A reading of each subindex, which says how it was read; one reading with the reason where there is none."""
    if master is None:
        return [Reading(point, None, object_reading.NEEDS_PREOP)]
    if not 1 <= target.slave <= len(master.slaves):
        return [Reading(point, None, f"no slave {target.slave}: the segment has {len(master.slaves)}")]
    why = "the slave's SII names no complete access"
    if CoeDetail.COMPLETE_ACCESS in master.contents(target.slave).coe:
        found = _at_once(master, target)
        if not isinstance(found, str):
            return found
        why = found
    return _one_by_one(master, point, target, why)


def _at_once(master: Master, target: Target) -> list[Reading] | str:
    """By one SDO with complete access; why not, where that cannot be."""
    try:
        data = master.sdo_read(target.slave, target.index, 0, is_complete=True)
    except (SdoRefused, SdoSilent) as fault:
        return f"complete access was refused, {fault}"
    number = int.from_bytes(data, "little")
    parts, at = [(coe_types.UINT8, 0)], _COUNT_BITS
    for subindex in range(1, number % 256 + 1):
        kind = object_reading.known(master, _part(target, subindex))
        if kind is None or not kind.bits:
            return f"the type of subindex {subindex} is not known: scan `{target.slave} od` first"
        parts.append((kind, at))
        at += kind.bits
    if len(data) < (at + 7) // 8:
        return f"complete access gave {len(data)} bytes, and the types known take {(at + 7) // 8}"
    return [_reading(target, n, kind, number >> at, len(data)) for n, (kind, at) in enumerate(parts)]


def _reading(target: Target, subindex: int, kind: DataType, number: int, size: int) -> Reading:
    part = _part(target, subindex)
    data = (number & (1 << kind.bits) - 1).to_bytes((kind.bits + 7) // 8, "little")
    where = f"SDO 0x{target.index:04X} of slave {target.slave}, complete access, {size} bytes"
    return object_reading.decoded(Point(part.address), part, data, kind, where)


def _one_by_one(master: Master, point: Point, target: Target, why: str) -> list[Reading]:
    """Subindex 0, then as many as it says there are, up to the first that does not read."""
    first, found = _asked(master, target, 0, why)
    if not first.is_good or len(found) != 1:
        return [Reading(point, None, first.status, first.raw, first.where) if not first.is_good else first]
    readings = [first]
    for subindex in range(1, found[0] + 1):
        reading, _ = _asked(master, target, subindex, why)
        readings.append(reading)
        if not reading.is_good:
            break
    return readings if len(readings) == 1 or readings[1].is_good else [first]


def _asked(master: Master, target: Target, subindex: int, why: str) -> tuple[Reading, bytes]:
    part = _part(target, subindex)
    point = Point(part.address)
    (raw,) = object_reading.read(master, [part])
    reading = object_reading.made(master, point, part, raw)
    where = f"{reading.where}, one by one: {why}" if reading.where else ""
    reading = Reading(point, reading.value, reading.status, reading.raw, where, more=reading.more)
    return reading, raw if isinstance(raw, bytes) else b""


def _part(target: Target, subindex: int) -> Target:
    return Target(Kind.OBJECT, target.slave, target.index, subindex)
