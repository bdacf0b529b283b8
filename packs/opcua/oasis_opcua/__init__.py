"""OPC UA for Oasis: browse, read, watch, history, alarms, methods and typed writes."""

from importlib.resources import files

from oasis.plant.driver import Driver
from oasis.plant.pack import Pack

_HERE = files(__name__)


def _driver(url: str) -> Driver:
    from oasis_opcua.driver import OpcUaDriver  # noqa: PLC0415

    return OpcUaDriver(url)


PACK = Pack(
    name="opcua",
    drivers={"opc.tcp": _driver},
    words=(_HERE / "words.md").read_text(encoding="utf-8").strip(),
    skills=_HERE / "skills",
)
