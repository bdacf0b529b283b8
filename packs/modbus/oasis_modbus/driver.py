"""The Modbus driver: one unit of a device, or a whole gateway to scan."""

from collections.abc import AsyncIterator, Sequence

from oasis.errors import ToolFault, WriteRefused
from oasis.plant.driver import Budget, Scan, Sent
from oasis.plant.plan import ApprovedWrite, Frame
from oasis.plant.values import Point, Reading, Value
from oasis_modbus import endpoint, grammar, identify, sunspec_items, writes
from oasis_modbus.link import Link
from oasis_modbus.links import release, shared
from oasis_modbus.reader import Reader
from oasis_modbus.scan import scan_unit
from oasis_modbus.scan_units import scan_units
from oasis_modbus.tables import TABLES
from oasis_modbus.units import PAUSES_S, Unit
from oasis_modbus.watching import changes


class ModbusDriver:
    """Reads, watches and writes one unit. It connects when first used and keeps the connection.

    Units behind one host and port, or on one serial line, share it and are asked one after another.
    """

    def __init__(self, url: str, pauses_s: Sequence[float] = PAUSES_S) -> None:
        self._endpoint = endpoint.parse(url)
        self._pauses_s = pauses_s
        self._link: Link | None = None
        self._reader: Reader | None = None
        self.url = self._endpoint.url

    def point(self, text: str) -> Point:
        return sunspec_items.point(text) or grammar.point(text)

    def cells(self, point: Point) -> frozenset[str]:
        """Coils by address, registers by bit: `holding 3 bit 2`. Empty where a point's place is not certain."""
        return writes.cells(point)

    def check_writable(self, point: Point) -> None:
        writes.check(point)

    async def scan(self, items: Sequence[str], budget: Budget) -> Scan:
        if self._endpoint.unit is not None:
            return await scan_unit(self._unit_reader(), items, budget)
        if items:
            raise ToolFault(f"Items belong to one unit, and {self.url} names none. Scan it without items first.")
        return await scan_units(self._shared(), self._endpoint, budget)

    async def read(self, points: Sequence[Point]) -> list[Reading]:
        """The readings in order. A `sunspec` item that cannot be read raises ToolFault when nothing else was asked."""
        return await self._read(points)

    async def _read(self, points: Sequence[Point], is_round: bool = False) -> list[Reading]:
        reader = self._unit_reader()
        plain = [point for point in points if not sunspec_items.is_one(point)]
        if len(plain) == len(points):
            return await reader.read(points, is_round)
        readings: list[Reading] = []
        for point in points:
            is_model = sunspec_items.is_one(point)
            readings += await (sunspec_items.read(reader.unit, point) if is_model else reader.read([point], is_round))
        return readings

    async def block(self, table: str, first: int, count: int) -> list[int]:
        """Registers (0 to 65535) or bits (0, 1) by one request, as they are. Raises ToolFault."""
        return await self._unit_reader().unit.values(TABLES[table], first, count)

    def watch(self, points: Sequence[Point], seconds: float, interval_s: float) -> AsyncIterator[Reading]:
        return changes(lambda: self._read(points, is_round=True), seconds, interval_s)

    async def identity(self) -> str:
        """Vendor, product and revision by function 43, else by SunSpec's model 1; empty where it says neither.

        Raises ToolFault where the device cannot be reached, or is busy.
        """
        return await identify.identity(self._unit_reader().unit)

    async def encode(self, point: Point, value: Value) -> Frame:
        unit = endpoint.needs_unit(self._endpoint)
        return writes.frame(self._shared(), unit, writes.request(point, value))

    async def write(self, approved: ApprovedWrite) -> Sent:
        endpoint.needs_unit(self._endpoint)
        if not isinstance(approved, ApprovedWrite):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise WriteRefused("Only an approved plan is sent; nothing was sent.")
        return await writes.send(self._shared(), self._endpoint, approved.plan.frame.wire)

    async def close(self) -> None:
        link, self._link, self._reader = self._link, None, None
        if link:
            await release(link)

    def _shared(self) -> Link:
        if self._link is None:
            self._link = shared(self._endpoint)
        return self._link

    def _unit_reader(self) -> Reader:
        unit = endpoint.needs_unit(self._endpoint)
        if self._reader is None:
            self._reader = Reader(Unit(self._shared(), unit, self._endpoint.timeout_s, self._pauses_s))
        return self._reader
