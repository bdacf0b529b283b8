"""Frames: what goes over the wire around a function and its data (the PDU)."""

import struct
from dataclasses import dataclass

MBAP = struct.Struct(">HHHB")
"""Transaction id, protocol 0, length of unit and PDU, unit. Modbus Messaging on TCP/IP V1.0b, 3.1.3."""
MOST_PDU = 253
# Replies whose third byte counts what follows it, and those of a fixed length. Application Protocol V1.1b3, 6.
_COUNTED = (1, 2, 3, 4, 17, 23)
_FIXED = {5: 5, 6: 5, 15: 5, 16: 5, 22: 7}


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back: the PDU, who sent it, and the whole frame. `transaction` is None in RTU frames."""

    unit: int
    pdu: bytes
    wire: bytes
    transaction: int | None = None

    @property
    def exception(self) -> int:
        """The exception code; 0 for a good reply."""
        return self.pdu[1] if self.pdu[0] & 0x80 and len(self.pdu) > 1 else 0


def tcp_frame(transaction: int, unit: int, pdu: bytes) -> bytes:
    return MBAP.pack(transaction, 0, len(pdu) + 1, unit) + pdu


def rtu_frame(unit: int, pdu: bytes) -> bytes:
    body = bytes([unit]) + pdu
    return body + crc(body)


def crc(data: bytes) -> bytes:
    """CRC-16 of a serial line, low byte first. Modbus over Serial Line V1.02, 6.2.2."""
    value = 0xFFFF
    for byte in data:
        value = value >> 8 ^ _CRC[(value ^ byte) & 0xFF]
    return value.to_bytes(2, "little")


def parse_tcp(data: bytes) -> Reply:
    transaction, _, _, unit = MBAP.unpack_from(data)
    return Reply(unit, data[MBAP.size :], data, transaction)


def parse_rtu(data: bytes) -> Reply | None:
    """The frame, where its CRC is right."""
    if len(data) < 4 or crc(data[:-2]) != data[-2:]:
        return None
    return Reply(data[0], data[1:-2], data)


def rtu_length(data: bytes | bytearray) -> int | None:
    """Bytes of the RTU reply that begins so; None while too little has come, or for a function of unknown shape."""
    if len(data) < 3:
        return None
    function = data[1]
    if function & 0x80:
        return 5
    if function in _COUNTED:
        return 3 + data[2] + 2
    if function in _FIXED:
        return 1 + _FIXED[function] + 2
    return _identification_length(data) if function == 0x2B else None


def _identification_length(data: bytes | bytearray) -> int | None:
    """Unit, 2B 0E, code, conformity, more, next, count, then id, length and text for each. 6.21 of the same."""
    if len(data) < 8:
        return None
    at = 8
    for _ in range(data[7]):
        if len(data) < at + 2:
            return None
        at += 2 + data[at + 1]
    return at + 2


def _crc_table() -> tuple[int, ...]:
    table: list[int] = []
    for byte in range(256):
        value = byte
        for _ in range(8):
            value = value >> 1 ^ 0xA001 if value & 1 else value >> 1
        table.append(value)
    return tuple(table)


_CRC = _crc_table()
