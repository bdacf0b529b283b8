"""The units behind one gateway, and what the faults do to their replies."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from oasis_modbus.simulator.faults import DROP_EVERY, GARBAGE, GATEWAY_GAP_S, SLOW_S, Faults
from oasis_modbus.simulator.unit import Unit
from oasis_modbus.simulator.witness import Witness

BUSY = 0x06
GATEWAY_SILENT = 0x0B
WRITES = frozenset((5, 6, 15, 16, 22, 23))


@dataclass(frozen=True, slots=True)
class Reply:
    """What goes back: a PDU from a unit, or `raw` bytes in place of a frame. `closes` the connection after it."""

    unit: int
    pdu: bytes = b""
    raw: bytes = b""
    closes: bool = False


@dataclass(slots=True)
class Bus:
    """One request at a time, as on a serial line: who asks a slow unit lets all others wait.

    `clock` gives seconds, `sleep` waits for them.
    """

    units: Mapping[int, Unit]
    faults: Faults
    witness: Witness
    catch_up: Callable[[], None]
    clock: Callable[[], float]
    slow_s: float = SLOW_S
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    _asked_at: float = -1e9
    _counts: dict[tuple[int, str], int] = field(default_factory=dict[tuple[int, str], int])

    async def exchange(self, number: int, pdu: bytes, is_network: bool) -> Reply | None:
        """The reply to a request, None for silence. On a network, a gateway answers for units that are not there."""
        async with self._lock:
            self.witness.requests += 1
            gap_s, self._asked_at = self.clock() - self._asked_at, self.clock()
            unit = self.units.get(number)
            if unit is None:
                has_gateway = is_network and 1 <= number <= 247
                return Reply(number, bytes((pdu[0] | 0x80, GATEWAY_SILENT))) if has_gateway else None
            if code := self._refusal(number, gap_s):
                return Reply(number, bytes((pdu[0] | 0x80, code)))
            self.catch_up()
            answered = unit.answer(pdu)
            delay_s = self.slow_s if self.faults.has("slow", number) else unit.delay_s
            if delay_s:
                await asyncio.sleep(delay_s)
            return self._spoiled(number, pdu[0], answered)

    def _refusal(self, unit: int, gap_s: float) -> int:
        """The exception with which a request is refused before it is executed, 0 for none."""
        if self.faults.has("gateway", unit) and gap_s < GATEWAY_GAP_S:
            return GATEWAY_SILENT
        return BUSY if self.faults.has("busy", unit) and self._is_nth(unit, "busy", 2) else 0

    def _spoiled(self, unit: int, function: int, answered: bytes) -> Reply | None:
        faults = self.faults
        if faults.has("silent", unit) or (faults.has("lost-reply", unit) and function in WRITES):
            return None
        if faults.has("drop", unit) and self._is_nth(unit, "drop", DROP_EVERY):
            return Reply(unit, closes=True)
        if faults.has("garbage", unit):
            return Reply(unit, raw=GARBAGE)
        return Reply(unit % 247 + 1 if faults.has("other-unit", unit) else unit, answered)

    def _is_nth(self, unit: int, name: str, n: int) -> bool:
        """Whether this is the n-th, 2n-th, ... time; the first request of `busy` is refused, of `drop` the n-th."""
        count = self._counts[unit, name] = self._counts.get((unit, name), 0) + 1
        return count % n == (1 if name == "busy" else 0)
