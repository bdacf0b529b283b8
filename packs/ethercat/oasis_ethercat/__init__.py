"""EtherCAT for Oasis: scan, read and, under a site file, drive a segment of slaves."""

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from importlib.resources import files
from typing import Any

from oasis.plant.driver import Driver
from oasis.plant.pack import Pack, Station

_HERE = files(__name__)


def _driver(url: str) -> Driver:
    from oasis_ethercat.driver import EthercatDriver  # noqa: PLC0415

    return EthercatDriver(url)


def _segment(options: Mapping[str, Any]) -> AbstractAsyncContextManager[tuple[Station, ...]]:
    from oasis_ethercat.simulator.stations import segment  # noqa: PLC0415

    return segment(options)


PACK = Pack(
    "ethercat",
    {"ethercat": _driver},
    _HERE.joinpath("words.md").read_text(encoding="utf-8").strip(),
    _HERE / "skills",
    {"segment": _segment},
)
