"""What a scan finds: the slaves in order, and for one of them its details, objects, process data.

A segment that is not configured by this session is only looked at: registers are read, and the SII where no slave is in
SAFEOP or OP. Reading the SII writes an address and a read command to the SII interface (0x0502), nothing else.
"""

import re
from collections.abc import Iterator, Sequence

from oasis.errors import ToolFault
from oasis.plant.driver import Budget, Found, Scan
from oasis.plant.values import spelled
from oasis_ethercat import coe_types, esi_scan, process_map, sii
from oasis_ethercat.dictionary import Dictionary, Part
from oasis_ethercat.esc import HAS_CLOCK, IS_CLOCK_64_BIT, CoeDetail, Mailbox, Register
from oasis_ethercat.facts import Facts, LiveFacts, RawFacts
from oasis_ethercat.object_reading import NEEDS_PREOP
from oasis_ethercat.presence import Presence, Seen
from oasis_ethercat.sdo import SdoRefused, SdoSilent
from oasis_ethercat.segment import Segment
from oasis_ethercat.slave import Slave

HELP = (
    'Scan items: "2" a slave, "2 od" its objects, "2 pdo" its process data, "esi FILE" a device file, "esi FILE '
    '0x1A" one of its devices, "2 esi FILE" a slave beside it.'
)
_ITEM = re.compile(r"(?:slave\s+)?(\d{1,5})(?:\s+(od|pdo|esi\s+\S.*))?", re.IGNORECASE)
_SWAPPED = "RxPDO: from the master, outputs; TxPDO: to the master, inputs"


def scan(segment: Segment, items: Sequence[str], budget: Budget) -> Scan:
    """Look around. One request is booked for each slave, object or file. Raises ToolFault."""
    files = [item[4:].strip() for item in items if item.lower().startswith("esi ")]
    wanted = [_wanted(item) for item in items if not item.lower().startswith("esi ")]
    found: list[Found] = []
    for file in files:
        found += list(esi_scan.devices(file, budget))
    if items and not wanted:
        return Scan(tuple(found), stopped=budget.stopped)
    if segment.master:
        done = _with_facts(segment, LiveFacts(segment.master), segment.master.states(), wanted, budget)
        return Scan((*found, *done), tuple(segment.cyclic.events) if segment.cyclic else (), budget.stopped)
    with segment.passive() as (bus, presence):
        facts = RawFacts(bus, is_sii_allowed=not presence.refusal)
        done = _with_facts(segment, facts, list(presence.slaves), wanted, budget)
        return Scan((*found, *done), _notes(presence), budget.stopped)


def _notes(presence: Presence) -> tuple[str, ...]:
    said = "looked at only: no state, output or setting was changed"
    return (*presence.notes, said)


def _wanted(item: str) -> tuple[int, str]:
    found = _ITEM.fullmatch(item.strip())
    if not found or not int(found[1]):
        raise ToolFault(f"{spelled(item[:80])} is no EtherCAT scan item. {HELP}")
    what = found[2] or ""
    return int(found[1]), what if " " in what else what.lower()


def _with_facts(
    segment: Segment, facts: Facts, states: list[Seen], wanted: Sequence[tuple[int, str]], budget: Budget
) -> list[Found]:
    if not wanted:
        return [_slave(facts, seen) for seen in states if budget.spend()]
    found: list[Found] = []
    for position, what in wanted:
        if not 1 <= position <= len(states):
            raise ToolFault(f"There is no slave {position}: the segment has {len(states)}, counted from 1.")
        if what == "od":
            found += list(_objects(segment, position, budget))
        elif what == "pdo":
            found += list(_process_data(segment, facts, position, budget))
        elif what:
            found.append(esi_scan.beside(what.split(None, 1)[1], position, _contents(facts, position)))
        elif budget.spend():
            found += _details(segment, facts, states[position - 1])
    return found


def _slave(facts: Facts, seen: Seen) -> Found:
    fields = {"state": seen.words if seen.status else "no answer"}
    if seen.status and (width := _clock_width(facts, seen.position)):
        fields["clock"] = width
    image = facts.image(seen.position)
    if image is None:
        return Found("slave", str(seen.position), fields)
    try:
        identity, name = sii.identity(image), sii.name(image)
    except ToolFault as fault:
        return Found("slave", str(seen.position), fields, (str(fault),))
    shown = {
        "name": name,
        "vendor": f"0x{identity.vendor:08X}",
        "product": f"0x{identity.product:08X}",
        "revision": f"0x{identity.revision:08X}",
    }
    return Found("slave", str(seen.position), shown | fields)


