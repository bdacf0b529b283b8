"""The loop: frames from the interface through the segment and back, commands in between, time passing when idle."""

import errno
import socket
import struct
from collections import deque
from collections.abc import Callable

from oasis_ethercat.simulator.segment import Segment

_SOL_PACKET, _IGNORE_OUTGOING = 263, 23
_IDLE_US = 5000


def serve(
    raw: socket.socket, segment: Segment, commands: deque[Callable[[], None]], is_over: Callable[[], bool]
) -> None:
    """Answer until `is_over`. Commands are taken between frames, at the latest after 5 ms."""
    raw.setsockopt(_SOL_PACKET, _IGNORE_OUTGOING, 1)
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", 0, _IDLE_US))
    while not is_over():
        while commands:
            commands.popleft()()
        try:
            reply = segment.frame(raw.recv(2048))
            if reply:
                raw.send(reply)
        except BlockingIOError:
            segment.advance()
        except OSError as fault:
            if fault.errno not in {errno.ENETDOWN, errno.ENXIO, errno.ENOBUFS}:
                raise
            segment.advance()
