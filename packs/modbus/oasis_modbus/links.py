"""Which link a driver uses: one for each gateway and its settings, shared by all drivers of an event loop."""

import asyncio
import weakref
from dataclasses import replace

from oasis_modbus.endpoint import Endpoint
from oasis_modbus.link import Link


class _Links:
    """The links of one event loop by what makes them the same, and a gate for each gateway."""

    def __init__(self) -> None:
        self.by_endpoint: dict[Endpoint, Link] = {}
        self.gates: dict[str, asyncio.Lock] = {}


_loops: "weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, _Links]" = weakref.WeakKeyDictionary()


def shared(endpoint: Endpoint) -> Link:
    """The link of this gateway, made where there is none; every user releases it. Connects when first used.

    Units and time-outs do not make another link, other settings do; all links to one gateway wait for each other.
    """
    links = _loops.setdefault(asyncio.get_running_loop(), _Links())
    key = _key(endpoint)
    if key not in links.by_endpoint:
        links.by_endpoint[key] = _made(endpoint, links.gates.setdefault(endpoint.gateway, asyncio.Lock()))
    link = links.by_endpoint[key]
    link.users += 1
    return link


async def release(link: Link) -> None:
    """One user less; the last one ends the connection."""
    link.users -= 1
    if link.users == 0:
        if links := _loops.get(asyncio.get_running_loop()):
            links.by_endpoint.pop(_key(link.endpoint), None)
        await link.drop()


def _key(endpoint: Endpoint) -> Endpoint:
    return replace(endpoint, unit=None, timeout_s=0.0)


def _made(endpoint: Endpoint, gate: asyncio.Lock) -> Link:
    if endpoint.is_serial:
        from oasis_modbus.serial_link import SerialLink  # noqa: PLC0415

        return SerialLink(endpoint, gate)
    from oasis_modbus.stream_link import RtuStreamLink, TcpLink  # noqa: PLC0415

    return RtuStreamLink(endpoint, gate) if endpoint.has_rtu_frames else TcpLink(endpoint, gate)
