"""What goes wrong on the wire, and in which words it is told."""

import asyncio
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oasis_modbus import faults
from pymodbus.constants import ExcCodes

from oasis.errors import ToolFault
from tests.packs.modbus.servers import driver, mbap, pymodbus_device, raw_device, read, registers


async def fault_of(url: str, item: str = "holding 0 uint16") -> str:
    with pytest.raises(ToolFault) as fault:
        await read(url, item)
    return str(fault.value)


@pytest.mark.parametrize("asked", [0, 1, 255])
async def test_a_reply_of_another_unit_is_reported_and_not_used(asked: int):
    async with raw_device(lambda r: mbap(r, b"\x03\x02\x12\x34", unit=5)) as raw:
        words = await fault_of(f"{raw.url}/{asked}")
    assert words.startswith(f"Asked unit {asked}, and unit 5 answered. The reply is not used")
    assert "4660" not in words


async def test_a_reply_of_another_transaction_is_reported_and_not_used():
    async with raw_device(lambda r: b"\x77\x77" + mbap(r, b"\x03\x02\x12\x34")[2:]) as raw:
        words = await fault_of(f"{raw.url}/1")
    assert "answered transaction 30583 where 1 was asked. The reply is not used" in words


async def test_a_reply_of_another_function_is_not_used():
    async with raw_device(lambda r: mbap(r, b"\x04\x02\x12\x34")) as raw:
        assert await fault_of(f"{raw.url}/1") == "Asked function 03, and a reply to function 04 came. It is not used."


@pytest.mark.parametrize(("unit", "advice"), [(3, "the unit is off, or it takes longer than that."), (255, "try 1.")])
async def test_silence_is_explained(unit: int, advice: str):
    async with raw_device(lambda _: b"") as raw:
        words = await fault_of(f"{raw.url}/{unit}?timeout=0.1")
    assert f"did not answer for unit {unit} within 0.1 s: wrong unit number" in words
    assert words.endswith(advice)


async def test_a_reply_that_comes_after_it_was_given_up_on_is_not_taken_for_the_next():
    held: list[bytes] = []

    def answer(request: bytes) -> bytes:
        reply = registers(request, {0: 11, 1: 22})
        if not held:
            held.append(reply)
            return b""
        return held[0] + reply

    async with raw_device(answer) as raw, driver(f"{raw.url}/1?timeout=0.1") as one:
        with pytest.raises(faults.Silent):
            await one.read([one.point("holding 0 uint16")])
        (reading,) = await one.read([one.point("holding 1 uint16")])
    assert reading.value == 22


async def test_half_a_reply_is_told_with_its_bytes_and_the_next_one_is_whole():
    answers = iter([b"\x00\x01\x00\x00\x00\x05\x01\x03", None])

    def answer(request: bytes) -> bytes:
        return next(answers, None) or registers(request, {0: 5})

    async with raw_device(answer) as raw, driver(f"{raw.url}/1?timeout=0.1") as one:
        with pytest.raises(faults.Silent, match=r"sent only 8 bytes of a reply within 0.1 s \(00 01 00 00 00 05 01 03"):
            await one.read([one.point("holding 0")])
        (reading,) = await one.read([one.point("holding 0 uint16")])
    assert (reading.value, raw.connections) == (5, 2)


async def test_a_connection_closed_in_mid_reply_is_told_with_its_bytes():
    server = None

    def answer(request: bytes) -> bytes:
        return registers(request, {0: 5})[:9]

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(answer(await reader.read(260)))
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        words = await fault_of(f"modbus://127.0.0.1:{server.sockets[0].getsockname()[1]}/1")
    assert "closed the connection in the middle of a reply (9 bytes came: 00 01 00 00 00 05 01 03 02)" in words


async def test_a_connection_that_closed_without_a_reply_is_made_anew_and_asked_once_more():
    first = iter([None])

    def answer(request: bytes) -> bytes | None:
        return next(first, registers(request, {0: 5}))

    async with raw_device(answer) as raw:
        (reading,) = await read(f"{raw.url}/1", "holding 0 uint16")
    assert (reading.value, raw.connections) == (5, 2)


async def test_a_device_that_always_closes_is_told():
    async with raw_device(lambda _: None) as raw:
        assert "closed the connection without a reply" in await fault_of(f"{raw.url}/1")
    assert raw.connections == 2


async def test_garbage_is_shown_and_not_used():
    async with raw_device(lambda _: b"HTTP/1.1 400 Bad Request\r\n\r\n") as raw:
        words = await fault_of(f"{raw.url}/1")
    assert "sent something that is not a Modbus reply (no Modbus TCP header): 48 54 54 50 2f 31 2e" in words


async def test_a_reply_with_fewer_registers_than_asked_is_not_used():
    async with raw_device(lambda r: mbap(r, b"\x03\x02\0\x01")) as raw:
        words = await fault_of(f"{raw.url}/1", "holding 0-1 uint16")
    assert words.endswith(" 4 bytes, and sent 2. Nothing of it is used.")


async def test_nobody_listening_is_explained(unused_tcp_port: int):
    words = await fault_of(f"modbus://127.0.0.1:{unused_tcp_port}/1")
    assert words.startswith(f"No connection to 127.0.0.1:{unused_tcp_port} (Connection refused): nothing listens there")
    assert "nothing was sent" in words


