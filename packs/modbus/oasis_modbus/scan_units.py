"""Which units answer behind a gateway or on a bus."""

import contextlib
import struct
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from oasis.plant.driver import Budget, Found, Scan
from oasis_modbus import faults, identify
from oasis_modbus.endpoint import Endpoint
from oasis_modbus.faults import Broken, Garbled, Silent, Strange, Unreachable
from oasis_modbus.link import Link
from oasis_modbus.units import Refused, Unit

_COMMON = (1, 2, 3, 4, 5, 10, 11, 20, 50, 100, 101, 126, 247)
"""Units that are usual as delivered; 126 is SunSpec's. They come first, so that a scan cut short has them."""
_UNLIKELY = (231, 199)
_ABSENT = (10, 11)
"""Exceptions by which a gateway says that nobody is there."""
PROBE = struct.pack(">BHH", 3, 0, 1)
FIRST_S = 1.0
LEAST_S = 0.05
_LATENCIES = 4
_KEPT = 0.15
"""Share of the time that is kept for late answers and identities."""
_MOST_IDENTIFIED = 20


@dataclass(slots=True)
class _Seen:
    """What a scan saw so far, by unit: what was answered, after how many seconds, and when it was asked.

    `waits_s` is how long every answer took, also that nobody is there, also one that came after it was given up on.
    `nobody` is what a gateway answers for units that are not there, `left_out` how many. `pending` were given up
    on since the last answer; those to ask `again` lost their answer with the connection; `strange` ones answered while
    another was asked.
    """

    answers: dict[int, str] = field(default_factory=dict[int, str])
    took_s: dict[int, float] = field(default_factory=dict[int, float])
    values: dict[int, bytes] = field(default_factory=dict[int, bytes])
    notes: list[str] = field(default_factory=list[str])
    asked: set[int] = field(default_factory=set[int])
    asked_at: dict[int, float] = field(default_factory=dict[int, float])
    waits_s: list[float] = field(default_factory=list[float])
    nobody: bytes = b""
    left_out: int = 0
    pending: list[int] = field(default_factory=list[int])
    strange: set[int] = field(default_factory=set[int])
    again: list[int] = field(default_factory=list[int])

    @property
    def usual_s(self) -> float:
        """The second longest wait: one slow unit does not make a slow gateway. 0 while nothing has answered."""
        return sorted(self.waits_s)[-2:][0] if self.waits_s else 0.0

    def lose(self) -> None:
        """The connection ended, and with it the answers that may have been on their way."""
        self.again += self.pending
        self.pending.clear()


async def scan_units(link: Link, endpoint: Endpoint, budget: Budget) -> Scan:
    """Ask every unit for holding register 0, once. Raises ToolFault where the gateway cannot be reached."""
    link.is_scanning = True
    try:
        return await _scanned(link, endpoint, budget)
    finally:
        link.is_scanning = False


async def _scanned(link: Link, endpoint: Endpoint, budget: Budget) -> Scan:
    units = order(endpoint)
    seen = _Seen()
    ended = await _ask_all(link, endpoint, units, budget, seen)
    asked = [unit for unit in units if unit in seen.asked]
    everyone = _answers_all(seen, asked)
    if not ended:
        await _ask_all(link, endpoint, list(dict.fromkeys(seen.again)), budget, seen)
    _leave_out_nobody(seen, everyone)
    found = {unit: await _found(link, endpoint, unit, seen, budget) for unit in sorted(seen.answers)}
    if not everyone and not ended:
        with contextlib.suppress(Unreachable):
            await _late(link, endpoint, seen, budget)
        _leave_out_nobody(seen, everyone)
    found |= {unit: await _found(link, endpoint, unit, seen, budget) for unit in seen.answers if unit not in found}
    shown = [found[unit] for unit in sorted(found) if unit in seen.answers]
    left = [unit for unit in units if unit not in seen.asked]
    stopped = ""
    if left and not everyone:
        stopped = f"{ended or budget.stopped}; {len(asked)} of {len(units)} units were asked, not: {_ranges(left)}"
    return Scan(tuple(shown[:1] if everyone else shown), tuple(_notes(endpoint, seen, asked, everyone)), stopped)


async def _ask_all(link: Link, endpoint: Endpoint, units: Sequence[int], budget: Budget, seen: _Seen) -> str:
    """Ask these units, those that have answered left out, until the budget ends or the device answers for any unit.

    Gives why the gateway can no longer be reached, empty where it can. Raises ToolFault where it never could.
    """
    for n, unit in enumerate(units):
        if unit in seen.answers:
            continue
        if not budget.spend():
            break
        try:
            await _probe(link, endpoint, unit, _patience_s(seen, budget, len(units) - n, endpoint), seen)
        except Unreachable as fault:
            if not seen.answers:
                raise
            return str(fault)
        seen.asked.add(unit)
        _note_late(link, seen)
        if _answers_all(seen, seen.asked):
            break
    return ""


def order(endpoint: Endpoint) -> list[int]:
    """The units to ask, common ones first. On TCP also 255, a device's own; never 0, a gateway's broadcast."""
    first = list(_COMMON) if endpoint.is_serial else [1, 255, *_COMMON[1:5], *_UNLIKELY, *_COMMON[5:]]
    return [*first, *(unit for unit in range(1, 248) if unit not in first)]


def _patience_s(seen: _Seen, budget: Budget, left: int, endpoint: Endpoint) -> float:
    """How long to wait for one unit.

    Four times the usual wait for an answer, and no more than an even share of the time that is left; but never less
    than 1.5 times that wait: rather stop early than miss who is there. Before the first answer: a second.
    """
    least_s = max(LEAST_S, 40 * endpoint.line.byte_s) if endpoint.is_serial else LEAST_S
    usual_s = seen.usual_s
    share_s = max(0.0, budget.left_s - _KEPT * budget.seconds) / left
    if not usual_s:
        return min(FIRST_S, endpoint.timeout_s, max(least_s, share_s * 2))
    wished_s = max(least_s, _LATENCIES * usual_s)
    return min(endpoint.timeout_s, max(min(wished_s, share_s), 1.5 * usual_s + 0.005))


