"""The maps, and the document that describes one of them."""

import csv
from pathlib import Path

import pytest
from oasis_modbus.simulator.cells import Cell
from oasis_modbus.simulator.maps import BOILER, NEIGHBOUR, PUMPS

DOCUMENT = Path(__file__).parents[4] / "fixtures" / "boiler" / "docs" / "boiler.csv"
TYPES = {"float": "float32", "bit": "uint16"}


def documented() -> list[dict[str, str]]:
    with DOCUMENT.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter=";"))


@pytest.mark.parametrize("row", documented(), ids=lambda row: row["point"])
def test_what_the_document_says_of_the_boiler_is_true(row: dict[str, str]):
    cells = {(cell.table, cell.address): cell for cell in BOILER}
    cell = cells[row["table"], int(row["address"])]
    assert cell.type == TYPES.get(row["type"], row["type"])
    if row["scale"]:
        assert cell.scale == float(row["scale"])


@pytest.mark.parametrize("cells", [BOILER, PUMPS, NEIGHBOUR], ids=["boiler", "pumps", "neighbour"])
def test_no_two_cells_share_a_register(cells: tuple[Cell, ...]):
    taken = [(cell.table, cell.address + offset) for cell in cells for offset in range(cell.registers)]
    assert len(taken) == len(set(taken))


def test_tags_of_the_site_file_have_a_name_each():
    tags = [cell.tag for cell in (*BOILER, *PUMPS, *NEIGHBOUR) if cell.tag]
    assert len(tags) == len(set(tags))
