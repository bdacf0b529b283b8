"""How a master reads the SII: address and command into registers 0x0502 to 0x0507, the data from 0x0508.

Source: ESC register description, SII EEPROM interface.
"""

import struct

from oasis_ethercat.esc import Register
from oasis_ethercat.simulator.registers import Registers

_READ, _WRITE = 0x01, 0x02
_EIGHT_BYTES = 0x0040


class SiiInterface:
    """Answers at once; `reads` and `writes` count the commands."""

    def __init__(self, registers: Registers, image: bytearray) -> None:
        self._registers = registers
        self.image = image
        self.reads = 0
        self.writes = 0

    def command(self) -> None:
        """Do what the control register asks for."""
        memory = self._registers.memory
        command = memory[Register.SII_CONTROL + 1]
        at = struct.unpack_from("<I", memory, Register.SII_ADDRESS)[0] * 2
        if command & _READ:
            self.reads += 1
            data = bytes(self.image[at : at + 8]).ljust(8, b"\xff")
            memory[Register.SII_DATA : Register.SII_DATA + 8] = data
        elif command & _WRITE and memory[Register.SII_CONTROL] & 1:
            self.writes += 1
            self.image[at : at + 2] = memory[Register.SII_DATA : Register.SII_DATA + 2]
        self._registers.put(Register.SII_CONTROL, _EIGHT_BYTES)