async def _probe(link: Link, endpoint: Endpoint, unit: int, timeout_s: float, seen: _Seen) -> None:
    began = seen.asked_at[unit] = time.monotonic()
    try:
        reply = await link.ask(unit, PROBE, timeout_s)
    except Silent:
        seen.pending.append(unit)
        return
    except Strange as fault:
        seen.again.append(unit)
        seen.lose()
        if fault.unit != unit and 0 < fault.unit < 248:
            seen.strange.add(fault.unit)
            seen.notes.append(
                f"While unit {unit} was asked, unit {fault.unit} answered: it is slow, or their numbers mix."
            )
        return
    except (Broken, Garbled) as fault:
        seen.again += [unit] if seen.pending else []
        seen.lose()
        seen.notes.append(f"While unit {unit} was asked: {fault}")
        return
    seen.pending.clear()
    took_s = time.monotonic() - began
    seen.waits_s.append(took_s)
    if reply.exception in _ABSENT:
        return
    seen.took_s[unit] = took_s
    seen.values[unit] = reply.pdu
    said = f"exception 0x{reply.exception:02X}" if reply.exception else f"holding 0 = {reply.pdu[2:].hex().upper()}"
    seen.answers[unit] = said


def _note_late(link: Link, seen: _Seen) -> None:
    """A gateway that answers late is given more time from now on: what it has not answered, it is still busy with."""
    now = time.monotonic()
    for unit in [unit for unit in link.late if unit in seen.asked_at]:
        asked_at = seen.asked_at.pop(unit)
        seen.waits_s.append(now - asked_at)
        seen.pending = [other for other in seen.pending if seen.asked_at.get(other, 0.0) > asked_at]


async def _late(link: Link, endpoint: Endpoint, seen: _Seen, budget: Budget) -> None:
    """Units whose reply came after it was given up on are there as well: each is asked again with time."""
    if link.abandoned and budget.spend():
        await _probe(link, endpoint, min(seen.answers, default=1), min(FIRST_S, endpoint.timeout_s), _Seen())
    here = {unit for unit, reply in link.late.items() if reply.exception not in _ABSENT} | seen.strange
    for unit in sorted(here - set(seen.answers)):
        if budget.spend():
            await _probe(link, endpoint, unit, endpoint.timeout_s, seen)
        seen.answers.setdefault(unit, "answers slowly")
    link.late.clear()


def _answers_all(seen: _Seen, asked: Collection[int]) -> bool:
    """Whether the device takes any unit for itself: all asked so far answered alike, unlikely ones among them."""
    if not set(_UNLIKELY) <= set(asked):
        return False
    return all(unit in seen.values for unit in asked) and len(set(seen.values.values())) == 1


def _leave_out_nobody(seen: _Seen, is_everyone: bool) -> None:
    """Some gateways answer for absent units with an exception of their own: what both unlikely units answered."""
    first, second = (seen.values.get(unit) for unit in _UNLIKELY)
    if first and first == second and first[0] & 0x80 and not is_everyone:
        seen.nobody = first
    for unit in [unit for unit, pdu in seen.values.items() if pdu == seen.nobody]:
        del seen.answers[unit], seen.values[unit]
        seen.left_out += 1


async def _found(link: Link, endpoint: Endpoint, unit: int, seen: _Seen, budget: Budget) -> Found:
    fields = {"answered": seen.answers[unit]}
    if unit in seen.took_s:
        fields["after"] = f"{seen.took_s[unit] * 1000:.0f} ms"
    if unit in seen.values and sorted(seen.answers).index(unit) < _MOST_IDENTIFIED and budget.spend():
        timeout_s = max(0.3, _LATENCIES * seen.took_s[unit])
        try:
            said = identify.spelled_out(await identify.objects(Unit(link, unit, timeout_s, ())))
        except (Refused, faults.LinkFault):
            said = ""
        fields["identity"] = said
    return Found("unit", endpoint.with_unit(unit).url, fields)


def _notes(endpoint: Endpoint, seen: _Seen, asked: Sequence[int], everyone: bool) -> list[str]:
    notes = list(dict.fromkeys(seen.notes))[:5]
    if seen.left_out:
        code = f"0x{seen.nobody[1]:02X}"
        notes.insert(0, f"{seen.left_out} units answer exception {code}, unlikely ones too: taken as nobody.")
    if everyone:
        notes.append(
            f"It answers alike for every unit that was asked ({_ranges(asked)}): one device that does not look at the "
            "unit. Use 1."
        )
    elif not seen.answers:
        notes.append(
            f"No unit answered at {endpoint.gateway}. "
            + (
                "Check baud rate, parity, wiring (A and B), and that nobody else is master on this line."
                if endpoint.has_rtu_frames
                else "Something listens there, but it may not be Modbus, or its unit is one not asked."
            )
        )
    policy = "1 to 247" if endpoint.is_serial else "1 to 247 and 255 (a device's own)"
    notes.append(f"Units are {policy}; 0 is not asked: it is the broadcast of a serial line.")
    return notes


def _ranges(units: Sequence[int]) -> str:
    """`1-3, 7`."""
    parts: list[list[int]] = []
    for unit in sorted(units):
        if parts and parts[-1][-1] == unit - 1:
            parts[-1] = [parts[-1][0], unit]
        else:
            parts.append([unit])
    return ", ".join("-".join(str(u) for u in part) for part in parts)
