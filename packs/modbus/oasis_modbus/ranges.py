"""Which addresses of a table read: found by asking, within a budget."""

import time
from dataclasses import dataclass, field, replace

from oasis.plant.driver import Budget
from oasis_modbus.faults import LinkFault, Silent
from oasis_modbus.reader import Reader
from oasis_modbus.tables import LAST, Table
from oasis_modbus.units import Refused, Unit

_STARTS = (
    0, 1, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100,
    200, 256, 300, 400, 500, 600, 700, 800, 900, 1000, 1024, 1500, 2000, 3000, 4000, 4096, 5000, 6000, 7000,
    8000, 9000, 10_000, 15_000, 20_000, 25_000, 30_000, 32_000, 35_000, 37_000, 40_000, 45_000, 47_000, 50_000, 60_000,
)  # fmt: skip
"""Where maps usually begin; each is looked at unless a range found before has it."""
_LOOK_AHEAD = (2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 32, 64)
_STRIDES = (32, 8, 4, 2, 1)
_MOST_BLOCKS = 8
"""Whole blocks in a row after which a range is taken as longer than a scan need follow."""
_MOST_SILENCES = 20
_LEAST_PATIENCE_S, _SLOWEST = 1.0, 5.0
"""How long an answer is waited for once some came: five times as long as the slowest took, and a second at least."""


@dataclass(slots=True)
class Ranges:
    """What was found of one table. `readable` and `open` (not resolved) are first and last addresses."""

    table: Table
    readable: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    unresolved: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    why: str = ""
    """Why the search ended before its end; empty when it was whole."""
    is_absent: bool = False
    """Whether the device does not offer the table at all."""
    goes_on: bool = False
    """Whether the last range goes on past where the search left it."""
    silences: int = 0
    """Requests that were not answered by a device that answered others."""
    requests: int = 0
    stride: int = 0
    """Within a given range: how far apart the addresses are that were looked at, at most. 0: blocks only."""

    def add(self, first: int, last: int) -> None:
        """Note a readable range; those that touch become one."""
        merged = sorted([*self.readable, (first, last)])
        self.readable = merged[:1]
        for low, high in merged[1:]:
            if low <= self.readable[-1][1] + 1:
                self.readable[-1] = (self.readable[-1][0], max(high, self.readable[-1][1]))
            else:
                self.readable.append((low, high))

    def has(self, address: int) -> bool:
        return any(low <= address <= high for low, high in self.readable)


