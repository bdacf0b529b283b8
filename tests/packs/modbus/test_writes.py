"""Writes: exactly the bytes that were shown, once; and what became of them in words that are true."""

import asyncio
import struct
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oasis_modbus.codec import ORDERS, limits
from oasis_modbus.driver import ModbusDriver
from oasis_modbus.frames import crc
from pymodbus.constants import ExcCodes

from oasis.errors import ToolFault, WriteRefused
from oasis.plant.driver import Effect
from oasis.plant.plan import Frame
from oasis.plant.values import Value
from tests.packs.modbus.servers import approved, driver, mbap, pymodbus_device, raw_device, registers


def echoed(request: bytes) -> bytes:
    pdu = request[7:]
    return mbap(request, pdu[:5] if pdu[0] in (15, 16) else pdu)


@pytest.mark.parametrize(
    ("item", "value", "pdu", "words"),
    [
        ("coil 5", True, "05 0005 ff00", "FC05 wire 5, 00006 := on"),
        ("coil 5", 0, "05 0005 0000", "FC05 wire 5, 00006 := off"),
        ("coil 2-11", 0b10_0000_0001, "0f 0002 000a 02 01 02", "FC15 wire 2-11, 00003-00012 := 01 02 (bit 0 first)"),
        ("holding 1 uint16", 850, "06 0001 0352", "FC06 wire 1, 40002 := 0x0352 (raw 850 as uint16)"),
        ("holding 1 uint16 x0.1", 83.5, "06 0001 0343", "FC06 wire 1, 40002 := 0x0343 (raw 835 as uint16)"),
        ("holding 1 int16 x0.1 -40", -40.5, "06 0001 fffb", "FC06 wire 1, 40002 := 0xFFFB (raw -5 as int16)"),
        ("holding 1 bcd16", 1234, "06 0001 1234", "FC06 wire 1, 40002 := 0x1234 (raw 1234 as bcd16)"),
        (
            "holding 2 float32 CDAB",
            230.5,
            "10 0002 0002 04 8000 4366",
            "FC16 wire 2-3, 40003-40004 := 8000 4366 (raw 230.5 as float32 CDAB)",
        ),
        ("holding 2 int32 ABCD", -2, "10 0002 0002 04 ffff fffe", "FC16 wire 2-3, 40003-40004 := FFFF FFFE (raw -2 as int32 ABCD)"),
        ("holding 4-6 string", "AB", "10 0004 0003 06 4142 0000 0000", 'FC16 wire 4-6, 40005-40007 := 4142 0000 0000 (raw "AB" as string)'),
        ("holding 5 bit 3", True, "16 0005 fff7 0008", "FC22 wire 5, 40006 bit 3 := 1 (mask write)"),
        ("holding 5 bit 3", False, "16 0005 fff7 0000", "FC22 wire 5, 40006 bit 3 := 0 (mask write)"),
    ],
)  # fmt: skip
async def test_a_write_is_encoded_as_it_goes_over_the_wire(item: str, value: Value, pdu: str, words: str):
    body = bytes.fromhex(pdu)
    tcp, rtu = ModbusDriver("modbus://127.0.0.1/7"), ModbusDriver("modbus+rtutcp://127.0.0.1/7")
    frame = await tcp.encode(tcp.point(item), value)
    assert frame == Frame(struct.pack(">HHHB", 1, 0, len(body) + 1, 7) + body, words)
    assert (await rtu.encode(rtu.point(item), value)).wire == b"\x07" + body + crc(b"\x07" + body)
    await tcp.close()
    await rtu.close()


@pytest.mark.parametrize(
    ("item", "value", "words"),
    [
        ("holding 1 uint16 x0.1", 20.05, "at scale 0.1 can hold: the nearest are 20 and 20.1"),
        ("holding 1 uint16", 65_536, "65536 does not fit uint16"),
        ("holding 1 uint16", -1, "-1 does not fit uint16"),
        ("holding 1 uint16", 1.5, "the nearest are 1 and 2"),
        ("holding 1 float32 ABCD", 1e39, "too great for float32"),
        ("holding 1 float32 ABCD", float("nan"), "nan is no number that a device should be given"),
        ("holding 1 uint16", float("nan"), "nan is no"),
        ("holding 1 uint16", "on", "'on' is no number"),
        ("holding 1 uint16", True, "true is not written to a uint16"),
        ("holding 1", 5, "has no type, and a write needs one"),
        ("holding 1 float32", 5.0, "devices differ in their order: a write needs it"),
        ("holding 1-4 uint16", 5, "are 4 values; write one at a time"),
        ("input 1 uint16", 5, "Input registers can only be read"),
        ("discrete 1", True, "Discrete inputs can only be read"),
        ("coil 1", 2, "2 is neither true nor false"),
        ("coil 0-3", 16, "bit 0 for coil 0: 0 to 15"),
        ("40001 uint16", 5, "40001 may mean 'holding 0' or 'holding 40000'"),
        ("sunspec", 5, "can only be read"),
    ],
)
async def test_what_cannot_be_written_is_refused_before_anything_is_sent(item: str, value: Value, words: str):
    one = ModbusDriver("modbus://127.0.0.1:1/7")
    with pytest.raises(ToolFault) as fault:
        await one.encode(one.point(item), value)
    assert words in str(fault.value)
    await one.close()


