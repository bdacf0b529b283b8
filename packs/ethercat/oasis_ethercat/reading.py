"""Readings of a segment's points: states, objects by SDO, process data."""

import hashlib
from collections.abc import Sequence

from oasis.errors import ToolFault
from oasis.plant.values import Point, Reading, spelled
from oasis_ethercat import al_codes, cia402, coe_types, grammar
from oasis_ethercat.esc import ERROR_FLAG, State
from oasis_ethercat.grammar import Kind, Target
from oasis_ethercat.master import Master, SdoRefused, SdoSilent
from oasis_ethercat.presence import Seen
from oasis_ethercat.process_map import Place
from oasis_ethercat.segment import Segment

NEEDS_PREOP = (
    "an SDO needs the mailbox, so the slave in PREOP or above and the segment configured by this session: "
    'plan a write of "bus state" PREOP'
)
NEEDS_SAFEOP = 'process data are exchanged in SAFEOP and OP only: plan a write of "bus state" OP'
_MOST_RAW = 32
_STANDARD = {
    0x1000: coe_types.UINT32,
    0x1008: coe_types.STRING,
    0x1009: coe_types.STRING,
    0x100A: coe_types.STRING,
    0x603F: coe_types.UINT16,
    0x6040: coe_types.UINT16,
    0x6041: coe_types.UINT16,
    0x6060: coe_types.INT8,
    0x6061: coe_types.INT8,
    0x6064: coe_types.INT32,
    0x606C: coe_types.INT32,
    0x6077: coe_types.INT16,
    0x607A: coe_types.INT32,
    0x6081: coe_types.UINT32,
    0x6083: coe_types.UINT32,
    0x6084: coe_types.UINT32,
    0x6085: coe_types.UINT32,
    0x60FF: coe_types.INT32,
    0x6502: coe_types.UINT32,
}


def read(segment: Segment, points: Sequence[Point]) -> list[Reading]:
    """The points' readings in order; what does not read says why. States are looked at once for all points."""
    targets = [grammar.target(point) for point in points]
    states: list[Seen] = []
    if any(target.kind in {Kind.STATE, Kind.BUS, Kind.INIT} for target in targets) or not segment.master:
        states = segment.states()
    found: list[Reading] = []
    for point, target in zip(points, targets, strict=True):
        found += _read(segment, point, target, states)
    return found


def _read(segment: Segment, point: Point, target: Target, states: list[Seen]) -> list[Reading]:
    match target.kind:
        case Kind.BUS:
            return [_bus(segment, point, states)]
        case Kind.INIT:
            return [Reading(point, segment.master is not None, raw="01" if segment.master else "00")]
        case Kind.STATE:
            return [_state(point, target, states)]
        case Kind.OBJECT:
            return [_object(segment, point, target)]
        case _:
            return _process(segment, point, target)


def _bus(segment: Segment, point: Point, states: list[Seen]) -> Reading:
    numbers = {seen.status for seen in states}
    value = al_codes.state_name(states[0].status) if len(numbers) == 1 else "MIXED"
    raw = (bytes(numbers) if len(numbers) == 1 else bytes(seen.status for seen in states)).hex(" ")
    more = [f"slave {seen.position}: {seen.words}" for seen in states if value == "MIXED" or seen.status & ERROR_FLAG]
    more += [f"slave {s.position} does not answer: cable or power" for s in states if s.position and not s.status]
    if cyclic := segment.cyclic:
        more += [cyclic.health(), *cyclic.events]
    if not segment.master:
        more.append("not configured by this session")
    whose = f"{len(states)} slaves" if all(seen.position for seen in states) else "all slaves as one"
    return Reading(point, value, raw=raw, where=f"AL status 0x0130 of {whose}", more=tuple(more))


def _state(point: Point, target: Target, states: list[Seen]) -> Reading:
    seen = next((seen for seen in states if seen.position == target.slave), None)
    if seen is None:
        return Reading(point, None, f"no slave {target.slave}: the segment has {len(states)}, counted from 1")
    if not seen.status:
        return Reading(point, None, "no answer: cable or power of this slave, or of one before it")
    more = (al_codes.words(seen.code),) if seen.status & ERROR_FLAG else ()
    name = al_codes.state_name(seen.status)
    return Reading(point, name, raw=f"{seen.status:02x}", where="AL status 0x0130", more=more)


def _object(segment: Segment, point: Point, target: Target) -> Reading:
    master = segment.master
    if master is None:
        return Reading(point, None, NEEDS_PREOP)
    try:
        data = master.sdo_read(target.slave, target.index, target.subindex)
    except SdoRefused as fault:
        return Reading(point, None, str(fault))
    except SdoSilent as fault:
        return Reading(point, None, _why_silent(master, target, str(fault)))
    except ToolFault as fault:
        return Reading(point, None, str(fault))
    where = f"SDO 0x{target.index:04X}:{target.subindex} of slave {target.slave}, {len(data)} bytes"
    return _decoded(point, target, data, grammar.data_type(point) or _known(master, target), where)


def _known(master: Master, target: Target) -> coe_types.DataType | None:
    """The type of an object as a scan found it, or as the standards have it."""
    known = master.slave(target.slave).kinds.get((target.index, target.subindex))
    if known or target.index != 0x1018:
        return known or _STANDARD.get(target.index)
    return coe_types.UINT32 if target.subindex else coe_types.UINT8


