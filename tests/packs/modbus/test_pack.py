"""The pack as Oasis finds it: schemes, words, skills; and that nothing heavy is imported before it is used."""

import re
import struct
import subprocess
import sys

import pytest
from oasis_modbus import PACK, endpoint, grammar
from oasis_modbus.bench import scan_247, throughput

from oasis.core.front_matter import split
from oasis.plant.driver import Driver
from tests.packs.modbus.servers import pymodbus_device, read

SKILLS = {
    folder.name: (folder / "SKILL.md").read_text(encoding="utf-8")
    for folder in sorted(PACK.skills.iterdir(), key=lambda f: f.name)
}  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "url",
    [
        "modbus://127.0.0.1/1",
        "modbus+tcp://127.0.0.1/1",
        "modbus+rtu:///dev/ttyS0?unit=1",
        "modbus+rtutcp://127.0.0.1/1",
        "modbus+tls://127.0.0.1/1",
    ],
)
async def test_each_scheme_makes_a_driver_that_has_sent_nothing(url: str):
    driver: Driver = PACK.drivers[url.partition(":")[0]](url)
    assert driver.url.endswith("1")
    await driver.close()


def test_no_library_is_imported_before_a_driver_is_used():
    code = (
        "import sys; from oasis_modbus import PACK; d = PACK.drivers['modbus']('modbus://127.0.0.1/1'); "
        "d.point('holding 0'); print([m for m in sys.modules if m.split('.')[0] in ('pymodbus', 'serial', 'yaml')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_each_skill_has_a_line_of_at_most_ten_words():
    assert list(SKILLS) == [
        "commissioning-checks", "gateway-etiquette", "sunspec", "unknown-register-map", "word-orders-and-scaling",
    ]  # fmt: skip
    for name, text in SKILLS.items():
        front, body = split(text)
        assert front["name"] == name
        assert len(str(front["description"]).split()) <= 10
        assert re.search(r"plant_(read|scan|write)", body)


def test_the_worked_figures_of_the_order_table_are_right():
    rows = re.findall(r"\| (ABCD|CDAB|BADC|DCBA) \| (\w{4}) (\w{4}) \| (\S+) \|", SKILLS["word-orders-and-scaling"])
    assert len(rows) == 4
    a, b = struct.unpack(">2H", struct.pack(">f", 230.5))
    for order, high, low, shown in rows:
        words = {"ABCD": (a, b), "CDAB": (b, a), "BADC": (_swap(a), _swap(b)), "DCBA": (_swap(b), _swap(a))}[order]
        assert (int(high, 16), int(low, 16)) == words
        (value,) = struct.unpack(">f", struct.pack(">2H", *words))
        assert float(shown) == pytest.approx(value, rel=0.03)


def _swap(word: int) -> int:
    return word >> 8 | (word & 0xFF) << 8


async def test_throughput_is_measured_beside_bare_pymodbus():
    measured = await throughput(reads=5, rounds=1)
    assert min(measured.driver_per_s, measured.pymodbus_per_s, measured.as_readings_per_s) > 0


async def test_a_scan_of_247_units_is_measured_within_its_budget():
    measured = await scan_247(seconds=1)
    assert measured.requests <= 300
    assert measured.units == 3 or measured.stopped.startswith("its budget of 1 s is spent")


def quoted(pattern: str) -> list[str]:
    """What stands in `backticks` in the skills and fits."""
    return sorted({m for text in SKILLS.values() for m in re.findall(r"`([^`\n]+)`", text) if re.match(pattern, m)})


def test_every_item_that_a_skill_shows_is_one():
    items = quoted(r"(holding|input|coil|discrete) \d|40001|400001")
    assert len(items) > 12
    assert [item for item in items if not grammar.point(item).address] == []


def test_every_url_that_a_skill_shows_is_one():
    urls = quoted(r"modbus")
    assert urls
    assert [endpoint.parse(url).unit for url in urls] == [1] * len(urls)


@pytest.mark.parametrize(
    ("registers", "item", "value"),
    [
        ([820], "holding 0 uint16 x0.1 °C", 82.0),
        ([1250], "holding 0 uint16 x0.1 -100 °C", 25.0),
        ([65_486], "holding 0 int16", -50),
        ([0x1234], "holding 0 bcd16", 1234),
        ([0x0000, 0x4142], "holding 0 float32 DCBA", 48.25),
        ([0x0000, 0x4142], "holding 0 float32 CDAB", 12.125),
        ([0x4366, 0x8000], "holding 0 float32 ABCD", 230.5),
        ([0xFFFF], "holding 0 int16 x0.1", -0.1),
    ],
)
async def test_the_worked_figures_of_the_skills_are_what_is_read(registers: list[int], item: str, value: float):
    async with pymodbus_device({0: registers}) as url:
        assert [r.value for r in await read(f"{url}/7", item)] == [value]
