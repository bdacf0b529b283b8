"""`oasis plant site` and the lab's own site file: what is wrong with one, its tags, a first one from a scan."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.plant_command import plant
from tests.lab.threaded import Place, boiler


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Place]:
    with boiler(tmp_path) as place:
        yield place


def test_a_site_file_s_faults_come_with_their_lines(lab: Place):
    text = lab.site.read_text().replace("scale = 0.1\n", "scael = 0.1\n", 1)
    lab.site.write_text(text)
    line = next(n for n, said in enumerate(text.splitlines(), 1) if said.startswith("scael"))
    done = plant("site", "check", lab.site)
    errors = [finding for finding in done.json["findings"] if finding["is_error"]]
    assert (done.code, errors[0]["line"]) == (1, line)
    assert "Did you mean `scale`" in errors[0]["text"]
    assert f"line {line}: " in plant("site", "check", lab.site, "--table").out


def test_the_lab_s_own_site_file_can_be_used(lab: Place):
    done = plant("site", "check", lab.site)
    assert (done.code, [f for f in done.json["findings"] if f["is_error"]]) == (0, [])
    assert done.json["tags"] >= 20
    text = lab.site.read_text(encoding="utf-8")
    pumps = text[text.index("[endpoints.pump_station]") :]
    assert re.findall(r"^\[tags\.(\w+)\]", pumps, re.MULTILINE) == ["pump_2_start", "pump_1_speed", "pump_2_speed"]


def test_what_moves_pump_2_needs_nobody_asked(lab: Place):
    for tag, value in (("pump_2_start", "true"), ("pump_2_speed", 25)):
        assert plant("write", tag, value, "--site", lab.site, "--yes").json["effect"] == "written"
    lab.run.plant.pumps.step(60)
    assert lab.run.plant.pumps.flow_2 > 1.0


def test_a_new_site_file_is_made_from_what_a_scan_finds(lab: Place, tmp_path: Path):
    path = tmp_path / "new.toml"
    assert plant("site", "new", f"{lab.url}/2", "--scan", "--out", path).code == 0
    text = path.read_text(encoding="utf-8")
    assert 'identity = "vendor \\"Oasis simulators\\" product \\"PS-2\\"' in text
    assert re.search(r"^# 700; FC03 wire 0, 40001.*\n\[tags.holding_0\]$", text, re.MULTILINE)
    assert plant("site", "check", path).json["findings"] == []
    assert plant("read", "--site", path, "holding_0").json["readings"][0]["value"] == 700
    again = plant("site", "new", f"{lab.url}/2", "--scan", "--out", path)
    assert (again.code, path.read_text(encoding="utf-8")) == (1, text)
    assert lab.run.witness.writes == []


def test_the_tags_of_a_site_file_are_listed_in_each_form(lab: Place):
    tags = {tag["tag"]: tag for tag in plant("site", "list", lab.site).json["tags"]}
    speed = tags["pump_2_speed"]
    assert (speed["address"], speed["unit"], speed["write"], speed["max"], speed["max_step"]) == (
        "holding 1",
        "%",
        True,
        100,
        25,
    )
    (row,) = [line for line in plant("site", "list", lab.site, "--csv").out.splitlines() if line.startswith("water,")]
    assert row == f"water,boiler,input 0,uint16,,0.1,,degC,,,,,,,,,{lab.url}/1"
    assert plant("site", "list", lab.site, "--markdown").out.startswith("| Tag | Endpoint | Address |")
    assert "20 to 95 degC, at" in plant("site", "list", lab.site, "--table").out


def test_a_new_site_file_can_be_used_and_allows_no_write(lab: Place, tmp_path: Path):
    items = ("holding 0 uint16 x0.1 degC", "holding 0-3", "input 2 float32 CDAB m3/h", "coil 0", "input 20-35 string")
    path = tmp_path / "new.toml"
    arguments = (f"{lab.url}/1", *items, f"{lab.url}/2", "input 4 uint16 x0.025 %")
    plant("site", "new", *arguments, "--out", path)
    assert path.read_text(encoding="utf-8") == plant("site", "new", *arguments).out
    assert plant("site", "check", path).json["findings"] == []
    values = {r["tag"]: r["value"] for r in plant("read", "--site", path, "holding_0", "input_4").json["readings"]}
    assert values == {"holding_0": 82.0, "input_4": 61.5}
    refused = plant("write", "holding_0", 80, "--site", path, "--yes")
    assert "not to be written" in refused.error
    assert lab.run.witness.writes == []
