"""The memory of a slave controller: registers a master may write, those it may not, process RAM."""

import struct

from oasis_ethercat.esc import Register, State

SIZE = 0x3000
"""Registers to 0x0FFF, then 8 KB of RAM."""

_WRITABLE = (
    range(0x0010, 0x0014),
    range(0x0100, 0x0110),
    range(0x0120, 0x0122),
    range(0x0200, 0x0210),
    range(0x0300, 0x0314),
    range(0x0400, 0x0422),
    range(0x0500, 0x0510),
    range(0x0600, 0x0700),
    range(0x0900, 0x0A00),
    range(0x1000, SIZE),
)
_CLOCK_64_BIT = 0x000C
_SYNC_MANAGERS = range(0x0800, 0x0840)


class Registers:
    """Distributed clocks are a feature bit and registers that keep what was written; no time runs in them."""

    def __init__(self, station_alias: int = 0, *, has_clock: bool = False) -> None:
        self.memory = bytearray(SIZE)
        head = bytes([0x11, 0x00, 0x02, 0x00, 8, 8, 8, 0x0F])
        self.memory[: len(head)] = head
        self.put(Register.FEATURES, _CLOCK_64_BIT if has_clock else 0)
        self.put(Register.STATION_ALIAS, station_alias)
        self.put(Register.AL_STATUS, State.INIT)
        self.put(Register.WATCHDOG_DIVIDER, 0x09C2)
        self.put(Register.WATCHDOG_TIME, 1000)
        self.put(Register.WATCHDOG_STATUS, 1)
        self.put(Register.SII_CONTROL, 0x0040)

    def word(self, address: int) -> int:
        """The 16-bit value at an address."""
        return self.memory[address] | self.memory[address + 1] << 8

    def put(self, address: int, value: int) -> None:
        """Set a 16-bit value from inside the slave."""
        struct.pack_into("<H", self.memory, address, value & 0xFFFF)

    def read(self, address: int, length: int) -> bytes:
        """The bytes from an address on. Beyond the memory there is nothing to answer: IndexError."""
        if address + length > SIZE:
            raise IndexError(address)
        return bytes(self.memory[address : address + length])

    def write(self, address: int, data: bytes) -> bool:
        """Take what the master may write, pass over the rest. False where none of it may be written."""
        end = address + len(data)
        for span in _WRITABLE:
            if span.start <= address and end <= span.stop:
                self.memory[address:end] = data
                return True
        taken = False
        for offset, byte in enumerate(data):
            if self._is_writable(address + offset):
                self.memory[address + offset] = byte
                taken = True
        return taken

    @staticmethod
    def _is_writable(address: int) -> bool:
        if address in _SYNC_MANAGERS:
            return address % 8 not in {5, 7}
        return any(address in span for span in _WRITABLE)

    def watchdog_seconds(self) -> float:
        """Time without outputs after which the process data watchdog expires; 0 where it is off."""
        return self.word(Register.WATCHDOG_TIME) * (self.word(Register.WATCHDOG_DIVIDER) + 2) * 40e-9

    def sync_manager(self, number: int) -> tuple[int, int]:
        """Start address and length in bytes as the master has configured them."""
        return struct.unpack_from("<HH", self.memory, Register.SYNC_MANAGER + 8 * number)
