"""The commissioning sheet: as found, as left, by whom, and how each tag's last write ended."""

from pathlib import Path

import pytest

from oasis.plant.audit_report import HEADINGS, WRITES, report, single_writes
from oasis.plant.driver import Effect
from oasis.plant.sheet import as_markdown
from tests.plant.device import Memory
from tests.plant.plants import CELLS, Desk, memory_desk


@pytest.fixture
async def desk(tmp_path: Path) -> Desk:
    memory = Memory()
    desk = memory_desk(tmp_path, memory)
    await desk.write("set_point", 75)
    desk.clock.seconds += 90
    await desk.write("set_point", 80)
    memory.effect = Effect.UNKNOWN
    await desk.write("flow", 12.5)
    await desk.writer.plan("pump", False)
    return desk


async def test_a_tag_has_a_row_from_its_first_before_to_its_last_read_back(desk: Desk):
    rows = [dict(zip(HEADINGS, row.cells, strict=True)) for row in report(desk.path)]
    first = {"Tag": "set_point", "Endpoint": "mem://boiler", "Address": "cell sp", "As found": "70", "As left": "80"}
    first |= {"Unit": "°C", "Writes": "2", "Last outcome": "written", "By": "Ada"}
    assert rows[0] == first | {"First": "2026-03-14T09:00:00.000+00:00", "Last": "2026-03-14T09:01:30.000+00:00"}
    assert (rows[1]["Tag"], rows[1]["As left"], rows[1]["Last outcome"]) == ("flow", "10", "UNKNOWN")
    assert len(rows) == 2


async def test_each_write_is_listed_with_what_takes_it_back(desk: Desk):
    rows = [dict(zip(WRITES, cells, strict=True)) for cells in single_writes(desk.path)]
    assert [(row["Tag"], row["Before"], row["After"], row["Outcome"]) for row in rows] == [
        ("set_point", "70", "75", "written"),
        ("set_point", "75", "80", "written"),
        ("flow", "10", "12.5", "UNKNOWN"),
    ]
    assert (await desk.writer.revert(rows[2]["Write"])).after == 10.0


async def test_a_value_has_the_digits_of_its_type(tmp_path: Path):
    memory = Memory(dict(CELLS, flow=12.100000381469727))
    desk = memory_desk(tmp_path, memory)
    await desk.write("flow", 12.5)
    assert [row.cells[3:5] for row in report(desk.path)] == [("12.1", "12.5")]


async def test_the_sheet_is_a_markdown_table(desk: Desk):
    lines = as_markdown(HEADINGS, [row.cells for row in report(desk.path)]).splitlines()
    assert lines[0].startswith("| Tag | Endpoint | Address | As found | As left | Unit | Writes |")
    assert lines[2].startswith("| set\\_point | mem://boiler | cell sp | 70 | 80 | °C | 2 | written | Ada |")
    assert {line.count("|") for line in lines} == {len(HEADINGS) + 1}
