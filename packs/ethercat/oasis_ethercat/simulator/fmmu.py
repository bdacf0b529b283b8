"""FMMUs: which bits of the segment's logical addresses are which bits of a slave's memory.

Source: ETG.1000.4, fieldbus memory management unit; 16 bytes each from 0x0600.
"""

import struct
from dataclasses import dataclass

from oasis_ethercat.esc import FMMU_BYTES, Register

READ, WRITE = 1, 2
"""Kinds: the master reads from the slave, the master writes to it."""


@dataclass(frozen=True, slots=True)
class Fmmu:
    """One mapping; `bits` is its length, `shift` the first bit within the first logical byte."""

    kind: int
    logical: int
    length: int
    shift: int
    bits: int
    address: int
    address_shift: int
    is_whole: bool
    """Whole bytes on both sides, so that slices do."""

    def overlaps(self, start: int, length: int) -> bool:
        return self.logical < start + length and start < self.logical + self.length

    def _span(self, start: int, size: int) -> tuple[slice, slice]:
        """The bytes of a datagram of `size` that it covers, and those of the memory behind them."""
        at = self.logical - start
        first, end = max(at, 0), min(at + self.length, size)
        return slice(first, end), slice(self.address + first - at, self.address + end - at)

    def read(self, memory: bytearray, data: bytearray, start: int) -> None:
        """Put the slave's bits into a datagram that begins at logical address `start`."""
        if self.is_whole:
            within, behind = self._span(start, len(data))
            data[within] = memory[behind]
            return
        at = self.logical - start
        for bit in range(self.bits):
            source, target = self.address_shift + bit, at * 8 + self.shift + bit
            if 0 <= target < len(data) * 8:
                _set(data, target, memory[self.address + (source >> 3)] >> (source & 7) & 1)

    def write(self, memory: bytearray, data: bytearray, start: int) -> None:
        """Put the datagram's bits into the slave's memory."""
        if self.is_whole:
            within, behind = self._span(start, len(data))
            memory[behind] = data[within]
            return
        at = self.logical - start
        for bit in range(self.bits):
            source, target = at * 8 + self.shift + bit, self.address_shift + bit
            if 0 <= source < len(data) * 8:
                _set(memory, self.address * 8 + target, data[source >> 3] >> (source & 7) & 1)


def _set(memory: bytearray, bit: int, value: int) -> None:
    mask = 1 << (bit & 7)
    memory[bit >> 3] = memory[bit >> 3] & ~mask | (mask if value else 0)


def configured(memory: bytearray) -> list[Fmmu]:
    """The active FMMUs as the registers hold them."""
    found: list[Fmmu] = []
    for number in range(8):
        row = struct.unpack_from("<IHBBHBBB", memory, Register.FMMU + number * FMMU_BYTES)
        logical, length, first, last, address, address_shift, kind, active = row
        if active & 1 and length:
            whole = first == 0 and last == 7 and address_shift == 0
            bits = (length - 1) * 8 + last - first + 1
            found.append(Fmmu(kind, logical, length, first, bits, address, address_shift, whole))
    return found
