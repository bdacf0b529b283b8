"""`oasis plant watch` against the simulated plant: changes, what is waited for, recordings."""

import csv
import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from oasis.cli.plant.until import Until
from oasis.plant.values import Point, Reading
from tests.cli.plant_command import plant
from tests.lab.threaded import Place, boiler


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Place]:
    with boiler(tmp_path) as place:
        yield place


def recorded(path: Path) -> list[list[str]]:
    with path.open(newline="") as file:
        return list(csv.reader(file))


def test_watching_gives_first_values_and_then_changes(tmp_path: Path):
    with boiler(tmp_path, speed=100) as lab:
        seen = plant("watch", "--site", lab.site, "water", "high_trip", "--seconds", 1.5, "--interval", 0.1).lines
    tags = [row["tag"] for row in seen]
    water = [row["value"] for row in seen if row["tag"] == "water"]
    assert tags[:2] == ["water", "high_trip"]
    assert tags.count("high_trip") == 1
    assert len(water) >= 2
    assert all(one != other for one, other in itertools.pairwise(water))
    assert all(row["v"] == 1 and row["seen"] for row in seen)


def test_a_recording_has_a_column_for_each_point_with_its_unit(tmp_path: Path):
    path = tmp_path / "run.csv"
    with boiler(tmp_path, speed=100) as lab:
        done = plant(
            *("watch", "--site", lab.site, "water", "feed_flow", "--seconds", 1.5, "--interval", 0.1, "--csv", path)
        )
    header, *rows = recorded(path)
    assert header == ["time", "water [degC]", "feed_flow [m3/h]", "not good"]
    assert len(rows) >= 2
    assert all(float(row[1]) > 70 and float(row[2]) > 1 and row[3] == "" for row in rows)
    assert f"{len(rows)} rows are in" in done.error


def test_a_recording_says_which_values_are_not_good(lab: Place, tmp_path: Path):
    path = tmp_path / "run.csv"
    plant("watch", f"{lab.url}/1", "holding 3", "holding 4", "--seconds", 0.1, "--csv", path)
    _, row = recorded(path)
    assert row[1:3] == ["1", ""]
    assert row[3].startswith("holding 4: ")


def test_watching_ends_when_what_is_waited_for_is_so(tmp_path: Path):
    with boiler(tmp_path, speed=100) as lab:
        arguments = ("watch", "--site", lab.site, "water", "flame", "--interval", 0.1, "--seconds", 60)
        done = plant(*arguments, "--until", "water > 79.0")
    assert done.code == 0
    assert done.lines[-1]["tag"] == "water"
    assert done.lines[-1]["value"] > 79.0


@pytest.mark.parametrize(
    ("condition", "code", "said"),
    [
        ("set_point = 81", 3, ""),
        ("set_pont = 82", 1, "Did you mean `set_point`"),
        ("set_point", 2, "is no condition"),
        ("set_point > high", 2, "neither more nor less"),
    ],
)
def test_what_is_waited_for_in_vain_or_cannot_be_meant_is_told_apart(lab: Place, condition: str, code: int, said: str):
    done = plant("watch", "--site", lab.site, "set_point", "--seconds", 0.1, "--until", condition)
    assert (done.code, said in " ".join(done.error.split())) == (code, True), done.error


@pytest.mark.parametrize(
    ("condition", "value", "is_met"),
    [
        ("p>5", 6, True),
        ("p >= 5.5", 5.4, False),
        ("p != 5", 5, False),
        ("p = on", True, True),
        ("p = 1", True, True),
        ("p = off", True, False),
        ("p = on", 1, True),
        ("p == OP", "OP", True),
        ("p > 5", "6", False),
        ("p < 5", None, False),
        ("q > 5", 6, False),
    ],
)
def test_a_condition_is_met_by_a_good_value_of_its_point(condition: str, value: object, is_met: bool):
    assert Until.of(condition).is_met(Reading(Point("p"), value)) == is_met  # type: ignore[arg-type]


def test_what_answers_is_watched_on_where_another_device_is_lost(lab: Place, tmp_path: Path):
    path = tmp_path / "run.csv"
    arguments = ("modbus://127.0.0.1:1/1", "holding 0 V", f"{lab.url}/1", "holding 0")
    done = plant("watch", *arguments, "--seconds", 0.3, "--interval", 0.1, "--csv", path)
    shown = {row["url"]: (row["value"], row["status"]) for row in done.lines}
    assert done.code == 3
    assert shown[f"{lab.url}/1"] == (820, "good")
    assert "127.0.0.1:1" in shown["modbus://127.0.0.1:1/1"][1]
    header, row = recorded(path)
    column = [name.endswith("modbus://127.0.0.1:1/1 holding 0 [V]") for name in header]
    assert (sum(column), row[column.index(True)]) == (1, "")
    assert "No connection" in row[-1]


def test_a_recording_has_a_column_for_a_device_that_is_slow_to_answer(tmp_path: Path):
    path = tmp_path / "run.csv"
    with boiler(tmp_path, neighbour_s=0.5) as lab:
        plant(
            *("watch", f"{lab.url}/1", "input 0", f"{lab.url}/17", "input 0", "holding 0"),
            *("--seconds", 0.9, "--interval", 0.1, "--csv", path),
        )
    header, row = recorded(path)[:2]
    assert header[1:-1] == [f"{lab.url}/1 input 0", f"{lab.url}/17 input 0", "holding 0"]
    assert "" not in row[1:-1] or row[-1]


def test_a_recording_is_never_written_over_another(lab: Place, tmp_path: Path):
    path = tmp_path / "run.csv"
    path.write_text("mine")
    done = plant("watch", f"{lab.url}/1", "holding 0", "--seconds", 0.1, "--csv", path)
    assert (done.code, path.read_text()) == (1, "mine")
    assert "exists and is left as it is" in done.error


def test_a_device_s_text_in_a_recording_is_no_formula(lab: Place, tmp_path: Path):
    path = tmp_path / "run.csv"
    lab.run.plant.boiler.location = '=HYPERLINK("http://x")'
    plant("watch", f"{lab.url}/1", "holding 100-123 string", "--seconds", 0.1, "--csv", path)
    _, row = recorded(path)
    assert row[1] == '\'=HYPERLINK("http://x")'
