"""EtherCAT frames as bytes.

Source: ETG.1000.4. Ethernet header (14 bytes), length and type (2), datagram header (10), data, working counter (2).
"""

import struct
from collections.abc import Collection, Sequence

from oasis_ethercat.esc import ETHERTYPE, Command

SOURCE = bytes.fromhex("02a5150e0001")
"""Source address of frames sent here; a slave sets the second bit of the first byte, which is set already."""
_ETHERNET = b"\xff" * 6 + SOURCE + ETHERTYPE.to_bytes(2, "big")
_SHORTEST = 60
_MORE = 0x8000


Datagram = tuple[Command, int, int, bytes]
"""Command, position (auto-increment 0, -1, ... or a station address), offset, data."""


def frame(index: int, datagrams: Sequence[Datagram]) -> bytes:
    """A whole Ethernet frame; each slave takes its datagrams in order."""
    parts: list[bytes] = []
    for number, (command, position, offset, data) in enumerate(datagrams, 1):
        flags = len(data) | (_MORE if number < len(datagrams) else 0)
        parts.append(struct.pack("<BBHHHH", command, index, position & 0xFFFF, offset, flags, 0) + data + b"\0\0")
    body = b"".join(parts)
    return (_ETHERNET + struct.pack("<H", len(body) | 0x1000) + body).ljust(_SHORTEST, b"\0")


def is_ours(received: bytes, indices: Collection[int]) -> bool:
    """Is this a frame sent from here with one of these indices, come back?"""
    return len(received) >= 28 and received[6:12] == SOURCE and received[17] in indices


def answers(received: bytes) -> list[tuple[bytes, int]]:
    """Data and working counter of each datagram. Raises ValueError for a frame cut short."""
    found: list[tuple[bytes, int]] = []
    at, more = 16, True
    while more:
        if len(received) < at + 12:
            raise ValueError("frame cut short")
        flags = received[at + 6] | received[at + 7] << 8
        end = at + 10 + (flags & 0x07FF)
        if len(received) < end + 2:
            raise ValueError("frame cut short")
        found.append((received[at + 10 : end], received[end] | received[end + 1] << 8))
        at, more = end + 2, bool(flags & _MORE)
    return found
