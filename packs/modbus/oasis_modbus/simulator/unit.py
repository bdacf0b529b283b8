"""One unit: requests in, replies out, as Modbus Application Protocol V1.1b3 has them."""

import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from oasis_modbus.simulator.cells import ILLEGAL_ADDRESS, ILLEGAL_VALUE, Map, Refused
from oasis_modbus.simulator.witness import SeenWrite, Witness

ILLEGAL_FUNCTION = 0x01
_READS = {1: ("coil", 2000), 2: ("discrete", 2000), 3: ("holding", 125), 4: ("input", 125)}
_IDENTITY_CODES = {1: 0x02, 2: 0x06, 3: 0xFF}
"""Highest object of each category of function 43/14: basic, regular, extended."""


@dataclass(slots=True)
class Unit:
    """A device that takes `delay_s` to answer.

    `identity` gives the objects of function 43 by number, none where the device has no such function.
    """

    number: int
    map: Map
    identity: Callable[[], Mapping[int, str]]
    witness: Witness
    delay_s: float = 0.0

    def answer(self, pdu: bytes) -> bytes:
        """The reply to a request, without unit and framing."""
        function = pdu[0]
        try:
            return self._executed(function, pdu)
        except Refused as refused:
            return bytes((function | 0x80, refused.code))
        except (struct.error, ValueError):
            return bytes((function | 0x80, ILLEGAL_VALUE))

    def _executed(self, function: int, pdu: bytes) -> bytes:
        handlers = {
            **dict.fromkeys(_READS, self._read),
            5: self._write_coil,
            6: self._write_register,
            15: self._write_coils,
            16: self._write_registers,
            22: self._mask_register,
            23: self._write_then_read,
            43: self._identify,
        }
        if function not in handlers:
            raise Refused(ILLEGAL_FUNCTION)
        return handlers[function](pdu)

    def _read(self, pdu: bytes) -> bytes:
        table, most = _READS[pdu[0]]
        address, count = struct.unpack(">HH", pdu[1:5])
        _check_range(address, count, most)
        return self._values(pdu[0], self.map.read(table, address, count), table in ("coil", "discrete"))

    @staticmethod
    def _values(function: int, values: list[int], are_bits: bool) -> bytes:
        data = _packed(values) if are_bits else struct.pack(f">{len(values)}H", *values)
        return bytes((function, len(data))) + data

    def _write(self, table: str, address: int, values: list[int]) -> None:
        """Execute a write, and let the witness see it either way."""
        is_executed = False
        try:
            self.map.write(table, address, values)
            is_executed = True
        finally:
            self.witness.writes.append(SeenWrite(self.number, table, address, tuple(values), is_executed))

    def _write_coil(self, pdu: bytes) -> bytes:
        address, value = struct.unpack(">HH", pdu[1:5])
        if value not in (0x0000, 0xFF00):
            raise Refused(ILLEGAL_VALUE)
        self._write("coil", address, [int(value == 0xFF00)])
        return pdu[:5]

    def _write_register(self, pdu: bytes) -> bytes:
        address, value = struct.unpack(">HH", pdu[1:5])
        self._write("holding", address, [value])
        return pdu[:5]

    def _write_coils(self, pdu: bytes) -> bytes:
        address, count, size = struct.unpack(">HHB", pdu[1:6])
        _check_range(address, count, 1968)
        if size != (count + 7) // 8 or len(pdu) != 6 + size:
            raise Refused(ILLEGAL_VALUE)
        self._write("coil", address, [pdu[6 + at // 8] >> at % 8 & 1 for at in range(count)])
        return pdu[:5]

    def _write_registers(self, pdu: bytes) -> bytes:
        address, count, size = struct.unpack(">HHB", pdu[1:6])
        _check_range(address, count, 123)
        if size != 2 * count or len(pdu) != 6 + size:
            raise Refused(ILLEGAL_VALUE)
        self._write("holding", address, list(struct.unpack(f">{count}H", pdu[6:])))
        return pdu[:5]

    def _mask_register(self, pdu: bytes) -> bytes:
        address, keep, put = struct.unpack(">HHH", pdu[1:7])
        (before,) = self.map.read("holding", address, 1)
        self._write("holding", address, [before & keep | put & ~keep & 0xFFFF])
        return pdu[:7]

    def _write_then_read(self, pdu: bytes) -> bytes:
        address, count, to, written, size = struct.unpack(">HHHHB", pdu[1:10])
        _check_range(address, count, 125)
        _check_range(to, written, 121)
        if size != 2 * written or len(pdu) != 10 + size:
            raise Refused(ILLEGAL_VALUE)
        self._write("holding", to, list(struct.unpack(f">{written}H", pdu[10:])))
        return self._values(pdu[0], self.map.read("holding", address, count), are_bits=False)

    def _identify(self, pdu: bytes) -> bytes:
        """Function 43, MEI type 14."""
        mei, code, first = pdu[1:4]
        objects = self.identity()
        if mei != 0x0E or not objects:
            raise Refused(ILLEGAL_FUNCTION)
        if code == 4:
            wanted = [first] if first in objects else []
        elif code in _IDENTITY_CODES:
            last = _IDENTITY_CODES[code]
            start = first if first in objects and first <= last else 0
            wanted = [number for number in sorted(objects) if start <= number <= last]
        else:
            raise Refused(ILLEGAL_VALUE)
        if not wanted:
            raise Refused(ILLEGAL_ADDRESS)
        texts = [(number, objects[number].encode("latin-1", "replace")) for number in wanted]
        head = bytes((0x2B, 0x0E, code, 0x82, 0x00, 0x00, len(texts)))
        return head + b"".join(bytes((number, len(text))) + text for number, text in texts)


def _check_range(address: int, count: int, most: int) -> None:
    if not 1 <= count <= most:
        raise Refused(ILLEGAL_VALUE)
    if address + count > 0x10000:
        raise Refused(ILLEGAL_ADDRESS)


def _packed(bits: list[int]) -> bytes:
    data = bytearray((len(bits) + 7) // 8)
    for at, bit in enumerate(bits):
        data[at // 8] |= bit << at % 8
    return bytes(data)