def _why_silent(master: Master, target: Target, said: str) -> str:
    """Why no SDO was answered: no mailbox, a state without one, or a slave that is too slow or gone."""
    if not master.contents(target.slave).protocols:
        return "this slave has no mailbox, so no SDO: its values are process data only"
    seen = master.states()[target.slave - 1]
    if seen.status & 0x0F in {0, State.INIT}:
        return f"slave {target.slave} is in {seen.words}: {NEEDS_PREOP}"
    return f"SDO time-out, {said}; the slave is in {seen.words}. It was not asked again"


def _decoded(point: Point, target: Target, data: bytes, kind: coe_types.DataType | None, where: str) -> Reading:
    """A reading of bytes: as the type that is asked for, else as the standard's, else as bytes with guesses."""
    more: list[str] = []
    if kind is None:
        kind, others = _guessed(target, data)
        more += others
    try:
        value = coe_types.decode(kind, data)
    except ValueError as fault:
        said = f"not a {kind.name}: {fault}"
        return Reading(point, None, said, shown_raw(data), where, more=tuple(_as_others(data, kind)))
    if said := cia402.explained(target.index, target.subindex, value):
        more.append(said)
    return Reading(point, point.form.engineering(value), raw=shown_raw(data), where=where, more=tuple(more))


def shown_raw(data: bytes) -> str:
    """Bytes in hex; of a long value the beginning, its length and a digest of all."""
    if len(data) <= _MOST_RAW:
        return data.hex(" ")
    digest = hashlib.sha256(data).hexdigest()[:8]
    return f"{data[:_MOST_RAW].hex(' ')} … ({len(data)} bytes, sha256 {digest})"


def _guessed(target: Target, data: bytes) -> tuple[coe_types.DataType, list[str]]:
    """The type that nobody gave: text where it reads as text, else unsigned by length; the others are said."""
    text = data.rstrip(b"\0")
    unsigned = {1: coe_types.UINT8, 2: coe_types.UINT16, 4: coe_types.UINT32, 8: coe_types.UINT64}
    if len(text) > 2 and all(32 <= byte < 127 for byte in text):
        kind = coe_types.STRING
    else:
        kind = unsigned.get(len(data), coe_types.BYTES)
    others = _as_others(data, kind)
    return kind, [f"type not given, read as {kind.name}", *others]


def _as_others(data: bytes, but: coe_types.DataType) -> list[str]:
    """The same bytes as each other type of their length."""
    kinds = [kind for kind in coe_types.TYPES if kind.letter and kind.bits == 8 * len(data) and kind is not but]
    said = [f"{kind.name} {spelled(coe_types.decode(kind, data))}" for kind in kinds]
    return [f"the same bytes: {', '.join(said)}"] if said else []


def _process(segment: Segment, point: Point, target: Target) -> list[Reading]:
    master, cyclic = segment.master, segment.cyclic
    if master is None or cyclic is None:
        return [Reading(point, None, NEEDS_SAFEOP)]
    if target.slave and not 1 <= target.slave <= len(master.slaves):
        return [Reading(point, None, f"no slave {target.slave}: the segment has {len(master.slaves)}, counted from 1")]
    found: list[Reading] = []
    for slave in master.slaves:
        if target.slave in {0, slave.position}:
            for place in places(segment, slave.position, target):
                found.append(_entry(segment, point, slave.position, place, target.kind))
    if not found:
        what = f"0x{target.index:04X}:{target.subindex} is not" if target.index else "nothing is"
        found.append(Reading(point, None, f"{what} mapped into {target.kind} of this slave: see scan item `N pdo`"))
    return found


def places(segment: Segment, position: int, target: Target) -> list[Place]:
    """The mapped entries of a slave that a target names."""
    assert segment.master is not None  # noqa: S101 - asked before
    mapping = segment.master.process_map(position)
    chosen = mapping.outputs if target.kind is Kind.OUTPUT else mapping.inputs
    wanted = (target.index, target.subindex)
    return [place for place in chosen if not target.index or (place.index, place.subindex) == wanted]


def _entry(segment: Segment, point: Point, position: int, place: Place, kind: Kind) -> Reading:
    cyclic = segment.cyclic
    assert cyclic is not None  # noqa: S101 - asked before
    is_output = kind is Kind.OUTPUT
    data = place.take(cyclic.outputs(position) if is_output else cyclic.inputs(position))
    target = Target(kind, position, place.index, place.subindex)
    of = point if grammar.target(point) == target else Point(target.address, point.form)
    way = "output being sent" if is_output else "input"
    where = f"{way}, {place.name or 'no name'}, bit {place.at}, {place.bits} bits"
    status = "" if is_output else _stale(segment, position)
    reading = _decoded(of, target, data, grammar.data_type(of) or place.kind, where)
    return reading if not status else Reading(of, None, status, reading.raw, where)


def _stale(segment: Segment, position: int) -> str:
    """Why a slave's inputs are not to be trusted now, empty where they are."""
    cyclic = segment.cyclic
    assert cyclic is not None  # noqa: S101 - asked before
    if said := cyclic.fallen.get(position):
        return f"old value: the slave left its state, {said}"
    if not cyclic.is_fresh:
        return f"old value: {cyclic.health()}"
    if position not in cyclic.wanted:
        return NEEDS_SAFEOP
    return ""
