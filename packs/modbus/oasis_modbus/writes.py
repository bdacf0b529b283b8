"""Writes: the request exactly as it will be sent, and what became of it."""

import struct
from dataclasses import dataclass

from oasis.errors import ToolFault, WriteRefused
from oasis.plant.driver import Effect, Sent
from oasis.plant.plan import Frame
from oasis.plant.values import Form, Point, Value, spelled
from oasis_modbus import faults, grammar, sunspec_items
from oasis_modbus.codec import TYPES, encoded
from oasis_modbus.endpoint import Endpoint
from oasis_modbus.faults import LinkFault, Strange
from oasis_modbus.frames import Reply
from oasis_modbus.grammar import Place
from oasis_modbus.link import Link

MOST_WRITTEN = 123
"""Registers in one FC16 request. Application Protocol V1.1b3, 6.12."""
_MAYBE_DONE = (5, 11)
"""Exceptions after which the write may have happened: accepted and still working; the gateway waited in vain."""


@dataclass(frozen=True, slots=True)
class Request:
    """A write's PDU, what a good reply to it is, and it in words."""

    pdu: bytes
    echo: bytes
    words: str


def request(point: Point, value: Value) -> Request:
    """What writes the value there. Raises ToolFault for what the place or its type cannot take; sends nothing."""
    place = _writable(point)
    if place.table.is_bits:
        return _coils(place, value)
    if place.bit is not None:
        return _bit(place, value)
    return _registers(place, point.form, value)


def check(point: Point) -> None:
    """Raise ToolFault where no value can be written to a tag of this point: its table, place or form; sends nothing."""
    place = _writable(point)
    if place.table.is_bits and place.is_range:
        raise ToolFault(f"coil {place.first}-{place.last} are {place.count} bools; give each coil a tag of its own.")


def cells(point: Point) -> frozenset[str]:
    """What a write of the point can change: coils, and registers bit by bit. Empty where the place is not certain."""
    if sunspec_items.is_one(point):
        return frozenset()
    place = grammar.place(point)
    if place.other is not None:
        return frozenset()
    name, first = place.table.name, place.first
    if place.bit is not None:
        return frozenset({f"{name} {first} bit {place.bit}"})
    if place.table.is_bits:
        return frozenset(f"{name} {at}" for at in range(first, place.last + 1))
    count = max(place.count, grammar.registers_each(place, point.form))
    return frozenset(f"{name} {at} bit {bit}" for at in range(first, first + count) for bit in range(16))


def _writable(point: Point) -> Place:
    """The point's place. Raises ToolFault where its table is for reading, or place or form leave a write open."""
    if sunspec_items.is_one(point):
        raise ToolFault("A SunSpec model can only be read; write one of its registers by its address and type.")
    place = grammar.place(point)
    if place.other is not None:
        raise ToolFault(
            f"{place.number} may mean '{place.table.name} {place.first}' or '{place.table.name} {place.other}'. A "
            "write needs one of them: read both, see which holds the value, and name it so. Nothing was sent."
        )
    if place.table.name not in ("holding", "coil"):
        raise ToolFault(f"{place.table.words.capitalize()} can only be read; nothing was sent.")
    if not place.table.is_bits and place.bit is None:
        _check_form(place, point.form)
    return place


def frame(link: Link, unit: int, made: Request) -> Frame:
    """The request in its frame, as `send` will send it."""
    return Frame(link.frame(unit, made.pdu), made.words)


async def send(link: Link, endpoint: Endpoint, wire: bytes) -> Sent:
    """Send these bytes, once, and say what became of them. Never raises for the wire or the device."""
    pdu = wire[1:-2] if endpoint.has_rtu_frames else wire[7:]
    unit = wire[0] if endpoint.has_rtu_frames else wire[6]
    if unit != endpoint.unit:
        raise WriteRefused(f"The frame is for unit {unit} and this is {endpoint}; nothing was sent. Plan it again.")
    try:
        reply = await link.send(wire, endpoint.timeout_s)
    except LinkFault as fault:
        if not fault.is_sent:
            return Sent(Effect.NOT_SENT, str(fault))
        came = " Something else answered." if isinstance(fault, Strange) else ""
        return Sent(
            Effect.UNKNOWN,
            f"The request was sent once and no reply to it came, so the device may or may not have done it.{came} "
            f"{fault}",
        )
    return _outcome(pdu, unit, reply)


def _outcome(pdu: bytes, unit: int, reply: Reply) -> Sent:
    if code := reply.exception:
        said = f"Unit {unit} answered function {pdu[0]:02d} with {faults.exception(code)}."
        if code in _MAYBE_DONE:
            return Sent(Effect.UNKNOWN, f"{said} It may still be done, or have been done: read it back.", reply.wire)
        if pdu[0] == 22 and code == 1:
            said += " It has no mask write: a bit is written there with its whole register, as a tag of type uint16."
        return Sent(Effect.REJECTED, said, reply.wire)
    due = echo(pdu)
    if reply.pdu == due:
        return Sent(Effect.WRITTEN, f"Unit {unit} acknowledged it.", reply.wire)
    return Sent(
        Effect.UNKNOWN,
        f"Unit {unit} acknowledged something else: {reply.pdu.hex(' ')} where {due.hex(' ')} was due. It may have "
        "changed the value itself (a limit of its own), or done another write: read it back.",
        reply.wire,
    )