def _details(segment: Segment, facts: Facts, seen: Seen) -> list[Found]:
    """Identity, mailbox, link and error counters of one slave; then what can be scanned below it."""
    found = _slave(facts, seen)
    more = list(found.more)
    if segment.master:
        more += [f"emergency: {text}" for text in segment.master.emergencies(seen)]
    below: list[Found] = []
    image = facts.image(seen.position)
    if image is not None and not found.more:
        contents = sii.contents(image)
        more += _sii_lines(contents)
        more += _identity_lines(segment, seen.position, contents)
        below = _below(seen.position, contents)
    if seen.status:
        more += _register_lines(facts, seen.position)
    return [Found(found.kind, found.item, found.fields, tuple(more)), *below]


def _below(position: int, contents: sii.Contents) -> list[Found]:
    mapping = process_map.from_sii(contents)
    found: list[Found] = []
    if mapping.output_bits or mapping.input_bits:
        sizes = {
            "outputs": f"{mapping.output_bits} bits",
            "inputs": f"{mapping.input_bits} bits",
            "from": mapping.source,
        }
        found.append(Found("process data", f"{position} pdo", sizes))
    if contents.protocols & Mailbox.COE:
        found.append(Found("objects", f"{position} od"))
    return found


def _sii_lines(contents: sii.Contents) -> list[str]:
    lines = [f"serial number {contents.identity.serial}"]
    if contents.protocols:
        out, out_bytes, into, into_bytes = contents.mailbox
        names = ", ".join(protocol.name or "" for protocol in Mailbox if protocol in contents.protocols)
        lines.append(f"mailbox {names}: out 0x{out:04X} {out_bytes} bytes, in 0x{into:04X} {into_bytes} bytes")
        if contents.coe:
            lines.append("CoE " + ", ".join((d.name or "").lower() for d in CoeDetail if d in contents.coe))
    else:
        lines.append("no mailbox: process data only, no SDO")
    if not contents.is_checksum_right:
        lines.append("the SII's checksum is wrong: it was written badly or by hand")
    return lines


def _identity_lines(segment: Segment, position: int, contents: sii.Contents) -> list[str]:
    """Where SII and CoE name different devices, and where they map different process data."""
    master = segment.master
    if master is None or not contents.protocols & Mailbox.COE:
        return []
    said: list[str] = []
    names = ("vendor", "product", "revision")
    try:
        for sub, field in enumerate(names, 1):
            live = int.from_bytes(master.sdo_read(position, 0x1018, sub), "little")
            stored: int = getattr(contents.identity, field)
            if live != stored:
                said.append(f"SII mismatch: {field} is 0x{stored:08X} in the SII and 0x{live:08X} in object 0x1018")
    except (SdoRefused, SdoSilent) as fault:
        return [f"object 0x1018 was not read: {fault}"]
    now, default = master.process_map(position), process_map.from_sii(contents)
    if (now.output_bits, now.input_bits) != (default.output_bits, default.input_bits):
        said.append(f"mapped now: outputs {now.output_bits} bits, inputs {now.input_bits} bits")
    return said


def _register_lines(facts: Facts, position: int) -> list[str]:
    status = int.from_bytes(facts.register(position, Register.DL_STATUS, 2), "little")
    ports = [str(port) for port in range(4) if status & 0x10 << port]
    errors = facts.register(position, Register.RX_ERRORS, 8)
    lost = facts.register(position, Register.LOST_LINKS, 4)
    divider = int.from_bytes(facts.register(position, Register.WATCHDOG_DIVIDER, 2), "little")
    time = int.from_bytes(facts.register(position, Register.WATCHDOG_TIME, 2), "little")
    watchdog = f"{time * (divider + 2) * 40e-6:.4g} ms" if time else "off"
    lines = [f"link on ports {', '.join(ports) or 'none'}; process data watchdog {watchdog}", _clock(facts, position)]
    if any(errors) or any(lost):
        lines.append(
            f"counters: invalid frames and errors {errors.hex(' ')}, lost links {lost.hex(' ')} (ports 0 to 3)"
        )
    return lines


