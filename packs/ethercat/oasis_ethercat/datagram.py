"""EtherCAT frames with one datagram, as bytes.

Source: ETG.1000.4. Ethernet header (14 bytes), length and type (2), datagram header (10), data, working counter (2).
"""

import struct

from oasis_ethercat.esc import ETHERTYPE, Command

SOURCE = bytes.fromhex("02a5150e0001")
"""Source address of frames sent here; a slave sets the second bit of the first byte, which is set already."""
_ETHERNET = b"\xff" * 6 + SOURCE + ETHERTYPE.to_bytes(2, "big")
_SHORTEST = 60


def frame(command: Command, index: int, position: int, offset: int, data: bytes) -> bytes:
    """A whole Ethernet frame. `position` is auto-increment (0, -1, ...) or a station address."""
    header = struct.pack("<BBHHHH", command, index, position & 0xFFFF, offset, len(data), 0)
    datagram = header + data + b"\0\0"
    return (_ETHERNET + struct.pack("<H", len(datagram) | 0x1000) + datagram).ljust(_SHORTEST, b"\0")


def is_ours(received: bytes, index: int) -> bool:
    """Is this the frame sent from here with that index, come back?"""
    return len(received) >= 28 and received[6:12] == SOURCE and received[17] == index


def answer(received: bytes) -> tuple[bytes, int]:
    """Data and working counter of the first datagram. Raises ValueError for a frame cut short."""
    length = (received[22] | received[23] << 8) & 0x07FF
    if len(received) < 28 + length:
        raise ValueError("frame cut short")
    data = received[26 : 26 + length]
    return data, received[26 + length] | received[27 + length] << 8
