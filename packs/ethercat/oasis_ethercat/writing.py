"""Writes: what would go over the wire, and sending an approved one, once."""

import struct
from collections.abc import Callable

from oasis.errors import ToolFault
from oasis.plant.driver import Effect, Sent
from oasis.plant.plan import Frame, Plan
from oasis.plant.values import Point, Value, spelled
from oasis_ethercat import al_codes, cia402, coe_types, grammar, object_reading, reading
from oasis_ethercat.esc import State
from oasis_ethercat.grammar import Kind, Target
from oasis_ethercat.master import Master
from oasis_ethercat.presence import Seen
from oasis_ethercat.process_map import Place
from oasis_ethercat.sdo import SdoRefused, SdoSilent
from oasis_ethercat.segment import Refused, Segment, way

_STATES = {state.name: state for state in (State.INIT, State.PREOP, State.SAFEOP, State.OP)}
_GOOD_CYCLES = 3
_HEALTHY_WAIT_S, _CYCLES_WAIT_S = 0.5, 2.0
"""How long good cycles are waited for before an output is sent, and after: a busy machine makes them late."""
RESETS = "broadcast writes reset every slave to INIT, then sync managers are configured"


def encode(segment: Segment, point: Point, value: Value) -> Frame:
    """The write as it would be sent. Raises ToolFault where it cannot be done now."""
    target = grammar.target(point)
    if target.kind in {Kind.BUS, Kind.INIT, Kind.STATE}:
        return _state_frame(segment, target, wanted_state(target, value))
    if target.is_whole:
        raise ToolFault(f"{point} is all subindexes at once: write one of them. Nothing was sent.")
    data = _bytes(segment, point, target, value)
    if target.kind is Kind.OBJECT:
        return _sdo_frame(segment, target, data, value)
    if target.kind is Kind.INPUT:
        raise ToolFault(f"{point} is an input: the slave writes it, the master reads it. Nothing was sent.")
    return _output_frame(segment, target, data)


def wanted_state(target: Target, value: Value) -> State:
    """The state that a value of a state point asks for. Raises ToolFault."""
    if target.kind is Kind.INIT:
        return State.PREOP if value else State.INIT
    name = str(value).strip().upper()
    if name not in _STATES:
        raise ToolFault(f"{spelled(value)} is no state to ask for. There are: {', '.join(_STATES)}.")
    return _STATES[name]


def _state_frame(segment: Segment, target: Target, wanted: State) -> Frame:
    seen = segment.check_free()
    if target.kind is Kind.STATE:
        _known(len(seen), target.slave)
        seen = [slave for slave in seen if slave.position == target.slave]
    is_new = segment.master is None or target.kind is Kind.INIT
    if is_new and target.kind is Kind.STATE:
        raise ToolFault('The segment is not configured by this session. Plan a write of "bus state" PREOP first.')
    if is_new:
        seen = [Seen(slave.position, State.INIT, 0) for slave in seen]
    asked = way(seen, wanted) if wanted > State.INIT else [(wanted, [slave.position for slave in seen])]
    words = [", ".join(f"0x0120 of {_whom(segment, positions)}: {state.name}" for state, positions in asked)]
    if is_new:
        words.insert(0, RESETS)
    if any(state is State.SAFEOP for state, _ in asked) and not (segment.master and segment.master.is_mapped):
        words.append("process data are mapped for that, from INIT once more where a frame is lost")
    if any(state is State.OP for state, _ in asked):
        words.append(f"then process data every 4 ms, all outputs zero{_outputs(segment)}")
    if wanted is State.INIT and segment.master and target.kind is not Kind.STATE:
        words.insert(0, "outputs zero, SAFEOP; after INIT the interface is let go")
    elif wanted < State.OP and segment.cyclic:
        words.insert(0, "outputs zero")
    if not asked:
        words = [f"nothing is sent: every slave is in {wanted.name}"]
    return Frame(b"".join(struct.pack("<H", state) for state, _ in asked), "; ".join(words))


def _whom(segment: Segment, positions: list[int]) -> str:
    if positions == [0] or (segment.master is None or len(positions) == len(segment.master.slaves) > 1):
        return "all slaves"
    return f"slave {', '.join(map(str, positions))}"