class Search:
    """Searches one table of one unit. `share` is how many requests it may make, within the budget."""

    def __init__(self, reader: Reader, table: Table, budget: Budget, share: int) -> None:
        self._reader = reader
        self._budget = budget
        self._share = share
        self._bounds = (0, LAST)
        self._refused: set[int] = set()
        self._code = 0
        self._largest = 1
        self._sure: int | None = None
        self._slowest_s = 0.0
        self.found = Ranges(table)

    async def within(self, first: int, last: int) -> Ranges:
        """Every address of a given range: whole blocks, and where one fails single addresses, ever closer together.

        From each that reads, outwards to both ends. What the budget leaves undecided is named.
        """
        self._bounds = (first, last)
        for low in range(first, last + 1, self._most):
            high = min(low + self._most - 1, last)
            if await self._reads(low, high):
                self.found.add(low, high)
        for stride in _STRIDES:
            for at in range(first, last + 1, stride):
                if self.found.why:
                    break
                if not self.found.has(at) and at not in self._refused and await self._reads(at, at):
                    self.found.add(await self._end(at, -1), await self._end(at, 1))
            else:
                self.found.stride = stride
        self.found.unresolved = self._undecided(first, last) if self.found.why else []
        return self.found

    def _undecided(self, first: int, last: int) -> list[tuple[int, int]]:
        """The stretches, from one address known to the next, in which some are not known."""
        stretches: list[tuple[int, int]] = []
        for at in range(first, last + 1):
            if self.found.has(at) or at in self._refused:
                continue
            if stretches and at - stretches[-1][1] <= _STRIDES[0]:
                stretches[-1] = (stretches[-1][0], at)
            else:
                stretches.append((at, at))
        return stretches

    async def anywhere(self) -> Ranges:
        """From where maps usually begin, outwards to where each ends, and on behind short gaps."""
        for start in _STARTS:
            if self.found.has(start):
                continue
            answer = await self._reads(start, start)
            if answer is None:
                break
            if answer and await self._outwards(start) is None:
                break
        return self.found

    async def _outwards(self, start: int) -> bool | None:
        """Both ends of the range that `start` is in; then behind a gap. None when the search is over."""
        at: int | None = start
        while at is not None:
            low = await self._end(at, -1)
            high = await self._end(at, 1)
            self.found.add(low, high)
            if self.found.why or self.found.goes_on:
                break
            at = await self._behind(high)
        return None if self.found.why else True

    async def _end(self, at: int, way: int) -> int:
        """The last readable address from `at` in one direction: in growing steps, then halving the one that failed.

        Where the next address reads by itself after all, the step was too long for the device, or went over a border
        within its map: the search goes on from there.
        """
        sure, step, whole = at, 1, 0
        low, high = self._bounds
        while low <= sure + way <= high and not self.found.has(sure + way):
            far = max(low, min(high, sure + way * step))
            answer = await self._reads(*sorted((sure + way, far)))
            if answer is None:
                return sure
            if not answer:
                sure = await self._halved(sure, far, way)
                if not await self._reads(sure + way, sure + way):
                    return sure
                self._note_limit()
                sure, step = sure + way, 1
                continue
            whole += step if step == self._most else 0
            sure, step = far, min(step * 2, self._most)
            if whole >= _MOST_BLOCKS * self.found.table.most:
                self.found.goes_on = True
                break
        return sure

    @property
    def _most(self) -> int:
        return self._reader.most[self.found.table.name]

    def _note_limit(self) -> None:
        """A block was refused whose addresses read: for its count, where the device says that it is the count."""
        if self._code == 3:
            self._reader.most[self.found.table.name] = self._largest

    async def _halved(self, sure: int, bad: int, way: int) -> int:
        """The last readable address between one that reads and one at or before which something does not."""
        while abs(bad - sure) > 1:
            middle = (sure + bad) // 2 if way > 0 else -(-(sure + bad) // 2)
            answer = await self._reads(*sorted((sure + way, middle)))
            if answer is None:
                return sure
            sure, bad = (middle, bad) if answer else (sure, middle)
        return sure

    async def _behind(self, end: int) -> int | None:
        """The next readable address shortly behind a range's end; None where there is none."""
        for ahead in _LOOK_AHEAD:
            at = end + ahead
            if at > LAST or self.found.has(at):
                return None
            answer = await self._reads(at, at)
            if answer:
                return at
            if answer is None:
                return None
        return None

    async def _reads(self, first: int, last: int) -> bool | None:
        """Whether this block reads; None when no more may be asked, `why` says the reason."""
        if first == last and first in self._refused:
            return False
        if not self.found.why and self.found.requests >= self._share:
            self.found.why = f"its share of {self._share} requests is spent"
        if not self.found.why and not self._budget.spend():
            self.found.why = self._budget.stopped
        if self.found.why:
            return None
        self.found.requests += 1
        answer = await self._asked(first, last)
        if answer is False and first == last:
            self._refused.add(first)
        return answer

    async def _asked(self, first: int, last: int) -> bool | None:
        """The device's answer, where it is one to the address and not a fault."""
        table = self.found.table
        began = time.monotonic()
        try:
            await self._patient_unit().values(table, first, last - first + 1)
        except Refused as refused:
            if refused.code in (2, 3, 4):
                self._code = refused.code if last > first else self._code
                return False
            self.found.is_absent = refused.code == 1
            self.found.why = str(refused)
            return None
        except LinkFault as fault:
            if isinstance(fault, Silent) and await self._is_there(first if last > first else None):
                self.found.silences += 1
                return False
            self.found.why = str(fault)
            return None
        self._slowest_s = max(self._slowest_s, time.monotonic() - began)
        self._note(first, last)
        return True

    def _note(self, first: int, last: int) -> None:
        self._sure = first
        self._largest = max(self._largest, last - first + 1)
        self._reader.known[self.found.table.name].add(first, last - first + 1)

    async def _is_there(self, first: int | None) -> bool:
        """Whether the device still answers for an address that it has: one that was read, or the first of the block."""
        sure = first if self._sure is None else self._sure
        if sure is None or self.found.silences >= _MOST_SILENCES or not self._budget.spend():
            return False
        self.found.requests += 1
        try:
            await self._reader.unit.values(self.found.table, sure, 1)
        except (Refused, LinkFault):
            return False
        self._note(sure, sure)
        return True

    def _patient_unit(self) -> Unit:
        """The unit, asked with as much time as it may need after what it took so far."""
        unit = self._reader.unit
        if self._sure is None:
            return unit
        return replace(unit, timeout_s=min(unit.timeout_s, max(_LEAST_PATIENCE_S, _SLOWEST * self._slowest_s)))