async def test_a_write_is_sent_once_exactly_as_it_was_shown_and_acknowledged():
    async with raw_device(echoed) as raw, driver(f"{raw.url}/7") as one:
        write = await approved(one, "holding 2 float32 CDAB", 230.5)
        await one.encode(one.point("coil 0"), True)
        sent = await one.write(write)
    assert raw.requests == [write.plan.frame.wire]
    assert (sent.effect, sent.words) == (Effect.WRITTEN, "Unit 7 acknowledged it.")
    assert sent.reply == mbap(raw.requests[0], raw.requests[0][7:12])


@pytest.mark.parametrize(
    ("item", "value"),
    [("holding 1 uint16", 850), ("holding 2 float32 CDAB", 12.5), ("holding 4-6 string", "AB"), ("coil 5", True),
     ("coil 2-11", 0b10_0000_0001), ("holding 5 bit 3", True)],
)  # fmt: skip
async def test_a_real_server_holds_what_was_written(item: str, value: Value):
    async with pymodbus_device({0: [0] * 10}) as url, driver(f"{url}/7") as one:
        sent = await one.write(await approved(one, item, value))
        readings = await one.read([one.point(item)])
    assert sent.effect is Effect.WRITTEN
    bits = sum(bool(r.value) << n for n, r in enumerate(readings))
    assert value == (bits if item.startswith("coil 2") else readings[0].value)


async def test_a_lost_reply_leaves_the_outcome_unknown_and_nothing_is_sent_again():
    async with raw_device(lambda _: b"") as raw, driver(f"{raw.url}/7?timeout=0.1") as one:
        sent = await one.write(await approved(one, "coil 5", True))
    assert len(raw.requests) == 1
    assert sent.effect is Effect.UNKNOWN
    assert sent.words.startswith("The request was sent once and no reply to it came, so the device may or may not")


async def test_a_connection_lost_after_sending_leaves_the_outcome_unknown_and_nothing_is_sent_again():
    async with raw_device(lambda _: None) as raw, driver(f"{raw.url}/7") as one:
        sent = await one.write(await approved(one, "coil 5", True))
    assert (sent.effect, len(raw.requests), raw.connections) == (Effect.UNKNOWN, 1, 1)
    assert "closed the connection without a reply" in sent.words


async def test_half_a_reply_leaves_the_outcome_unknown():
    async with raw_device(lambda r: echoed(r)[:9]) as raw, driver(f"{raw.url}/7?timeout=0.1") as one:
        sent = await one.write(await approved(one, "coil 5", True))
    assert (sent.effect, len(raw.requests)) == (Effect.UNKNOWN, 1)


async def test_without_a_connection_nothing_was_sent(unused_tcp_port: int):
    async with driver(f"modbus://127.0.0.1:{unused_tcp_port}/7") as one:
        sent = await one.write(await approved(one, "coil 5", True))
    assert sent.effect is Effect.NOT_SENT
    assert "nothing was sent" in sent.words


@pytest.mark.parametrize(
    ("code", "effect", "words"),
    [
        (ExcCodes.ILLEGAL_FUNCTION, Effect.REJECTED, "exception 0x01 (illegal function)"),
        (ExcCodes.ILLEGAL_ADDRESS, Effect.REJECTED, "exception 0x02 (illegal data address)"),
        (ExcCodes.ILLEGAL_VALUE, Effect.REJECTED, "exception 0x03 (illegal data value)"),
        (ExcCodes.DEVICE_FAILURE, Effect.REJECTED, "exception 0x04 (device failure)"),
        (ExcCodes.DEVICE_BUSY, Effect.REJECTED, "exception 0x06 (device busy)"),
        (ExcCodes.ACKNOWLEDGE, Effect.UNKNOWN, "It may still be done, or have been done"),
        (ExcCodes.GATEWAY_NO_RESPONSE, Effect.UNKNOWN, "It may still be done, or have been done"),
    ],
)
async def test_an_exception_is_told_and_the_write_is_not_repeated(code: ExcCodes, effect: Effect, words: str):
    requests = 0

    async def refuse(*_: object) -> ExcCodes:
        nonlocal requests
        requests += 1
        return code

    async with pymodbus_device(action=refuse) as url, driver(f"{url}/7") as one:
        sent = await one.write(await approved(one, "holding 1 uint16", 5))
    assert (sent.effect, requests) == (effect, 1)
    assert words in sent.words


