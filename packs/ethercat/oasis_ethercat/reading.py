"""Readings of a segment's points: states, objects by SDO, process data."""

from collections.abc import Sequence

from oasis.plant.values import Point, Reading
from oasis_ethercat import al_codes, grammar, object_reading, whole_object
from oasis_ethercat.coe_types import DataType
from oasis_ethercat.esc import ERROR_FLAG
from oasis_ethercat.grammar import Kind, Target
from oasis_ethercat.presence import Seen
from oasis_ethercat.process_map import Place
from oasis_ethercat.segment import Segment

_LATE_S = 1.0
NEEDS_SAFEOP = (
    'process data are exchanged in SAFEOP and OP only: plan a write of "bus state" OP '
    "(a tag of the site file with that address)"
)


def read(segment: Segment, points: Sequence[Point]) -> list[Reading]:
    """The points' readings in order; what does not read says why. States are looked at once for all points."""
    targets = [grammar.target(point) for point in points]
    states: list[Seen] = []
    if any(target.kind in {Kind.STATE, Kind.BUS, Kind.INIT} for target in targets) or not segment.master:
        states = segment.states()
    is_fresh = _is_fresh(segment) if any(target.kind is Kind.INPUT for target in targets) else False
    single = [target for target in targets if target.kind is Kind.OBJECT and not target.is_whole]
    objects = iter(object_reading.read(segment.master, single))
    found: list[Reading] = []
    for point, target in zip(points, targets, strict=True):
        if target.is_whole:
            found += whole_object.read(segment.master, point, target)
        elif target.kind is Kind.OBJECT:
            found.append(object_reading.made(segment.master, point, target, next(objects)))
        else:
            found += _read(segment, point, target, states, is_fresh)
    return found


def _is_fresh(segment: Segment) -> bool:
    """Were all slaves counted lately? A cycle that is late on a busy machine has a moment to come."""
    cyclic = segment.cyclic
    return cyclic is not None and (cyclic.is_fresh or cyclic.wait_good(1, _LATE_S))


def _read(segment: Segment, point: Point, target: Target, states: list[Seen], is_fresh: bool) -> list[Reading]:
    match target.kind:
        case Kind.BUS:
            return [_bus(segment, point, states)]
        case Kind.INIT:
            return [Reading(point, segment.master is not None, raw="01" if segment.master else "00")]
        case Kind.STATE:
            return [_state(point, target, states)]
        case _:
            return _process(segment, point, target, is_fresh)


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


def _process(segment: Segment, point: Point, target: Target, is_fresh: bool) -> list[Reading]:
    master, cyclic = segment.master, segment.cyclic
    if master is None or cyclic is None:
        return [Reading(point, None, NEEDS_SAFEOP)]
    if target.slave and not 1 <= target.slave <= len(master.slaves):
        return [Reading(point, None, f"no slave {target.slave}: the segment has {len(master.slaves)}, counted from 1")]
    found: list[Reading] = []
    for slave in master.slaves:
        if target.slave in {0, slave.position}:
            for place in places(segment, slave.position, target):
                old = "" if target.kind is Kind.OUTPUT else _stale(segment, slave.position, is_fresh)
                found.append(_entry(segment, point, slave.position, place, target.kind, old=old))
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


def _entry(segment: Segment, point: Point, position: int, place: Place, kind: Kind, *, old: str) -> Reading:
    """An entry's reading; `old` is why it is not to be trusted now."""
    cyclic = segment.cyclic
    assert cyclic is not None  # noqa: S101 - asked before
    is_output = kind is Kind.OUTPUT
    data = place.take(cyclic.outputs(position) if is_output else cyclic.inputs(position))
    target = Target(kind, position, place.index, place.subindex)
    of = point if grammar.target(point) == target else Point(target.address, point.form)
    way = "output being sent" if is_output else "input"
    where = f"{way}, {place.name or 'no name'}, bit {place.at}, {place.bits} bits"
    reading = object_reading.decoded(of, target, data, grammar.data_type(of) or _kind(segment, position, place), where)
    return reading if not old else Reading(of, None, old, reading.raw, where)


def _kind(segment: Segment, position: int, place: Place) -> DataType | None:
    """The type that a scan of the object dictionary found, else the map's; None where that is a guess."""
    assert segment.master is not None  # noqa: S101 - asked before
    found = segment.master.slave(position).kinds.get((place.index, place.subindex))
    return found or (None if place.is_guessed else place.kind)


def _stale(segment: Segment, position: int, is_fresh: bool) -> str:
    """Why a slave's inputs are not to be trusted now, empty where they are."""
    cyclic = segment.cyclic
    assert cyclic is not None  # noqa: S101 - asked before
    if said := cyclic.fallen.get(position):
        return f"old value: the slave left its state, {said}"
    if not is_fresh:
        return f"old value: {cyclic.health()}"
    if position not in cyclic.wanted:
        return NEEDS_SAFEOP
    return ""