def _clock(facts: Facts, position: int) -> str:
    """Whether the slave has distributed clocks, and whether it gets SYNC signals; Oasis runs without them."""
    if not (width := _clock_width(facts, position)):
        return "distributed clocks: not supported"
    if not facts.register(position, Register.SYNC_ACTIVATION, 1)[0] & 1:
        return f"distributed clocks: supported, {width}; SYNC off, the slave runs freely"
    cycle = int.from_bytes(facts.register(position, Register.SYNC0_CYCLE, 4), "little")
    return f"distributed clocks: supported, {width}; SYNC0 every {cycle / 1000:g} µs"


def _clock_width(facts: Facts, position: int) -> str:
    """How wide the slave's distributed clock is; empty where it has none."""
    features = facts.register(position, Register.FEATURES, 1)[0]
    return ("64 bit" if features & IS_CLOCK_64_BIT else "32 bit") if features & HAS_CLOCK else ""


def _process_data(segment: Segment, facts: Facts, position: int, budget: Budget) -> Iterator[Found]:
    if not budget.spend():
        return
    if segment.master:
        mapping = segment.master.process_map(position)
    else:
        mapping = process_map.from_sii(_contents(facts, position))
    for way, places in (("out", mapping.outputs), ("in", mapping.inputs)):
        for place in places:
            fields = {
                "name": place.name,
                "type": place.kind.name,
                "bits": str(place.bits),
                "at bit": str(place.at),
                "PDO": f"0x{place.pdo:04X}",
            }
            yield Found("entry", f"{position} {way} {place.address}", fields)
    fields = {
        "outputs": f"{mapping.output_bits} bits",
        "inputs": f"{mapping.input_bits} bits",
        "from": mapping.source,
    }
    yield Found("process data", f"{position} pdo", fields, (_SWAPPED,))


def _contents(facts: Facts, position: int) -> sii.Contents:
    image = facts.image(position)
    if image is None:
        raise ToolFault("The SII may not be read while another master runs the segment.")
    return sii.contents(image)


def _objects(segment: Segment, position: int, budget: Budget) -> Iterator[Found]:
    master = segment.master
    if master is None:
        raise ToolFault(f"The object dictionary is read by SDO, and {NEEDS_PREOP}.")
    if not master.contents(position).protocols & Mailbox.COE:
        raise ToolFault(f"Slave {position} has no CoE, so no object dictionary: its values are process data only.")
    slave, dictionary = master.slave(position), master.dictionary(position)
    try:
        indexes = dictionary.indexes()
    except (SdoRefused, SdoSilent) as fault:
        raise ToolFault(
            f"The object dictionary of slave {position} cannot be listed: {fault}. Its manual or ESI file names the "
            "objects; each can be read all the same."
        ) from fault
    for index in indexes:
        if not budget.spend():
            return
        try:
            yield from _entries(slave, dictionary, index)
        except (SdoRefused, SdoSilent) as fault:
            yield Found("object", f"{position} 0x{index:04X}:0", {"name": f"not described: {fault}"})


def _entries(slave: Slave, dictionary: Dictionary, index: int) -> Iterator[Found]:
    """The subindexes of an object, or the object itself where it names none."""
    described = dictionary.described(index)
    parts = list(dictionary.parts(described)) or [Part(0, described.name, described.type_number, 0)]
    for part in parts:
        kind = coe_types.BY_NUMBER.get(part.type_number)
        if kind:
            slave.kinds[index, part.subindex] = kind
        name = " / ".join(dict.fromkeys((described.name, part.name)))
        type_name = kind.name if kind else f"0x{part.type_number:04X}"
        fields = {"name": name, "type": type_name, "access": _access(part.access)}
        yield Found("object", f"{slave.position} 0x{index:04X}:{part.subindex}", fields)


def _access(bits: int) -> str:
    """`r` and `w`; `w in PREOP` where that is all."""
    writable = bits >> 3 & 7
    read = "r" if bits & 7 else ""
    if not writable:
        return read
    return f"{read}w" if writable & 6 else f"{read}w in PREOP"
