"""`oasis plant scan|read|browse|packs` against the simulated plant."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest
from oasis_modbus.simulator.rtu import has_terminals

from tests.cli.plant_command import plant
from tests.lab.threaded import Place, boiler

CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Place]:
    with boiler(tmp_path) as place:
        yield place


def test_a_scan_says_what_can_be_read(lab: Place):
    done = plant("scan", f"{lab.url}/2")
    found = {row["item"] for row in done.json["found"]}
    assert found >= {"function 43", "holding 0-1", "input 0-9", "input 12-13", "discrete 0-3", "coil 0-1"}
    assert (done.code, done.json["stopped"]) == (0, None)
    assert done.json["requests"] <= 600


def test_a_scan_that_its_budget_stopped_says_so_and_exits_3(lab: Place):
    done = plant("scan", f"{lab.url}/1", "--requests", 5)
    assert done.code == 3
    assert "5 requests" in done.json["stopped"]


def test_a_scan_as_a_table_names_ranges_and_what_it_cost(lab: Place):
    done = plant("scan", f"{lab.url}/1", "--table")
    assert "holding 0-3" in done.out
    assert "Whole." in done.out


def test_a_reading_has_all_its_fields(lab: Place):
    done = plant("read", f"{lab.url}/1", "input 0 uint16 x0.1 degC")
    seen = done.json["seen"]
    assert datetime.fromisoformat(seen).tzinfo is not None
    assert done.json == {
        "v": 1,
        "seen": seen,
        "readings": [
            {
                "url": f"{lab.url}/1",
                "tag": None,
                "address": "input 0",
                "value": 78.3,
                "unit": "degC",
                "type": "uint16",
                "order": None,
                "scale": 0.1,
                "offset": 0.0,
                "status": "good",
                "raw": "030F",
                "where": "FC04 wire 0, 30001",
                "at": None,
                "more": [],
            }
        ],
    }


def test_items_belong_to_the_url_before_them(lab: Place):
    done = plant("read", f"{lab.url}/1", "holding 0", f"{lab.url}/2", "holding 0")
    assert [(r["url"][-2:], r["value"]) for r in done.json["readings"]] == [("/1", 820), ("/2", 700)]


def test_tags_are_read_by_name_and_all_of_them_without_one(lab: Place):
    done = plant("read", "--site", lab.site, "water", "pump_1_speed")
    assert [(r["tag"], r["value"], r["unit"]) for r in done.json["readings"]] == [
        ("water", 78.3, "degC"),
        ("pump_1_speed", 70.0, "%"),
    ]
    every = {r["tag"]: r["value"] for r in plant("read", "--site", lab.site).json["readings"]}
    assert every["feed_flow"] == pytest.approx(12.3)
    assert every["flue_gas"] == pytest.approx(164.5)
    assert every["burner_hours"] == 135195
    assert len(every) == lab.site.read_text().count("[tags.")


def test_what_does_not_read_stands_beside_what_does_and_exits_3(lab: Place):
    done = plant("read", f"{lab.url}/1", "holding 3-4")
    good, bad = done.json["readings"]
    assert (done.code, good["value"], bad["value"]) == (3, 1, None)
    assert "0x02" in bad["status"]
    table = plant("read", f"{lab.url}/1", "holding 3-4", "--table")
    assert (table.code, "0x02" in table.out) == (3, True)


def test_serial_frames_over_tcp_are_read_like_any_other(lab: Place):
    (url,) = [station.url for station in lab.run.stations if station.name == "serial server"]
    done = plant("read", url, "holding 0-1", "input 2 float32 CDAB")
    assert [row["value"] for row in done.json["readings"]] == [820, 850, pytest.approx(12.3)]


@pytest.mark.skipif(not has_terminals(), reason="this system has no pseudo terminals")
def test_the_serial_line_is_read_like_any_other(lab: Place):
    pytest.importorskip("serial", reason="pyserial is not installed")
    done = plant("read", lab.run.stations[-1].url, "holding 0-1", "input 2 float32 CDAB")
    assert [row["value"] for row in done.json["readings"]] == [820, 850, pytest.approx(12.3)]


def test_a_device_that_is_away_does_not_hide_the_others(lab: Place):
    done = plant("read", "modbus://127.0.0.1:1/1", "holding 0", f"{lab.url}/1", "holding 0")
    away, there = done.json["readings"]
    assert (done.code, away["value"], there["value"]) == (3, None, 820)
    assert "127.0.0.1:1" in away["status"]


def test_a_table_names_where_each_value_was(lab: Place):
    out = plant("read", "--site", lab.site, "water", "--table").out
    row = next(line for line in out.splitlines() if line.startswith("water"))
    assert row.split() == ["water", "input", "0", "78.3", "degC", "030F", "FC04", "wire", "0,", "30001"]


def test_what_a_device_says_never_reaches_the_terminal_as_control(lab: Place):
    lab.run.faults.switch_on("escape")
    for arguments in (("read", "--table"), ("watch", "--table", "--seconds", 0.1), ("read", "--json")):
        done = plant(*arguments, f"{lab.url}/1", "holding 100-123 string")
        assert "Boiler" in done.out
        assert not CONTROL.search(done.out)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["water"], "no URL, and without --site FILE there are no tags"),
        (["can://x", "1"], "Addresses begin with: .*modbus://"),
        (["modbus://127.0.0.1:5/1"], "No item was given"),
        (["modbus://127.0.0.1:5/1", "hodling 3"], "names no table"),
        ([], "Nothing was named"),
    ],
)
def test_what_cannot_be_meant_is_said_in_words(arguments: list[str], said: str):
    done = plant("read", *arguments)
    assert done.code == 1
    assert re.search(said, done.error)


def test_a_tag_that_there_is_none_of_is_told_its_neighbours(lab: Place):
    done = plant("read", "--site", lab.site, "watr")
    assert done.code == 1
    assert "Did you mean `water`" in done.error


@pytest.mark.parametrize("command", ["read", "watch"])
def test_nothing_listening_is_said_in_words(command: str):
    done = plant(command, "modbus://127.0.0.1:1/1", "holding 0")
    assert done.code == 1
    assert "127.0.0.1:1" in done.error


def test_browsing_shows_what_a_device_holds_as_a_tree(lab: Place):
    done = plant("browse", f"{lab.url}/1", "--table")
    assert done.code == 0
    assert "holding 0-3" in done.out
    assert {row["item"] for row in plant("browse", f"{lab.url}/1").json["below"]} >= {"holding 0-3", "input 0-6"}


def test_an_output_that_lacks_a_character_shows_another(lab: Place):
    command = [sys.executable, "-m", "oasis.cli.main", "plant", "read", "--table", f"{lab.url}/1", "input 0 x0.1 °C"]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run(command, capture_output=True, env=environment, check=True)
    assert b"78.3 | ?C" in done.stdout


def test_browsing_goes_down_into_the_units_of_a_gateway(lab: Place):
    done = plant("browse", lab.url, "--depth", 2, "--requests", 5000)
    below = {row["item"]: [inner["item"] for inner in row["below"]] for row in done.json["below"]}
    assert list(below) == [f"{lab.url}/{unit}" for unit in (1, 2, 17)]
    assert "input 0-9" in below[f"{lab.url}/2"]


def test_the_packs_say_how_their_items_are_written():
    assert "holding 0-9" in plant("packs", "--table").out
    (modbus,) = [pack for pack in plant("packs").json["packs"] if pack["name"] == "modbus"]
    assert "modbus+rtu" in modbus["schemes"]
