"""Which device is meant: `modbus://host:port/unit`."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from oasis.errors import ToolFault

PORT = 502
FORM = "Write modbus://host:port/unit, such as modbus://192.168.0.10:502/1."


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One unit behind a Modbus TCP server. Units are 0 to 255 (Modbus Messaging on TCP/IP V1.0b, 4.4.1.2)."""

    host: str
    port: int
    unit: int

    def __str__(self) -> str:
        return f"{self.host}:{self.port} unit {self.unit}"


def parse(url: str) -> Endpoint:
    """The endpoint that `url` names. Raises ToolFault; a unit is never assumed."""
    try:
        parts = urlsplit(url.strip())
        host, port = parts.hostname, parts.port
    except ValueError as fault:
        raise ToolFault(f"{url[:100]} is not a Modbus address: {fault}. {FORM}") from fault
    if parts.scheme not in ("modbus", "modbus+tcp") or not host:
        raise ToolFault(f"{url[:100]} is not a Modbus address. {FORM}")
    unit = parts.path.strip("/")
    if not unit:
        raise ToolFault(
            f"{url[:100]} names no unit, and none is assumed. {FORM} A device with its own network port often answers "
            "to 1 or 255, one behind a gateway to the number set on it; ask the engineer."
        )
    if not (unit.isascii() and unit.isdigit() and int(unit) <= 255):
        raise ToolFault(f"Unit {unit[:20]!r} is not a number from 0 to 255. {FORM}")
    return Endpoint(host, port or PORT, int(unit))