@pytest.mark.parametrize(
    ("code", "words", "asked"),
    [
        (ExcCodes.ILLEGAL_FUNCTION, "exception 0x01 (illegal function)", 1),
        (ExcCodes.ACKNOWLEDGE, "exception 0x05 (acknowledge)", 4),
        (ExcCodes.DEVICE_BUSY, "exception 0x06 (device busy)", 4),
        (ExcCodes.GATEWAY_PATH_UNAVIABLE, "exception 0x0A (gateway path unavailable)", 1),
        (ExcCodes.GATEWAY_NO_RESPONSE, "exception 0x0B (gateway target did not respond)", 4),
    ],
)
async def test_exceptions_are_put_in_words_and_a_busy_device_is_asked_again(code: ExcCodes, words: str, asked: int):
    requests = 0

    async def refuse(*_: object) -> ExcCodes:
        nonlocal requests
        requests += 1
        return code

    async with pymodbus_device(action=refuse) as url, driver(f"{url}/7") as one:
        (reading,) = await one.read([one.point("holding 0 uint16")])
    assert words in reading.status
    assert requests == asked


async def test_a_device_busy_for_a_while_is_read_in_the_end_on_a_new_connection():
    answers = iter([b"\x83\x06"] * 3)

    def answer(request: bytes) -> bytes:
        pdu = next(answers, b"")
        return mbap(request, pdu) if pdu else registers(request, {0: 5})

    async with raw_device(answer) as raw:
        (reading,) = await read(f"{raw.url}/1", "holding 0 uint16")
    assert (reading.value, len(raw.requests), raw.connections) == (5, 4, 2)


async def test_an_exception_code_that_is_not_in_the_standard_is_shown():
    async with raw_device(lambda r: mbap(r, b"\x83\x77")) as raw:
        (reading,) = await read(f"{raw.url}/1", "holding 0 uint16")
    assert "exception 0x77 (not in the standard)" in reading.status


async def test_what_was_read_before_a_fault_of_the_wire_is_kept_and_the_rest_says_why():
    def answer(request: bytes) -> bytes:
        (first,) = struct.unpack(">H", request[8:10])
        return b"" if first else registers(request, {0: 5})

    async with raw_device(answer) as raw:
        low, high, higher = await read(f"{raw.url}/1?timeout=0.1", "holding 0 uint16", "holding 50", "holding 90")
    assert low.value == 5
    assert (high.status, higher.status) == ("not read: no reply", "not read: no reply")
    assert "did not answer for unit 1 within 0.1 s" in high.more[0]
    assert len(raw.requests) == 2, "a silent device was asked on"


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (b"\x01\x03\x02\x00\x05\x00\x00", "its checksum is wrong): 01 03 02 00 05 00 00"),
        (b"\x05\x03\x02\x00\x05\x89\x87", "Asked unit 1, and unit 5 answered"),
    ],
)
async def test_serial_frames_over_tcp_are_checked(reply: bytes, words: str):
    async with raw_device(lambda _: reply, "modbus+rtutcp") as raw:
        assert words in await fault_of(f"{raw.url}/1")


@settings(max_examples=15, deadline=None, database=None)
@given(st.sampled_from(["modbus", "modbus+rtutcp"]), st.binary(min_size=1, max_size=40), st.booleans())
def test_whatever_a_device_answers_is_a_reading_or_is_told_in_words(scheme: str, noise: bytes, has_header: bool):
    """Random bytes, alone and behind a header that fits the request."""

    def answer(request: bytes) -> bytes:
        return mbap(request, noise) if has_header and scheme == "modbus" else noise

    async def ask() -> None:
        async with raw_device(answer, scheme) as raw, driver(f"{raw.url}/1?timeout=0.05") as one:
            for items in (["holding 0-3", "coil 0-9"], ["sunspec"]):
                try:
                    readings = await one.read([one.point(item) for item in items])
                except ToolFault as fault:
                    assert len(str(fault)) > 20
                else:
                    assert readings
            try:
                assert isinstance(await one.identity(), str)
            except ToolFault as fault:
                assert len(str(fault)) > 20

    asyncio.run(ask())


async def test_a_serial_frame_that_nobody_asked_for_is_not_taken_for_the_next_reply():
    replies = iter([b"\x01\x03\x02\x00\x05\x78\x47", b"\x01\x03\x02\x00\x06\x38\x46"])
    writers: list[asyncio.StreamWriter] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)
        while await reader.read(260):
            writer.write(next(replies))
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server, driver(f"modbus+rtutcp://127.0.0.1:{server.sockets[0].getsockname()[1]}/1") as one:
        await one.read([one.point("holding 0")])
        writers[0].write(b"\x01\x03\x02\x00\x05\x78\x47")
        await writers[0].drain()
        await asyncio.sleep(0)
        (reading,) = await one.read([one.point("holding 0 uint16")])
    assert reading.value == 6


async def test_serial_frames_over_tcp_after_silence_begin_on_a_new_connection():
    answers = iter([b""])

    def answer(_: bytes) -> bytes:
        return next(answers, b"\x01\x03\x02\x00\x05\x78\x47")

    async with raw_device(answer, "modbus+rtutcp") as raw, driver(f"{raw.url}/1?timeout=0.1") as one:
        with pytest.raises(faults.Silent, match="baud rate"):
            await one.read([one.point("holding 0")])
        (reading,) = await one.read([one.point("holding 0 uint16")])
    assert (reading.value, raw.connections) == (5, 2)
