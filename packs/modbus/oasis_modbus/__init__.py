"""Modbus for Oasis: devices over TCP, TLS and serial lines, scanned, read, watched and written."""

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from importlib.resources import files
from typing import Any

from oasis.plant.driver import Driver
from oasis.plant.pack import Pack, Station


def _driver(url: str) -> Driver:
    from oasis_modbus.driver import ModbusDriver  # noqa: PLC0415

    return ModbusDriver(url)


def _boiler(options: Mapping[str, Any]) -> AbstractAsyncContextManager[tuple[Station, ...]]:
    from oasis_modbus.simulator.stations import boiler  # noqa: PLC0415

    return boiler(options)


PACK = Pack(
    "modbus",
    dict.fromkeys(("modbus", "modbus+tcp", "modbus+rtu", "modbus+rtutcp", "modbus+tls"), _driver),
    files(__name__).joinpath("words.md").read_text(encoding="utf-8").strip(),
    files(__name__) / "skills",
    {"boiler": _boiler},
)
