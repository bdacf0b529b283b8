"""Which device is meant: a Modbus URL, checked and canonical."""

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Self
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlsplit

from oasis.errors import ToolFault

SCHEMES = ("modbus", "modbus+tcp", "modbus+rtu", "modbus+rtutcp", "modbus+tls")
FORMS = (
    "Write modbus://HOST[:502]/UNIT (TCP), modbus+rtu:///dev/ttyUSB0?baud=19200&parity=E&stop=1&unit=3 (serial; "
    "modbus+rtu:///COM3 on Windows), modbus+rtutcp://HOST:PORT/UNIT (serial frames over TCP) or "
    "modbus+tls://HOST[:802]/UNIT?ca=FILE."
)
_PORTS = {"modbus": 502, "modbus+rtutcp": 502, "modbus+tls": 802}
_KEYS = {
    "modbus": ("timeout",),
    "modbus+rtutcp": ("timeout",),
    "modbus+tls": ("ca", "cert", "key", "name", "timeout"),
    "modbus+rtu": ("baud", "parity", "bits", "stop", "unit", "timeout"),
}
_TIMEOUT_S = {"modbus+rtu": 1.0}
_SHOWN = 100


@dataclass(frozen=True, slots=True)
class Line:
    """Settings of a serial port. Modbus over Serial Line V1.02, 2.5.1: 8 bits, even parity, 1 stop (or none and 2)."""

    baud: int = 19_200
    parity: str = "E"
    bits: int = 8
    stop: int = 1

    @property
    def byte_s(self) -> float:
        """Seconds that one byte takes on the wire."""
        return (1 + self.bits + (self.parity != "N") + self.stop) / self.baud


