"""CoE of one slave: the service number of a request leads to the SDO server or to SDO information."""

import struct
from collections.abc import Callable

from oasis_ethercat.esc import CoeDetail
from oasis_ethercat.simulator.device import Mailboxes
from oasis_ethercat.simulator.objects import Objects
from oasis_ethercat.simulator.sdo import SdoServer
from oasis_ethercat.simulator.sdo_information import SdoInformation

_EMERGENCY, _SDO_REQUEST, _SDO_RESPONSE, _SDO_INFORMATION = 1, 2, 3, 8


class Coe:
    """Give `answer` to a mailbox; `before` brings the values up to now."""

    def __init__(self, objects: Objects, boxes: Mailboxes, before: Callable[[], None]) -> None:
        self.sdo = SdoServer(objects, boxes.into_bytes, has_complete_access=CoeDetail.COMPLETE_ACCESS in boxes.coe)
        self._has_information = CoeDetail.SDO_INFO in boxes.coe
        self._information = SdoInformation(objects, boxes.into_bytes)
        self._before = before
        self.ahead: list[bytes] = []
        """Messages that get into the mailbox before the next answer."""

    def answer(self, request: bytes) -> list[bytes]:
        """The replies to one CoE request."""
        service = struct.unpack_from("<H", request)[0] >> 12
        self._before()
        if service == _SDO_INFORMATION and self._has_information:
            return [_framed(_SDO_INFORMATION, reply) for reply in self._information.answer(request[2:])]
        if service == _SDO_REQUEST:
            replies = self.sdo.answer(request[2:])
            ahead, self.ahead = self.ahead, []
            return ahead + [_framed(_SDO_REQUEST if reply[0] == 0x80 else _SDO_RESPONSE, reply) for reply in replies]
        return []


def emergency(code: int, register: int) -> bytes:
    """An emergency message with its error code and error register."""
    return struct.pack("<HHB5x", _EMERGENCY << 12, code, register)


def stray(index: int) -> bytes:
    """An answer to an SDO upload of an object: two bytes."""
    return _framed(_SDO_RESPONSE, struct.pack("<BHB4s", 0x4B, index, 0, b"\xad\xde"))


def _framed(service: int, reply: bytes) -> bytes:
    return struct.pack("<H", service << 12) + reply
