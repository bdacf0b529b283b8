"""OPC UA for Oasis: servers browsed, read, watched, called and written."""

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from importlib.resources import files
from typing import Any

from oasis.plant.driver import Driver
from oasis.plant.pack import Pack, Station


def _driver(url: str) -> Driver:
    from oasis_opcua.driver import OpcUaDriver  # noqa: PLC0415

    return OpcUaDriver(url)


def _packaging_line(options: Mapping[str, Any]) -> AbstractAsyncContextManager[tuple[Station, ...]]:
    from oasis_opcua.simulator.stations import packaging_line  # noqa: PLC0415

    return packaging_line(options)


PACK = Pack(
    "opcua",
    {"opc.tcp": _driver},
    files(__name__).joinpath("words.md").read_text(encoding="utf-8").strip(),
    files(__name__) / "skills",
    {"packaging line": _packaging_line},
)