def _outputs(segment: Segment) -> str:
    if not segment.cyclic or not segment.master:
        return ""
    kept = [s.position for s in segment.master.slaves if any(segment.cyclic.outputs(s.position))]
    return f" but those of slaves {', '.join(map(str, kept))}, which are kept" if kept else ""


def _known(count: int, position: int) -> None:
    if not 1 <= position <= count:
        raise ToolFault(f"There is no slave {position}: the segment has {count}, counted from 1.")


def _bytes(segment: Segment, point: Point, target: Target, value: Value) -> bytes:
    kind = grammar.data_type(point)
    if kind is None:
        raise ToolFault(f"{point} needs a type to be written: {point.address} uint16, or `type` in the site file.")
    raw = point.form.raw(value)
    if kind.letter and not kind.is_float and isinstance(raw, float):
        raw = round(raw)
    try:
        return coe_types.encode(kind, raw)
    except ValueError as fault:
        raise ToolFault(f"{point} cannot hold the value: {fault}. Nothing was sent.") from fault


def _sdo_frame(segment: Segment, target: Target, data: bytes, value: Value) -> Frame:
    if segment.master is None:
        raise ToolFault(f"Slave {target.slave} takes no SDO now: {object_reading.NEEDS_PREOP}.")
    _known(len(segment.master.slaves), target.slave)
    words = f"SDO download 0x{target.index:04X}:{target.subindex} of slave {target.slave}, {len(data)} bytes"
    if target.index == cia402.CONTROLWORD and isinstance(value, int):
        words += f"; asks for: {cia402.command(int(value))}"
    if _is_output(segment, target):
        words += "; in OP the process data overwrite this object: write it as `out` then"
    return Frame(download_request(target.index, target.subindex, data), words)


def _is_output(segment: Segment, target: Target) -> bool:
    assert segment.master is not None  # noqa: S101 - asked before
    try:
        places = segment.master.process_map(target.slave).outputs
    except ToolFault:  # its PDOs do not read, which is no reason not to write another object
        return False
    return any((place.index, place.subindex) == (target.index, target.subindex) for place in places)


def download_request(index: int, subindex: int, data: bytes) -> bytes:
    """The mailbox message of an SDO download: header, CoE header, command, object, data."""
    if 0 < len(data) <= 4:
        body = struct.pack("<BHB", 0x23 | 4 - len(data) << 2, index, subindex) + data.ljust(4, b"\0")
    else:
        body = struct.pack("<BHBI", 0x21, index, subindex, len(data)) + data
    return struct.pack("<HHBB", len(body) + 2, 0, 0, 3) + struct.pack("<H", 2 << 12) + body


def _place(segment: Segment, target: Target) -> Place:
    if segment.master is None or segment.cyclic is None:
        raise ToolFault(f"Outputs are sent in OP only: {reading.NEEDS_SAFEOP}.")
    _known(len(segment.master.slaves), target.slave)
    if not target.index:
        raise ToolFault(
            f"Which output? Write one entry: `{target.slave} out 0x7000:1`. Scan item `{target.slave} pdo`."
        )
    found = reading.places(segment, target.slave, target)
    if not found:
        raise ToolFault(
            f"0x{target.index:04X}:{target.subindex} is not mapped into the outputs of slave {target.slave}. "
            f"Scan item `{target.slave} pdo` lists what is."
        )
    if segment.cyclic.wanted.get(target.slave) is not State.OP or target.slave in segment.cyclic.fallen:
        fallen = segment.cyclic.fallen.get(target.slave, "")
        raise ToolFault(
            f"Slave {target.slave} is not in OP{': ' + fallen if fallen else ''}, so it does not use its outputs. "
            'Plan a write of "bus state" OP.'
        )
    return found[0]


