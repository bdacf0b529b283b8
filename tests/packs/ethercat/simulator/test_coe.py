"""SDO and SDO information of a simulated slave, byte by byte."""

import struct

import pytest
from oasis_ethercat.esc import State
from oasis_ethercat.simulator.drive import DRIVE

from tests.packs.ethercat.simulator.frames import Wire


@pytest.fixture
def wire() -> Wire:
    made = Wire("drive")
    made.configure(1)
    assert made.request(1, State.PREOP) == "PREOP"
    return made


def sdo(wire: Wire, command: int, index: int, subindex: int, rest: bytes = bytes(4)) -> bytes:
    return wire.mailbox(1, 2, struct.pack("<BHB", command, index, subindex) + rest)


def abort(reply: bytes) -> int:
    assert reply[0] == 0x80
    return struct.unpack_from("<I", reply, 4)[0]


def test_a_short_value_is_uploaded_expedited(wire: Wire):
    assert sdo(wire, 0x40, 0x6041, 0) == bytes.fromhex("4b 41 60 00 50 02 00 00")


def test_a_long_text_is_uploaded_in_segments(wire: Wire):
    text = str(DRIVE.objects[0x100A, 0].value).encode()
    reply = sdo(wire, 0x40, 0x100A, 0)
    assert struct.unpack_from("<I", reply, 4)[0] == len(text) > 256
    data, toggle = reply[8:], 0x60
    while len(data) < len(text):
        reply = wire.mailbox(1, 2, bytes([toggle]) + bytes(7))
        data += reply[1:]
        toggle ^= 0x10
    assert data[: len(text)] == text


def test_a_segment_with_the_wrong_toggle_is_aborted(wire: Wire):
    sdo(wire, 0x40, 0x100A, 0)
    assert abort(wire.mailbox(1, 2, bytes([0x70]) + bytes(7))) == 0x05030000


def test_a_download_in_segments_arrives_whole(wire: Wire):
    text = b"label " * 40
    first = text[:100]
    sdo(wire, 0x21, 0x2000, 0, struct.pack("<I", len(text)) + first)
    wire.mailbox(1, 2, bytes([0x00]) + text[100:200])
    wire.mailbox(1, 2, bytes([0x11]) + text[200:])
    assert wire.slaves[0].objects.values[0x2000, 0] == text.decode()


@pytest.mark.parametrize(
    ("command", "index", "subindex", "code"),
    [
        (0x40, 0x7777, 0, 0x06020000),
        (0x40, 0x1018, 9, 0x06090011),
        (0x50, 0x1018, 0, 0x06010000),
        (0x2B, 0x6041, 0, 0x06010002),
        (0x2B, 0x6081, 0, 0x06070010),
        (0xE0, 0x6081, 0, 0x05040001),
    ],
)
def test_what_cannot_be_done_is_aborted_with_its_code(wire: Wire, command: int, index: int, subindex: int, code: int):
    assert abort(sdo(wire, command, index, subindex)) == code


def test_a_value_beyond_the_devices_limits_is_aborted_and_not_taken(wire: Wire):
    assert abort(sdo(wire, 0x2F, 0x6060, 0, b"\x16\0\0\0")) == 0x06090031
    assert (wire.slaves[0].objects.values[0x6060, 0], wire.slaves[0].objects.downloads) == (0, 0)


def test_the_list_of_objects_names_each_once(wire: Wire):
    reply = wire.mailbox(1, 8, struct.pack("<BBHH", 1, 0, 0, 1))
    indexes = struct.unpack_from(f"<{(len(reply) - 6) // 2}H", reply, 6)
    assert list(indexes) == sorted({index for index, _ in wire.slaves[0].objects.items})


def test_an_entry_says_its_name_type_and_access(wire: Wire):
    reply = wire.mailbox(1, 8, struct.pack("<BBHHBB", 5, 0, 0, 0x6060, 0, 7))
    assert struct.unpack_from("<HBBHHH", reply, 4) == (0x6060, 0, 7, 0x0002, 8, 0x3F)
    assert reply[14:] == b"Mode of operation"


def test_a_request_cut_short_is_answered_with_a_mailbox_error(wire: Wire):
    assert wire.mailbox(1, 2, b"\x40") == struct.pack("<H", 6)
    assert wire.slaves[0].machine.state is State.PREOP


def test_a_full_mailbox_keeps_the_second_reply_until_the_first_is_taken(wire: Wire):
    message = struct.pack("<HHBBH", 10, 0, 0, 3, 2 << 12)
    for index in (0x6041, 0x6060):
        body = message + struct.pack("<BHB4x", 0x40, index, 0)
        assert wire.write(1, 0x1000, body.ljust(128, b"\0")) == 1
    first, second = wire.read(1, 0x1080, 128), wire.read(1, 0x1080, 128)
    assert (first[9:11], second[9:11]) == (b"\x41\x60", b"\x60\x60")
