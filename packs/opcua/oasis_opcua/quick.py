"""Many values read at once: plain numbers of the reply are decoded here, everything else by asyncua.

asyncua makes four objects for each value, which is most of the time that a poll of thousands of values takes.
DataValue and Variant in OPC UA Binary: Part 6, 5.2.2.17 and 5.2.2.16.
"""

import struct
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any

from asyncua.common.utils import Buffer

from oasis_opcua.untyped import from_binary, ua, unpack

_VALUE, _STATUS, _SOURCE_TIME, _SERVER_TIME = 0x01, 0x02, 0x04, 0x08
_TIMES = {0: "", _SOURCE_TIME: "q", _SERVER_TIME: "q", _SOURCE_TIME | _SERVER_TIME: "q8x"}
"""The source's time where there is one, else the server's: some send both whatever was asked for."""
_FORMATS = {1: "?", 2: "b", 3: "B", 4: "h", 5: "H", 6: "i", 7: "I", 8: "q", 9: "Q", 10: "f", 11: "d"}
"""Boolean to Double, by the number of their type; a single value's encoding byte is that number."""
_LAYOUTS = {
    _VALUE | status | times | kind << 8: struct.Struct(f"<xB{form}{'I' if status else ''}{time}")
    for status in (0, _STATUS)
    for times, time in _TIMES.items()
    for kind, form in _FORMATS.items()
}
"""Values with and without status and time stamps, by their first two bytes: mask and type."""
_TICKS_PER_MS = 10_000
_FIRST = datetime(1601, 1, 1, tzinfo=UTC)

Plain = tuple[int, Any] | tuple[int, Any, int]
"""A good number: its type's number, itself, and its time in ticks of 100 ns since 1601 where it has one."""


async def read(session: Any, parameters: Any) -> list[Any]:
    """The answers to a Read request: a Plain for each good single number, else a DataValue. Raises as asyncua does."""
    request = ua.ReadRequest(Parameters=parameters)
    # what asyncua's own session.read sends with and then decodes as a whole
    return decoded(await session._send_request(request))


def decoded(reply: Any) -> list[Any]:
    """The results of a ReadResponse. Raises UaError for a service fault and for bytes that end too early."""
    unpack(ua.VariantType.NodeId, reply)
    from_binary(ua.ResponseHeader, reply).ServiceResult.check()
    data = reply.read(len(reply))
    try:
        (count,) = struct.unpack_from("<i", data)
        return _results(data, count)
    except (struct.error, IndexError) as fault:
        raise ua.UaError("its reply ends in the middle of a value") from fault


def _results(data: bytes, count: int) -> list[Any]:
    results: list[Any] = []
    place = 4
    for _ in range(count):
        layout = _LAYOUTS.get(data[place] | data[place + 1] << 8)
        if layout is not None:
            plain = layout.unpack_from(data, place)
            if not data[place] & _STATUS:
                results.append(plain)
                place += layout.size
                continue
            if not plain[2]:
                results.append((plain[0], plain[1], *plain[3:]))
                place += layout.size
                continue
        rest = Buffer(data, place)
        results.append(from_binary(ua.DataValue, rest))
        place = rest.cur_pos
    return results


def whole(plain: Plain) -> Any:
    """The DataValue that asyncua would have made."""
    at = _FIRST + timedelta(microseconds=plain[2] // 10) if len(plain) == 3 else None
    return ua.DataValue(ua.Variant(plain[1], ua.VariantType(plain[0])), SourceTimestamp=at)


def stamp(ticks: int) -> str:
    """A time in ticks of 100 ns since 1601 as it is shown: UTC, to the millisecond; empty for none."""
    if ticks <= 0:
        return ""
    seconds, thousandths = divmod(ticks // _TICKS_PER_MS, 1000)
    return f"{_second(seconds)}{thousandths:03d}Z"


@lru_cache(64)
def _second(seconds: int) -> str:
    """A second of the clock, up to the point; the values of one poll share a few."""
    try:
        at = _FIRST + timedelta(seconds=seconds)
    except OverflowError:
        at = datetime.max.replace(tzinfo=UTC)
    return f"{at:%Y-%m-%dT%H:%M:%S}."
