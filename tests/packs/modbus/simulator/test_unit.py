"""A unit answers whatever arrives, as the protocol has it."""

import struct

from hypothesis import given
from hypothesis import strategies as st
from oasis_modbus.simulator.cells import Map
from oasis_modbus.simulator.maps import BOILER
from oasis_modbus.simulator.process import Boiler
from oasis_modbus.simulator.rtu import checksum, request_length
from oasis_modbus.simulator.unit import Unit
from oasis_modbus.simulator.witness import Witness

KNOWN = (1, 2, 3, 4, 5, 6, 15, 16, 22, 23, 43)


def unit() -> Unit:
    return Unit(1, Map(Boiler(), BOILER), lambda: {0: "Oasis", 1: "BK-200"}, Witness())


@given(st.one_of(st.sampled_from(KNOWN), st.integers(0, 127)), st.binary(max_size=252))
def test_every_request_gets_a_reply_or_an_exception(function: int, rest: bytes):
    reply = unit().answer(bytes((function,)) + rest)
    assert reply[0] in (function, function | 0x80)
    assert len(reply) <= 253
    if reply[0] & 0x80:
        assert reply[1:] in (b"\x01", b"\x02", b"\x03")


@given(st.integers(0, 20), st.lists(st.integers(0, 0xFFFF), min_size=1, max_size=4))
def test_what_was_written_is_read_and_what_was_refused_changes_nothing(address: int, words: list[int]):
    boiler = unit()
    before = [boiler.answer(struct.pack(">BHH", 3, at, 1)) for at in range(24)]
    request = struct.pack(f">BHHB{len(words)}H", 16, address, len(words), 2 * len(words), *words)
    reply = boiler.answer(request)
    after = [boiler.answer(struct.pack(">BHH", 3, at, 1)) for at in range(24)]
    if reply[0] == 16:
        assert [struct.unpack(">H", after[address + n][2:])[0] for n in range(len(words))] == words
    else:
        assert after == before


@given(st.sampled_from(KNOWN), st.binary(min_size=1, max_size=246))
def test_a_frame_s_length_is_known_from_its_beginning(function: int, data: bytes):
    body = {
        15: bytes(4) + bytes((len(data),)) + data,
        16: bytes(4) + bytes((len(data),)) + data,
        22: bytes(6),
        23: bytes(8) + bytes((len(data),)) + data,
        43: bytes(3),
    }.get(function, bytes(4))
    frame = bytes((1, function)) + body
    frame += struct.pack("<H", checksum(frame))
    assert checksum(frame) == 0
    for cut in range(len(frame) + 1):
        assert request_length(frame[:cut]) in (0, len(frame))
    assert request_length(frame) == len(frame)