def echo(pdu: bytes) -> bytes:
    """The good reply to a write: all of it, or for several values function, address and count."""
    return pdu[:5] if pdu[0] in (15, 16) else pdu


def _made(pdu: bytes, words: str) -> Request:
    return Request(pdu, echo(pdu), words)


def _coils(place: Place, value: Value) -> Request:
    if not place.is_range:
        on = _is_on(value, place)
        pdu = struct.pack(">BHH", 5, place.first, 0xFF00 if on else 0)
        return _made(pdu, f"FC05 {_at(place)} := {'on' if on else 'off'}")
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 1 << place.count:
        raise ToolFault(
            f"{place.count} coils are written as one whole number, bit 0 for coil {place.first}: 0 to "
            f"{(1 << place.count) - 1 if place.count <= 32 else f'2^{place.count} - 1'}. Nothing was sent."
        )
    if place.count > 1968:
        raise ToolFault("One request writes at most 1968 coils; nothing was sent.")
    data = value.to_bytes((place.count + 7) // 8, "little")
    pdu = struct.pack(">BHHB", 15, place.first, place.count, len(data)) + data
    return _made(pdu, f"FC15 {_at(place)} := {data.hex(' ').upper()} (bit 0 first)")


def _is_on(value: Value, place: Place) -> bool:
    if isinstance(value, bool) or (isinstance(value, int | float) and value in (0, 1)):
        return bool(value)
    raise ToolFault(f"{spelled(value)} is neither true nor false, and {place.table.name} {place.first} is one bit.")


def _bit(place: Place, value: Value) -> Request:
    """One bit by the mask write: the other bits are not read and written back, so none of them is lost."""
    mask = 1 << (place.bit or 0)
    on = _is_on(value, place)
    pdu = struct.pack(">BHHH", 22, place.first, 0xFFFF ^ mask, mask if on else 0)
    return _made(pdu, f"FC22 {_at(place)} bit {place.bit} := {int(on)} (mask write)")


def _registers(place: Place, form: Form, value: Value) -> Request:
    count = grammar.registers_each(place, form)
    raw = _raw(form, value)
    words = encoded(raw, form.type, form.order, count)
    shown = f"{spelled(raw)} as {form.type}{f' {form.order}' if count > 1 and form.order else ''}"
    if count == 1:
        pdu = struct.pack(">BHH", 6, place.first, words[0])
        return _made(pdu, f"FC06 {_at(place)} := 0x{words[0]:04X} (raw {shown})")
    pdu = struct.pack(f">BHHB{count}H", 16, place.first, count, count * 2, *words)
    data = " ".join(f"{word:04X}" for word in words)
    return _made(pdu, f"FC16 {place.table.place(place.first, count).partition(' ')[2]} := {data} (raw {shown})")


def _check_form(place: Place, form: Form) -> None:
    if not form.type:
        raise ToolFault(f"{place.table.name} {place.first} has no type, and a write needs one; nothing was sent.")
    if TYPES.get(form.type) and TYPES[form.type].registers > 1 and not form.order:
        raise ToolFault(
            f"A {form.type} takes {TYPES[form.type].registers} registers and devices differ in their order: a write "
            "needs it (ABCD, CDAB, BADC or DCBA). Read the value in each and take the right one. Nothing was sent."
        )
    starts = grammar.elements_of(place, form)
    name = f"{place.table.name} {place.first}-{place.last}"
    if len(starts) != 1:
        raise ToolFault(f"{name} are {len(starts)} values; write one at a time.")
    if grammar.registers_each(place, form) > MOST_WRITTEN:
        raise ToolFault(f"{name} are more than the {MOST_WRITTEN} registers that one request writes; nothing was sent.")


def _raw(form: Form, value: Value) -> Value:
    """The raw value. Raises ToolFault where the form's steps do not hit the value: it is not rounded."""
    if isinstance(value, bytes | bool):
        raise ToolFault(f"{spelled(value)} is not written to a {form.type}; nothing was sent.")
    raw = form.raw(value)
    if isinstance(raw, str) or isinstance(value, str):
        return value
    if TYPES[form.type].is_float:
        return raw
    if isinstance(raw, float) and abs(raw) < 2**63 and not raw.is_integer():
        low = int(raw // 1)
        near = " and ".join(spelled(form.engineering(n)) for n in (low, low + 1))
        raise ToolFault(
            f"{spelled(value)} is not a value that {form.type} at scale {form.scale:g} can hold: the nearest are "
            f"{near}. It is not rounded; nothing was sent."
        )
    return int(raw) if isinstance(raw, float) and raw.is_integer() else raw


def _at(place: Place) -> str:
    return place.table.place(place.first, place.count).partition(" ")[2]