async def test_a_device_without_mask_write_says_what_to_do_instead():
    async with raw_device(lambda r: mbap(r, b"\x96\x01")) as raw, driver(f"{raw.url}/7") as one:
        sent = await one.write(await approved(one, "holding 5 bit 3", True))
    assert sent.effect is Effect.REJECTED
    assert sent.words.endswith("with its whole register, as a tag of type uint16.")


async def test_a_write_over_tls_with_a_file_that_is_no_certificate_was_not_sent(tmp_path: Path):
    async with driver(f"modbus+tls://127.0.0.1:1/7?ca={tmp_path / 'none.pem'}") as one:
        sent = await one.write(await approved(one, "coil 1", True))
    assert sent.effect is Effect.NOT_SENT


async def test_a_device_that_acknowledges_another_value_is_not_said_to_have_written_ours():
    async with raw_device(lambda r: mbap(r, r[7:10] + b"\x00\x32")) as raw, driver(f"{raw.url}/7") as one:
        sent = await one.write(await approved(one, "holding 1 uint16", 200))
    assert sent.effect is Effect.UNKNOWN
    assert "acknowledged something else: 06 00 01 00 32 where 06 00 01 00 c8 was due" in sent.words


async def test_an_acknowledgement_of_another_unit_leaves_the_outcome_unknown():
    async with raw_device(lambda r: mbap(r, r[7:], unit=5)) as raw, driver(f"{raw.url}/7") as one:
        sent = await one.write(await approved(one, "holding 1 uint16", 200))
    assert sent.effect is Effect.UNKNOWN
    assert "Asked unit 7, and unit 5 answered" in sent.words


async def test_a_plan_for_another_unit_is_not_sent():
    async with raw_device(echoed) as raw, driver(f"{raw.url}/7") as one, driver(f"{raw.url}/8") as other:
        with pytest.raises(WriteRefused, match="The frame is for unit 7"):
            await other.write(await approved(one, "coil 5", True))
    assert raw.requests == []


async def test_only_an_approved_write_is_sent():
    async with raw_device(echoed) as raw, driver(f"{raw.url}/7") as one:
        plan = (await approved(one, "coil 5", True)).plan
        with pytest.raises(ToolFault, match="approved"):
            await one.write(plan)  # type: ignore[arg-type]
    assert raw.requests == []


async def test_a_reply_to_a_write_that_comes_late_is_not_taken_for_that_of_the_read_back():
    held: list[bytes] = []

    def answer(request: bytes) -> bytes:
        if request[7] == 6:
            held.append(echoed(request))
            return b""
        return held[0] + mbap(request, b"\x03\x02\x00\xc8")

    async with raw_device(answer) as raw, driver(f"{raw.url}/7?timeout=0.1") as one:
        sent = await one.write(await approved(one, "holding 1 uint16", 200))
        (back,) = await one.read([one.point("holding 1 uint16")])
    assert (sent.effect, back.value) == (Effect.UNKNOWN, 200)


@settings(max_examples=25, deadline=None, database=None)
@given(
    st.sampled_from(["uint16", "int16", "uint32", "int32", "uint64", "int64", "bcd16", "bcd32"]),
    st.sampled_from(ORDERS),
    st.sampled_from([(1.0, 0.0), (0.1, 0.0), (0.5, -40.0), (10.0, 5.0)]),
    st.data(),
)
def test_what_is_written_is_what_is_read_for_every_type_order_and_scale(
    kind: str, order: str, form: tuple[float, float], data: st.DataObject
):
    scale, offset = form
    low, high = limits(kind)
    raw = data.draw(st.integers(max(low, -(10**9)), min(high, 10**9)))
    value = raw if form == (1.0, 0.0) else float(f"{raw * scale + offset:.12g}")
    item = f"holding 3 {kind} {order} x{scale!r} {offset:+}"

    async def there_and_back() -> Value | None:
        held: dict[int, int] = {}
        async with raw_device(memory(held)) as raw_one, driver(f"{raw_one.url}/7") as one:
            sent = await one.write(await approved(one, item, value))
            assert sent.effect is Effect.WRITTEN
            return (await one.read([one.point(item)]))[0].value

    assert asyncio.run(there_and_back()) == value


def memory(held: dict[int, int]) -> Callable[[bytes], bytes]:
    """A device that keeps what is written to its registers."""

    def answer(request: bytes) -> bytes:
        first, second = struct.unpack(">HH", request[8:12])
        if request[7] == 3:
            return registers(request, held)
        words = [second] if request[7] == 6 else struct.unpack(f">{second}H", request[13:])
        held.update({first + n: word for n, word in enumerate(words)})
        return echoed(request)

    return answer
