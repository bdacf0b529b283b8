"""The line as the lab runs it."""

from pathlib import Path

import pytest
from oasis_opcua import PACK, keys
from oasis_opcua.simulator.stations import FAULTS, chosen, packaging_line

from oasis.errors import ConfigError, ToolFault
from oasis.plant.connections import Connections
from oasis.plant.site_file import load


async def test_a_station_comes_with_a_piece_of_a_site_file_that_loads_and_reads(tmp_path: Path):
    async with packaging_line({"faults": ["forwarded"]}) as stations:
        open_end, secure = stations
        assert secure.url == f"{open_end.url}?security=Basic256Sha256"
        assert "trust it" in secure.words
        path = tmp_path / "plant.toml"
        path.write_text(f'[site]\nname = "lab"\n\n{open_end.site}', encoding="utf-8")
        connections = Connections([PACK])
        site = load(path, connections.open)
        driver = connections.open(open_end.url)
        readings = await driver.read([tag.point for tag in site.tags.values()])
        await connections.close()
    assert [reading.status for reading in readings] == ["good"] * len(site.tags)
    assert {name for name, tag in site.tags.items() if tag.is_writable} == {
        "belt_speed_setpoint", "sealer_setpoint", "line_start", "line_stop",
    }  # fmt: skip


def test_a_fault_that_there_is_none_of_is_refused_with_those_that_are():
    with pytest.raises(ConfigError, match=r"no fault 'slow'. There are: unlimited, untrusting, forwarded"):
        chosen(["slow"])


@pytest.mark.parametrize("name", FAULTS)
def test_each_fault_is_chosen_by_its_name(name: str):
    faults = chosen([name])
    assert [field for field in FAULTS if getattr(faults, field.replace("-", "_"))] == [name]


async def test_with_all_faults_further_lines_have_them_and_the_plain_one_has_none():
    async with packaging_line({"faults": True, "speed": 0}) as stations:
        named = {station.name: station for station in stations}
        connections = Connections([PACK])
        assert list(named) == [
            "packaging line", "packaging line, secure", "packaging line, guarded", "packaging line, restarted",
        ]  # fmt: skip
        assert named["packaging line, guarded"].words.endswith(str(keys.folder() / "simulator" / "trusted"))
        assert keys.trusted().is_dir()
        with pytest.raises(ToolFault, match="takes no Anonymous session"):
            await connections.open(named["packaging line, guarded"].url).identity()
        assert "build 119" in await connections.open(named["packaging line, restarted"].url).identity()
        assert "build 118" in await connections.open(named["packaging line"].url).identity()
        await connections.close()
