"""`oasis plant compare`: what was saved as found, against the simulated plant as it is."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.plant_command import plant
from tests.lab.threaded import Place, boiler


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Place]:
    with boiler(tmp_path) as place:
        yield place


@pytest.fixture
def as_found(lab: Place, tmp_path: Path) -> Path:
    path = tmp_path / "as-found.json"
    items = ("holding 0-3", "input 2 float32 CDAB m3/h", "holding 100-123 string")
    plant("read", "--site", lab.site, "set_point", "feed_flow", f"{lab.url}/1", *items, "--save", path)
    return path


def test_what_was_saved_is_what_is_printed_and_is_not_written_over(lab: Place, tmp_path: Path):
    path = tmp_path / "saved.json"
    assert plant("read", f"{lab.url}/1", "holding 0", "--save", path).out == path.read_text()
    again = plant("read", f"{lab.url}/2", "holding 0", "--save", path)
    assert (again.code, again.out) == (1, "")
    assert "exists and is left as it is" in again.error


def test_what_is_as_it_was_saved_is_no_difference(as_found: Path):
    done = plant("compare", as_found)
    assert (done.code, done.json["same"], done.json["different"]) == (0, 8, [])
    assert done.json["seen"]


def test_what_is_another_value_now_is_said_with_both(lab: Place, as_found: Path):
    lab.run.plant.boiler.set_point = 75.0
    done = plant("compare", as_found)
    (tag, register) = done.json["different"]
    assert done.code == 3
    assert (tag["tag"], tag["was"], tag["now"], tag["unit"]) == ("set_point", 82.0, 75.0, "degC")
    assert (register["address"], register["was"], register["now"]) == ("holding 0", 820, 750)
    shown = plant("compare", as_found, "--table").out
    assert any(line.split() == ["set_point", "82", "75", "degC"] for line in shown.splitlines())
    assert "2 of 8 read otherwise than saved at 2" in shown


def test_a_device_that_is_away_now_is_a_difference_of_all_its_points(lab: Place, as_found: Path):
    as_found.write_text(as_found.read_text().replace(lab.url, "modbus://127.0.0.1:1"))
    done = plant("compare", as_found)
    assert (done.code, len(done.json["different"])) == (3, 8)
    assert "127.0.0.1:1" in done.json["different"][0]["status"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("nothing", "it is no JSON"),
        ("[]", "it has no readings"),
        ('{"readings": [5]}', "reading 1 is none"),
        ('{"readings": [{"url": "modbus://h/1"}]}', "lacks its url or address"),
        ('{"readings": [{"url": "modbus://h/1", "address": "coil 0", "value": []}]}', "the value of reading 1 is none"),
        ('{"readings": [{"url": "modbus://h/1", "address": "\\u001b[2J", "value": 1}]}', "names no table"),
        ('{"readings": [{"url": "modbus://h/1", "address": "coil 0", "scale": 1e400}]}', "or its scale or offset"),
    ],
)
def test_a_file_that_holds_no_saved_readings_is_said(tmp_path: Path, text: str, said: str):
    path = tmp_path / "x.json"
    path.write_text(text)
    done = plant("compare", path)
    assert (done.code, said in done.error) == (1, True), done.error
