"""Readings of objects by SDO, and values made of bytes: as asked for, as the standards have it, or as a guess."""

import hashlib
from collections.abc import Sequence

from oasis.errors import ToolFault
from oasis.plant.values import Point, Reading, spelled
from oasis_ethercat import cia402, coe_types, grammar, process_map
from oasis_ethercat.esc import Mailbox, State
from oasis_ethercat.grammar import Target
from oasis_ethercat.master import Master
from oasis_ethercat.sdo import SdoRefused, SdoSilent

NEEDS_PREOP = (
    "an SDO needs the mailbox, so the slave in PREOP or above and the segment configured by this session: "
    'plan a write of "bus state" PREOP (a tag of the site file with that address)'
)
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


Raw = bytes | str
"""What came of one SDO: the bytes, or why there are none."""


def read(master: Master | None, targets: Sequence[Target]) -> list[Raw]:
    """Ask for all objects one right after the other. A slave that did not answer one is not asked for the others."""
    if master is None:
        return [NEEDS_PREOP] * len(targets)
    silent: set[int] = set()
    return [_asked(master, target, silent) for target in targets]


def _asked(master: Master, target: Target, silent: set[int]) -> Raw:
    if target.slave in silent:
        return f"not asked: slave {target.slave} had left another SDO of this call without an answer"
    try:
        return master.sdo_read(target.slave, target.index, target.subindex)
    except SdoSilent as fault:
        silent.add(target.slave)
        return _why_silent(master, target, str(fault))
    except SdoRefused as fault:
        return without_sdo(master, target.slave) or str(fault)
    except ToolFault as fault:
        return str(fault)


def without_sdo(master: Master, position: int) -> str:
    """Why a slave can have no SDO at all; empty where it may."""
    protocols = master.contents(position).protocols
    if not protocols:
        return "this slave has no mailbox, so no SDO: its values are process data only"
    if not protocols & Mailbox.COE:
        names = ", ".join(protocol.name or "" for protocol in protocols)
        return f"this slave's mailbox has no CoE, so no SDO: it has {names}"
    return ""


def made(master: Master | None, point: Point, target: Target, raw: Raw) -> Reading:
    """The reading of an object from what came."""
    if master is None or isinstance(raw, str):
        return Reading(point, None, str(raw))
    where = f"SDO 0x{target.index:04X}:{target.subindex} of slave {target.slave}, {len(raw)} bytes"
    return decoded(point, target, raw, grammar.data_type(point) or known(master, target), where)


def known(master: Master, target: Target) -> coe_types.DataType | None:
    """The type of an object as a scan found it, or as the standards have it."""
    found = master.slave(target.slave).kinds.get((target.index, target.subindex))
    if found or not (record := _record_kind(target.index)):
        return found or _STANDARD.get(target.index)
    return record if target.subindex else coe_types.UINT8


def _record_kind(index: int) -> coe_types.DataType | None:
    """The type of an object's subindexes from 1 on where the standards fix it: identity, PDO mapping and assignment."""
    if index == 0x1018 or 0x1600 <= index < 0x1800 or 0x1A00 <= index < 0x1C00:
        return coe_types.UINT32
    if 0x1C10 <= index < 0x1C30:
        return coe_types.UINT16
    return coe_types.UINT8 if index == 0x1C00 else None


def _why_silent(master: Master, target: Target, said: str) -> str:
    """Why no SDO was answered: no mailbox, a state without one, or a slave that is too slow or gone."""
    if no_sdo := without_sdo(master, target.slave):
        return no_sdo
    seen = master.states()[target.slave - 1]
    if seen.status & 0x0F in {0, State.INIT}:
        return f"slave {target.slave} is in {seen.words}: {NEEDS_PREOP}"
    return f"SDO time-out, {said}; the slave is in {seen.words}. It was not asked again"


def decoded(point: Point, target: Target, data: bytes, kind: coe_types.DataType | None, where: str) -> Reading:
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
    explainers = (cia402.explained, process_map.explained)
    more += [said for explain in explainers if (said := explain(target.index, target.subindex, value))]
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
