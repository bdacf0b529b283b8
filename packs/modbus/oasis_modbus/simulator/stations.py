"""The simulated devices together: on Modbus TCP, on RTU over TCP, and on a serial line where there are terminals."""

import time
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from oasis.plant.pack import Station
from oasis_modbus.identify import spelled_out
from oasis_modbus.simulator import faults as faulting
from oasis_modbus.simulator import maps, rtu, tcp
from oasis_modbus.simulator.bus import Bus
from oasis_modbus.simulator.cells import Map
from oasis_modbus.simulator.faults import FAULTS, Faults
from oasis_modbus.simulator.process import Boiler, Plant
from oasis_modbus.simulator.site import site_piece
from oasis_modbus.simulator.unit import Unit
from oasis_modbus.simulator.witness import Witness

PORT, SERIAL_PORT = 5020, 5021
"""Where the devices are with `fixed_ports`: on Modbus TCP, and with serial frames over TCP."""
BOILER, PUMPS, NEIGHBOUR = 1, 2, 17
NEIGHBOUR_S = 0.4
"""How long the neighbour takes to answer."""
_BOILER_IS = MappingProxyType(
    {0: "Oasis simulators", 1: "BK-200", 2: "1.4", 4: "Boiler", 5: "Hot water boiler 200 kW", 6: "Boiler house 1"}
)
_OTHER_IS = MappingProxyType({**_BOILER_IS, 1: "BK-300", 2: "2.0"})
_PUMPS_ARE = MappingProxyType({0: "Oasis simulators", 1: "PS-2", 2: "3.1", 4: "Pump station"})


@dataclass(frozen=True, slots=True)
class Running:
    """What runs. `stations` say where; tests look at `witness`, `plant` and switch `faults` on and off."""

    stations: tuple[Station, ...]
    witness: Witness
    faults: Faults
    plant: Plant


@asynccontextmanager
async def boiler(options: Mapping[str, Any]) -> AsyncGenerator[tuple[Station, ...], None]:
    """The pack's simulator.

    Options: `faults` (True, or names as NAME or NAME@UNIT), `speed` (1.0; 0 holds the process still), `fixed_ports`
    (else free ones), and for tests `clock` (seconds), `neighbour_s`, `slow_s`. Raises ConfigError.
    """
    async with running(options) as run:
        yield run.stations


@asynccontextmanager
async def running(options: Mapping[str, Any]) -> AsyncGenerator[Running, None]:
    """The same with what can be seen and changed from within the process."""
    faults, faulty = faulting.chosen(options.get("faults"))
    clock: Callable[[], float] = options.get("clock", time.monotonic)
    plant = Plant(clock, float(options.get("speed", 1.0)), faulty={number: Boiler() for number in faulty})
    witness = Witness()
    units = _units(plant, faults, witness, float(options.get("neighbour_s", NEIGHBOUR_S)))
    slow_s = float(options.get("slow_s", faulting.SLOW_S))

    def bus() -> Bus:
        return Bus(units, faults, witness, plant.catch_up, time.monotonic, slow_s)

    async with AsyncExitStack() as stack:
        port = await stack.enter_async_context(tcp.listening(bus(), PORT if options.get("fixed_ports") else 0))
        stations = list(_stations(units, faulty, f"modbus://{tcp.LOOPBACK}:{port}"))
        ports = tcp.listening(bus(), SERIAL_PORT if options.get("fixed_ports") else 0, has_rtu_frames=True)
        port = await stack.enter_async_context(ports)
        words = "the same units with serial frames over TCP"
        stations.append(Station("serial server", f"modbus+rtutcp://{tcp.LOOPBACK}:{port}/{BOILER}", words))
        if rtu.has_terminals():
            path = await stack.enter_async_context(rtu.line(bus()))
            words = f"the same units on a serial line: units {BOILER}, {PUMPS} and {NEIGHBOUR}"
            stations.append(Station("serial line", f"modbus+rtu://{path}?baud=19200&parity=N&unit={BOILER}", words))
        else:
            stations.append(Station("serial line", "", "not simulated: this system has no pseudo terminals"))
        yield Running(tuple(stations), witness, faults, plant)


def _units(plant: Plant, faults: Faults, witness: Witness, neighbour_s: float) -> dict[int, Unit]:
    def boiler_unit(number: int, process: Boiler) -> Unit:
        def instead(name: str) -> str | None:
            if name != "location":
                return None
            if faults.has("text", number):
                return faulting.HOSTILE
            return faulting.ESCAPE if faults.has("escape", number) else None

        def identity() -> Mapping[int, str]:
            return _OTHER_IS if faults.has("identity", number) else _BOILER_IS

        return Unit(number, Map(process, maps.BOILER, instead), identity, witness)

    return {
        BOILER: boiler_unit(BOILER, plant.boiler),
        PUMPS: Unit(PUMPS, Map(plant.pumps, maps.PUMPS), lambda: _PUMPS_ARE, witness),
        NEIGHBOUR: Unit(NEIGHBOUR, Map(plant.neighbour, maps.NEIGHBOUR), dict, witness, neighbour_s),
        **{number: boiler_unit(number, process) for number, process in plant.faulty.items()},
    }


def _stations(units: Mapping[int, Unit], faulty: Mapping[int, str], url: str) -> list[Station]:
    said = {
        BOILER: ("boiler", "a hot water boiler, documented in docs/boiler.csv"),
        PUMPS: ("pump station", "two pumps and a tank; nobody wrote down its registers"),
        NEIGHBOUR: ("neighbour", "an old energy meter that takes its time"),
        **{number: (f"fault {name}", FAULTS[name]) for number, name in faulty.items()},
    }
    return [
        Station(name, f"{url}/{number}", words, _piece(name, f"{url}/{number}", units[number], number in faulty))
        for number, (name, words) in said.items()
    ]


def _piece(name: str, url: str, unit: Unit, is_faulty: bool) -> str:
    """A station's piece of the site file; of the units with faults only the set point."""
    cells = unit.map.cells
    if is_faulty:
        prefix = name.replace(" ", "_").replace("-", "_")
        cells = tuple(cell for cell in cells if cell.tag == "set_point")
        return site_piece(name, url, cells, spelled_out(dict(_BOILER_IS)), f"{prefix}_")
    return site_piece(name, url, cells, spelled_out(dict(unit.identity())))
