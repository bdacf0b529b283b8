"""What a URL connects to: the same place, however its host, port or line is spelled."""

import ipaddress
import os
from urllib.parse import urlsplit

LINES = "/dev/"
"""Where a system has its serial lines; links to them are followed."""
_HERE = "localhost"


def place_of(url: str) -> str:
    """Host and port, line or interface, without what only says how or as whom.

    Units behind one gateway, and one server reached with two time-outs, are one place. No name is looked up.
    """
    parts = urlsplit(url)
    _, _, network = parts.netloc.rpartition("@")
    if not network:
        return os.path.realpath(parts.path) if parts.path.startswith(LINES) else parts.path
    host, port = _split(network.lower())
    return f"{_host(host)}{port}"


def device_of(url: str) -> tuple[str, str]:
    """What tells a device from another: on a network its place and path, on a line its place and options."""
    parts = urlsplit(url)
    return place_of(url), parts.path if parts.netloc else parts.query


def _split(network: str) -> tuple[str, str]:
    """Host and `:port`; an IPv6 address stands in brackets."""
    if network.startswith("["):
        host, _, port = network[1:].partition("]")
        return host, port
    host, colon, port = network.partition(":")
    return host, f"{colon}{port}"


def _host(host: str) -> str:
    """The host as one spelling of it."""
    host = host.removesuffix(".")
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped:
        address = address.ipv4_mapped
    return _HERE if str(address) in ("127.0.0.1", "::1") else str(address)
