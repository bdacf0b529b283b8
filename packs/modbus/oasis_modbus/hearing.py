"""Which of the bytes on a serial line are the reply: past an adapter's echo of the request, and noise before it."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from oasis_modbus.frames import Reply, parse_rtu, rtu_length

MOST_BYTES = 512
"""A request's echo and a reply, each 256 bytes at most: what is longer is no reply. Serial Line V1.02, 2.5.1."""
_ACKNOWLEDGED_BY_ITSELF = (5, 6, 15, 16, 22)
"""Functions whose good reply is the request, or begins like it."""


@dataclass(slots=True)
class Hearing:
    """What is heard after one request. `echoes`: whether this line is known to give every request back first.

    That it does is noticed on requests that read, whose echo can be no reply; the echo of a write looks like its
    acknowledgement.
    """

    request: bytes
    echoes: bool = False
    received: bytearray = field(default_factory=bytearray)
    _is_echo_past: bool = False

    def reply(self) -> Reply | None:
        """The reply, where it has come whole: the first bytes, or those of this unit and function behind noise."""
        self._leave_out_echo()
        if not self.received or self._may_be_echo:
            return None
        at_once = self._whole_at(0)
        return at_once or next((found for at in self._places() if (found := self._whole_at(at))), None)

    def trailing(self, reply: Reply) -> bytes:
        """What came behind the reply."""
        return bytes(self.received).partition(reply.wire)[2]

    @property
    def is_spoiled(self) -> bool:
        """Whether a whole frame has come whose checksum is wrong, and none that could still become one after it."""
        if len(self.received) >= MOST_BYTES:
            return True
        length = rtu_length(self.received)
        if self._may_be_echo or length is None or len(self.received) < length:
            return False
        return not any(self._is_open(at) for at in self._places())

    @property
    def _may_be_echo(self) -> bool:
        return self._tells_echo and self.request.startswith(self.received)

    @property
    def _tells_echo(self) -> bool:
        return not self._is_echo_past and (self.echoes or self.request[1] not in _ACKNOWLEDGED_BY_ITSELF)

    def _leave_out_echo(self) -> None:
        """The echo, and noise before it. A reply that began before it stays."""
        at = self.received.find(self.request) if self._tells_echo else -1
        if at == 0 or (at > 0 and self.echoes):
            del self.received[: at + len(self.request)]
            self.echoes = self._is_echo_past = True

    def _places(self) -> Iterator[int]:
        """Where behind the beginning a reply to the request, or the start of one, may stand."""
        unit, function = self.request[:2]
        at = self.received.find(unit, 1)
        while at > 0:
            if at + 1 == len(self.received) or self.received[at + 1] & 0x7F == function:
                yield at
            at = self.received.find(unit, at + 1)

    def _is_open(self, at: int) -> bool:
        length = rtu_length(self.received[at:])
        return length is None or len(self.received) - at < length

    def _whole_at(self, at: int) -> Reply | None:
        length = rtu_length(self.received[at:])
        if length is None or len(self.received) - at < length:
            return None
        return parse_rtu(bytes(self.received[at : at + length]))
