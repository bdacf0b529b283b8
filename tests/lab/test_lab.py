"""The lab: real simulators started and ended together, and what it does with what is asked of it."""

import asyncio
import socket
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from importlib.metadata import EntryPoint
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from oasis_modbus.simulator import stations
from oasis_modbus.simulator.stations import boiler

from oasis.errors import ConfigError, ToolFault
from oasis.lab import lab as lab_file
from oasis.lab.lab import running
from oasis.lab.site import check_new, sample, write_new
from oasis.plant.pack import Pack, Simulator, Station

SKILLS = files("oasis")
MODBUS = Pack("modbus", {}, "", SKILLS, {"boiler": boiler})
STILL = {"speed": 0}


def pack(name: str, simulate: Simulator) -> Pack:
    return Pack(name, {}, "", SKILLS, {"it": simulate})


@asynccontextmanager
async def line(options: Mapping[str, Any]) -> AsyncGenerator[tuple[Station, ...], None]:
    yield (Station("line", "opc.tcp://x", f"big {options.get('big')}, nodeset {options.get('nodeset')}"),)


@asynccontextmanager
async def unable(options: Mapping[str, Any]) -> AsyncGenerator[tuple[Station, ...], None]:
    if options:
        raise ToolFault("No interface can be made here. Run it as root.")
    yield ()


@asynccontextmanager
async def without_library(options: Mapping[str, Any]) -> AsyncGenerator[tuple[Station, ...], None]:
    if options:
        raise ModuleNotFoundError("No module named 'asyncua'")
    yield ()


async def test_the_boiler_answers_while_the_lab_runs_and_not_after():
    async with running({"modbus": MODBUS}, STILL) as lab:
        url = lab.devices[0].station.url
        port = int(url.rpartition(":")[2].partition("/")[0])
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.close()
        await writer.wait_closed()
    with pytest.raises(OSError):
        await asyncio.open_connection("127.0.0.1", port)


async def test_packs_that_are_not_there_are_named_with_how_to_install_them(monkeypatch: pytest.MonkeyPatch):
    there = [EntryPoint("modbus", "oasis_modbus:PACK", "oasis.packs")]
    monkeypatch.setattr(lab_file, "entry_points", lambda group: there)
    async with running({"modbus": MODBUS}, STILL) as lab:
        assert lab.absent == (
            "opcua: not installed. pip install 'oasis-agent[opcua]'",
            "ethercat: not installed. pip install 'oasis-agent[ethercat]'",
        )


async def test_a_pack_whose_library_is_missing_is_named_with_how_to_install_it():
    async with running({"opcua": pack("opcua", without_library), "modbus": MODBUS}, STILL) as lab:
        said = "opcua: not started, a library is missing (No module named 'asyncua'). pip install 'oasis-agent[opcua]'"
        assert said in lab.absent
        assert lab.devices[0].station.name == "boiler"


async def test_a_simulator_that_cannot_start_does_not_keep_the_others_away():
    async with running({"ethercat": pack("ethercat", unable), "modbus": MODBUS}, STILL) as lab:
        assert "ethercat: not started. No interface can be made here. Run it as root." in lab.absent
        assert lab.devices[0].station.name == "boiler"


async def test_options_of_a_pack_reach_its_simulator():
    async with running({"opcua": pack("opcua", line)}, {}, {"big": True, "nodeset": "x.xml"}) as lab:
        assert lab.devices[0].station.words == "big True, nodeset x.xml"


async def test_an_option_that_no_simulator_knows_is_refused():
    with pytest.raises(ConfigError, match="No simulator has an option --huge"):
        async with running({"opcua": pack("opcua", line)}, {}, {"huge": True}):
            pass


async def test_a_fault_goes_to_the_pack_that_it_names():
    packs = {"modbus": MODBUS, "opcua": pack("opcua", line)}
    with pytest.raises(ConfigError, match="There is no fault 'rust'"):
        async with running(packs, STILL, faults=["modbus:rust"]):
            pass
    async with running(packs, STILL, faults=["modbus:busy@2"]):
        pass


@pytest.mark.parametrize(
    ("fault", "said"),
    [("busy", "'busy' does not say which pack. Packs here: modbus, opcua"), ("can:busy", "There is no pack 'can'")],
)
async def test_a_fault_without_its_pack_is_not_guessed(fault: str, said: str):
    with pytest.raises(ConfigError, match=said):
        async with running({"modbus": MODBUS, "opcua": pack("opcua", line)}, {}, faults=[fault]):
            pass


async def test_with_one_pack_a_fault_needs_no_prefix():
    async with running({"modbus": MODBUS}, STILL, faults=["busy@2"]) as lab:
        assert lab.devices


async def test_a_fixed_port_that_is_taken_is_said(monkeypatch: pytest.MonkeyPatch):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        monkeypatch.setattr(stations, "PORT", port)
        with pytest.raises(ConfigError, match=f"Port {port}"):
            async with running({"modbus": MODBUS}, {**STILL, "fixed_ports": True}):
                pass


async def test_the_lab_s_own_site_file_is_written_anew_with_the_ports_of_now(tmp_path: Path):
    path = tmp_path / "plant.toml"
    for _ in range(2):
        async with running({"modbus": MODBUS}, STILL) as lab:
            check_new(path)
            write_new(path, sample(lab.devices))
            assert f'url = "{lab.devices[0].station.url}"' in path.read_text()


@pytest.mark.parametrize("text", ["mine", "", "# The simulated plant"])
async def test_a_file_that_no_lab_wrote_is_left_as_it_is(tmp_path: Path, text: str):
    path = tmp_path / "plant.toml"
    path.write_text(text)
    with pytest.raises(ConfigError, match="no lab wrote it, and it is left as it is"):
        check_new(path)
    with pytest.raises(ConfigError, match="no lab wrote it, and it is left as it is"):
        write_new(path, "new")
    assert path.read_text() == text