@dataclass(frozen=True, slots=True)
class Tls:
    """Certificates, as files: `ca` signed the device's, `cert` and `key` are ours. `name` is what the device's says."""

    ca: str = ""
    cert: str = ""
    key: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One unit, or with `unit` None a whole gateway or bus. `host` is the device file or port name of a serial line."""

    scheme: str
    host: str
    port: int = 0
    unit: int | None = None
    timeout_s: float = 3.0
    line: Line = Line()
    tls: Tls = Tls()

    @property
    def is_serial(self) -> bool:
        return self.scheme == "modbus+rtu"

    @property
    def has_rtu_frames(self) -> bool:
        return self.scheme in ("modbus+rtu", "modbus+rtutcp")

    @property
    def gateway(self) -> str:
        """What is asked one request at a time: the port of a host, or a serial line."""
        return self.host if self.is_serial else f"{_bracketed(self.host)}:{self.port}"

    @property
    def url(self) -> str:
        query = "&".join(f"{key}={quote(value, safe='/:')}" for key, value in self._query().items())
        where = "/" + self.host.lstrip("/") if self.is_serial else self.gateway
        unit = "" if self.is_serial or self.unit is None else f"/{self.unit}"
        return f"{self.scheme}://{quote(where, safe='/:[]')}{unit}{'?' if query else ''}{query}"

    def __str__(self) -> str:
        return self.gateway if self.unit is None else f"{self.gateway} unit {self.unit}"

    def with_unit(self, unit: int) -> Self:
        return replace(self, unit=unit)

    def _query(self) -> dict[str, str]:
        said: dict[str, str] = {}
        if self.is_serial:
            said |= {"baud": str(self.line.baud), "parity": self.line.parity, "stop": str(self.line.stop)}
            said |= {"bits": "7"} if self.line.bits == 7 else {}
            said |= {"unit": str(self.unit)} if self.unit is not None else {}
        tls = self.tls
        said |= {k: v for k, v in (("ca", tls.ca), ("cert", tls.cert), ("key", tls.key), ("name", tls.name)) if v}
        said |= {"timeout": f"{self.timeout_s:g}"} if self.timeout_s != _TIMEOUT_S.get(self.scheme, 3.0) else {}
        return said


def parse(url: str) -> Endpoint:
    """The endpoint that `url` names. Raises ToolFault; a unit is never assumed."""
    try:
        parts = urlsplit(url.strip())
        port = parts.port
    except ValueError as fault:
        raise ToolFault(f"{url[:_SHOWN]} is not a Modbus address: {fault}. {FORMS}") from fault
    scheme = "modbus" if parts.scheme == "modbus+tcp" else parts.scheme
    if scheme not in SCHEMES or parts.username is not None or parts.fragment:
        raise ToolFault(f"{url[:_SHOWN]} is not a Modbus address. {FORMS}")
    query = _query(scheme, parts.query)
    made = _serial(parts, query) if scheme == "modbus+rtu" else _network(scheme, parts, port, query)
    timeout_s = _TIMEOUT_S.get(scheme, 3.0)
    if "timeout" in query:
        timeout_s = _number("timeout", query["timeout"], 0.05, 60)
    return replace(made, timeout_s=timeout_s)


def needs_unit(endpoint: Endpoint) -> int:
    """The unit. Raises ToolFault where the URL names none: only a scan goes without."""
    if endpoint.unit is None:
        form = "?unit=N at its end" if endpoint.is_serial else f"/N after {endpoint.gateway}"
        raise ToolFault(
            f"{endpoint.url} names no unit, and none is assumed. Write {form}. A device with its own network port "
            "often answers to 1 or 255, one behind a gateway to the number set on it; plant_scan finds them."
        )
    if endpoint.unit == 0 and endpoint.has_rtu_frames:
        raise ToolFault(
            f"Unit 0 on {endpoint.gateway} is the broadcast of a serial line: every unit takes it and none answers. "
            "Nothing was sent. Name one unit, 1 to 247."
        )
    return endpoint.unit


def _network(scheme: str, parts: SplitResult, port: int | None, query: Mapping[str, str]) -> Endpoint:
    if not parts.hostname:
        raise ToolFault(f"{scheme}://{parts.path[:_SHOWN]} names no host. {FORMS}")
    if port == 0:
        raise ToolFault(f"Port 0 is no port. {FORMS}")
    unit = _unit(parts.path.strip("/"), most=255)
    if scheme == "modbus+tls" and ("cert" in query) != ("key" in query):
        raise ToolFault("cert=FILE and key=FILE belong together: our certificate and its private key, both PEM.")
    tls = Tls(*(query.get(key, "") for key in ("ca", "cert", "key", "name")))
    return Endpoint(scheme, parts.hostname, port or _PORTS[scheme], unit, tls=tls)


def _serial(parts: SplitResult, query: Mapping[str, str]) -> Endpoint:
    if parts.netloc:
        raise ToolFault(
            f"A serial port has no host: three slashes, modbus+rtu:///{parts.netloc[:40]}{parts.path[:40]}. {FORMS}"
        )
    path = unquote(parts.path)
    device = path.strip("/") if re.fullmatch(r"/+(COM\d{1,3}|\\\\\.\\COM\d{1,3})/*", path, re.IGNORECASE) else path
    if not device.strip("/"):
        raise ToolFault(f"modbus+rtu://{parts.path[:_SHOWN]} names no serial port. {FORMS}")
    device = device.upper() if "/" not in device else str(PurePosixPath(device))
    parity = query.get("parity", "E").upper()[:1]
    if parity not in ("E", "O", "N") or len(query.get("parity", "E")) > 4:
        raise ToolFault(f"parity={query['parity'][:20]} is none of E (even), O (odd), N (none).")
    line = Line(
        int(_number("baud", query.get("baud", "19200"), 50, 4_000_000)),
        parity,
        int(_number("bits", query.get("bits", "8"), 7, 8)),
        int(_number("stop", query.get("stop", "1"), 1, 2)),
    )
    return Endpoint("modbus+rtu", device, unit=_unit(query.get("unit", ""), most=247), line=line)


def _unit(text: str, most: int) -> int | None:
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) <= 3 and int(text) <= most):
        raise ToolFault(f"Unit {text[:20]!r} is not a number from 0 to {most}. {FORMS}")
    return int(text)


def _query(scheme: str, text: str) -> dict[str, str]:
    """The keys of the query, each known and once."""
    query: dict[str, str] = {}
    for key, value in parse_qsl(text, keep_blank_values=True):
        if key not in _KEYS[scheme]:
            near = difflib.get_close_matches(key.lower(), _KEYS[scheme], 1, 0.5)
            hint = f"Did you mean {near[0]}?" if near else f"Known are: {', '.join(_KEYS[scheme])}."
            place = " The unit of a network device is in the path: /1." if key == "unit" else ""
            raise ToolFault(f"{scheme} has no setting {key[:30]!r}. {hint}{place}")
        if key in query or not value:
            raise ToolFault(f"{key}= is {'given twice' if key in query else 'empty'} in the address; write it once.")
        query[key] = value
    return query


def _number(key: str, text: str, least: float, most: float) -> float:
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if not least <= number <= most or (key != "timeout" and number != int(number)):
        raise ToolFault(f"{key}={text[:20]} is not a number from {least:g} to {most:g}.")
    return number


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
