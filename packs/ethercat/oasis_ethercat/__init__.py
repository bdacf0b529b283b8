"""EtherCAT for Oasis: scan, read and, under a site file, drive a segment of slaves."""

from importlib.resources import files

from oasis.plant.driver import Driver
from oasis.plant.pack import Pack

_HERE = files(__name__)


def _driver(url: str) -> Driver:
    from oasis_ethercat.driver import EthercatDriver  # noqa: PLC0415

    return EthercatDriver(url)


PACK = Pack(
    "ethercat",
    {"ethercat": _driver},
    _HERE.joinpath("words.md").read_text(encoding="utf-8").strip(),
    _HERE / "skills",
)
