"""Sites, writers and audits for tests: over memory (device.Memory) or a real server (counting.Counted)."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from oasis.plant.audit import Audit, audit_path
from oasis.plant.driver import Driver
from oasis.plant.site import Site
from oasis.plant.site_file import load
from oasis.plant.writer import Writer
from tests.plant.counting import Counted
from tests.plant.device import Memory, MemoryDriver

MEMORY_SITE = """
[site]
name = "Boiler house"

[endpoints.boiler]
url = "mem://boiler"

[tags.set_point]
endpoint = "boiler"
address = "cell sp"
type = "uint16"
scale = 0.1
unit = "°C"
write = true
min = 20
max = 95
max_step = 10
rate = 15
safe = 60

[tags.flow]
endpoint = "boiler"
address = "cell flow"
type = "float32"
write = true
min = 0
max = 100
max_step = 50
unattended = true

[tags.mode]
endpoint = "boiler"
address = "cell mode"
type = "uint16"
write = true
values = [0, 1, 3]

[tags.pump]
endpoint = "boiler"
address = "cell pump"
type = "bool"
write = true
safe = false
unattended = true

[tags.water]
endpoint = "boiler"
address = "cell water"
type = "uint16"
scale = 0.1
"""
CELLS = {"sp": 700, "flow": 10.0, "mode": 0, "pump": True, "water": 650}

MODBUS_SITE = """
[site]
name = "Boiler house"

[endpoints.boiler]
url = "{url}"

[tags.set_point]
endpoint = "boiler"
address = "holding 0"
type = "uint16"
scale = 0.1
unit = "°C"
write = true
min = 20
max = 95
max_step = 10
"""


class Clock:
    """Seconds and times that stand still until they are moved."""

    def __init__(self) -> None:
        self.seconds = 1000.0
        self.began = datetime(2026, 3, 14, 9, 0, tzinfo=UTC)

    def __call__(self) -> float:
        return self.seconds

    def time(self) -> datetime:
        return self.began + timedelta(seconds=self.seconds - 1000.0)


class Desk:
    """One session's writer, and what it stands on."""

    def __init__(self, folder: Path, connect: Callable[[str], Driver], text: str, session: str = "s1") -> None:
        self.file = folder / "plant.toml"
        if not self.file.exists():
            self.file.write_text(text, encoding="utf-8")
        self.clock = Clock()
        self.site: Site = load(self.file, connect)
        self.path = audit_path(folder / "audit", self.site)
        self.audit = Audit(self.path, session, now=self.clock.time)
        self.writer = Writer(self.site, connect, self.audit, self.clock)

    async def write(self, tag: str, value: object):
        plan = await self.writer.plan(tag, value)
        return await self.writer.carry_out(plan.token, "Ada")

    def kinds(self) -> list[str]:
        return [record["kind"] for record in self.audit.records()]


def memory_desk(folder: Path, memory: Memory, session: str = "s1", text: str = MEMORY_SITE) -> Desk:
    memory.cells = memory.cells or dict(CELLS)
    return Desk(folder, lambda url: MemoryDriver(memory, url), text, session)


@asynccontextmanager
async def modbus_desk(folder: Path, device: Counted, more: str = "") -> AsyncGenerator[Desk, None]:
    from oasis_modbus.driver import ModbusDriver

    drivers: dict[str, ModbusDriver] = {}

    def connect(url: str) -> ModbusDriver:
        return drivers.setdefault(url, ModbusDriver(url))

    try:
        yield Desk(folder, connect, MODBUS_SITE.format(url=device.url) + more)
    finally:
        for driver in drivers.values():
            await driver.close()
