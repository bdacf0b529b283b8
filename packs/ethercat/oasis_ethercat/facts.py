"""Registers and SII of a slave, from a raw look or from the configured master: the same questions, two sources."""

from typing import Protocol

from oasis.errors import ToolFault
from oasis_ethercat import sii
from oasis_ethercat.master import Master
from oasis_ethercat.raw import NoAnswer, RawBus


class Facts(Protocol):
    """Answers about slaves by position."""

    def register(self, position: int, address: int, length: int) -> bytes:
        """Bytes of the register space. Raises ToolFault where the slave does not answer."""
        ...

    def image(self, position: int) -> sii.Image | None:
        """The slave's SII, None where it may not be read now."""
        ...


class RawFacts:
    """By single datagrams."""

    def __init__(self, bus: RawBus, is_sii_allowed: bool) -> None:
        self._bus = bus
        self._is_sii_allowed = is_sii_allowed
        self._images: dict[int, sii.Image] = {}

    def register(self, position: int, address: int, length: int) -> bytes:
        try:
            return self._bus.read(position, address, length)
        except NoAnswer as fault:
            raise _gone(position) from fault

    def image(self, position: int) -> sii.Image | None:
        if not self._is_sii_allowed:
            return None
        if position not in self._images:
            self._images[position] = sii.Image(lambda word: self._sii(position, word))
        return self._images[position]

    def _sii(self, position: int, word: int) -> bytes:
        try:
            return self._bus.sii(position, word)
        except NoAnswer as fault:
            raise _gone(position) from fault


class LiveFacts:
    """By the master that has configured the segment."""

    def __init__(self, master: Master) -> None:
        self._master = master

    def register(self, position: int, address: int, length: int) -> bytes:
        return self._master.read(position, address, length)

    def image(self, position: int) -> sii.Image | None:
        return self._master.image(position)


def _gone(position: int) -> ToolFault:
    return ToolFault(f"Slave {position} stopped answering while it was read: cable or power.")