def _output_frame(segment: Segment, target: Target, data: bytes) -> Frame:
    place = _place(segment, target)
    assert segment.cyclic is not None  # noqa: S101 - asked by _place
    if len(data) != (place.bits + 7) // 8:
        raise ToolFault(f"{place.address} has {place.bits} bits, the value {8 * len(data)}: correct its type.")
    image = place.put(segment.cyclic.outputs(target.slave), data)
    words = f"process data of slave {target.slave}, bit {place.at}, {place.bits} bits: {place.name or place.address}"
    if place.index == cia402.CONTROLWORD:
        words += f"; asks for: {cia402.command(int.from_bytes(data, 'little'))}"
    return Frame(image, words + "; sent in every cycle from then on")


def write(segment: Segment, plan: Plan) -> Sent:
    """Send an approved write, once, if it still is the one that was shown."""
    return _guarded(lambda: _write(segment, plan))


def _write(segment: Segment, plan: Plan) -> Sent:
    point, value = plan.tag.point, plan.after
    if encode(segment, point, value).wire != plan.frame.wire:
        return Sent(
            Effect.NOT_SENT,
            "what would be sent is not what was approved: a state or another output of the slave changed. Plan again",
        )
    target = grammar.target(point)
    if target.kind in {Kind.BUS, Kind.INIT, Kind.STATE}:
        return _write_state(segment, target, wanted_state(target, value))
    data = _bytes(segment, point, target, value)
    if target.kind is Kind.OBJECT:
        return _write_object(segment, target, data)
    return _write_output(segment, target, data)


def _guarded(send: Callable[[], Sent]) -> Sent:
    try:
        return send()
    except ToolFault as fault:
        return Sent(Effect.NOT_SENT, str(fault))


def _write_state(segment: Segment, target: Target, wanted: State) -> Sent:
    position = target.slave if target.kind is Kind.STATE else 0
    try:
        if target.kind is Kind.INIT and wanted is State.PREOP:
            segment.initialise()
        else:
            segment.bring(wanted, position)
    except Refused as fault:
        is_silent = any(not seen.status for seen in fault.slaves)
        codes = [al_codes.words(seen.code) for seen in fault.slaves if seen.code]
        return Sent(Effect.UNKNOWN if is_silent and not codes else Effect.REJECTED, str(fault))
    whom = f"slave {position}" if position else "all slaves"
    held = "; at this session's end they go to INIT, outputs zero first" if segment.master else ""
    return Sent(Effect.WRITTEN, f"{whom} reached {wanted.name}{held}", struct.pack("<H", wanted))


def _write_object(segment: Segment, target: Target, data: bytes) -> Sent:
    master = _master(segment)
    try:
        master.sdo_write(target.slave, target.index, target.subindex, data)
    except SdoRefused as fault:
        return Sent(Effect.REJECTED, str(fault))
    except SdoSilent as fault:
        if not master.contents(target.slave).protocols:
            return Sent(Effect.NOT_SENT, f"slave {target.slave} has no mailbox, so no SDO")
        return Sent(
            Effect.UNKNOWN,
            f"SDO time-out, {fault}: the slave may have taken the value or not. Read it before planning again",
        )
    return Sent(Effect.WRITTEN, f"slave {target.slave} confirmed the SDO download")


def _master(segment: Segment) -> Master:
    if segment.master is None:
        raise ToolFault(f"Nothing was sent: {object_reading.NEEDS_PREOP}.")
    return segment.master


def _write_output(segment: Segment, target: Target, data: bytes) -> Sent:
    place = _place(segment, target)
    cyclic = segment.cyclic
    assert cyclic is not None  # noqa: S101 - asked by _place
    before = cyclic.outputs(target.slave)
    if not cyclic.wait_good(1, _HEALTHY_WAIT_S):
        return Sent(Effect.NOT_SENT, f"the process data are not healthy: {cyclic.health()}")
    cyclic.put(target.slave, place.put(before, data))
    if not cyclic.wait_good(_GOOD_CYCLES, _CYCLES_WAIT_S):
        return Sent(Effect.UNKNOWN, f"sent, and not every slave counted it: {cyclic.health()}")
    state = _master(segment).states()[target.slave - 1]
    if state.status != State.OP:
        return Sent(Effect.UNKNOWN, f"sent, and slave {target.slave} is in {state.words}")
    return Sent(Effect.WRITTEN, f"in the process data of every cycle, {cyclic.health()}")
