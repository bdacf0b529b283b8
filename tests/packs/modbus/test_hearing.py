"""What is heard on a serial line: echoes, noise, frames in pieces."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oasis_modbus import faults
from oasis_modbus.frames import rtu_frame
from oasis_modbus.hearing import Hearing

from oasis.plant.driver import Effect
from tests.packs.modbus.servers import approved, driver, raw_device, read

REQUEST = rtu_frame(3, b"\x03\0\0\0\x01")
REPLY = rtu_frame(3, b"\x03\x02\x03\x34")


def answered(request: bytes) -> bytes:
    if request[1] == 3:
        (count,) = struct.unpack(">H", request[4:6])
        return rtu_frame(3, bytes((3, 2 * count)) + bytes.fromhex("0334") * count)
    return request if request[1] == 6 else rtu_frame(3, bytes((request[1] | 0x80, 1)))


@pytest.mark.parametrize("noise", [b"\0", b"\xff", b"\xff\xff\0", b"\x07\x03", b"\x03", b"\x03\x03", bytes(60)])
async def test_noise_before_a_reply_does_no_harm(noise: bytes):
    """A driver of a line that is switched on makes a byte or two out of nothing."""
    async with raw_device(lambda r: noise + answered(r), "modbus+rtutcp") as raw, driver(f"{raw.url}/3") as one:
        (reading,) = await one.read([one.point("holding 0 uint16")])
        sent = await one.write(await approved(one, "holding 0 uint16", 5))
    assert (reading.value, sent.effect, len(raw.requests)) == (820, Effect.WRITTEN, 2)


@pytest.mark.parametrize(("acknowledges", "effect"), [(True, Effect.WRITTEN), (False, Effect.UNKNOWN)])
async def test_an_adapter_behind_a_network_that_echoes_does_no_harm(acknowledges: bool, effect: Effect):
    def answer(request: bytes) -> bytes:
        return request + (answered(request) if request[1] == 3 or acknowledges else b"")

    async with raw_device(answer, "modbus+rtutcp") as raw, driver(f"{raw.url}/3?timeout=0.3") as one:
        (reading,) = await one.read([one.point("holding 0 uint16")])
        sent = await one.write(await approved(one, "holding 0 uint16", 5))
    assert (reading.value, sent.effect) == (820, effect)


async def test_a_device_that_never_stops_sending_is_told():
    async with raw_device(lambda _: b"\x07" * 5_000, "modbus+rtutcp") as raw:
        with pytest.raises(faults.Garbled):
            await read(f"{raw.url}/3", "holding 0")


@given(st.binary(max_size=40), st.integers(1, 9))
def test_a_reply_is_heard_behind_any_noise_however_it_is_cut_up(noise: bytes, size: int):
    hearing = Hearing(REQUEST)
    sent = noise + REPLY
    heard = None
    for at in range(0, len(sent), size):
        hearing.received += sent[at : at + size]
        heard = heard or hearing.reply()
    assert heard and (heard.wire == REPLY or heard.wire in noise)


@given(st.binary(max_size=60))
def test_what_is_heard_is_a_whole_frame_with_its_checksum_or_nothing(noise: bytes):
    hearing = Hearing(REQUEST)
    hearing.received += noise
    reply = hearing.reply()
    assert reply is None or rtu_frame(reply.unit, reply.pdu) == reply.wire


@pytest.mark.parametrize("spoiled", [REPLY[:-1] + b"\0", rtu_frame(3, b"\x83\x02")[:-2] + b"\0\0"])
def test_a_whole_frame_with_a_wrong_checksum_is_not_waited_on(spoiled: bytes):
    hearing = Hearing(REQUEST)
    hearing.received += spoiled
    assert hearing.reply() is None and hearing.is_spoiled
