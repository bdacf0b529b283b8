"""Devices that keep to the protocol in their own way."""

import asyncio
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from oasis_modbus import faults

from oasis.plant.driver import Budget, Effect
from tests.packs.modbus.servers import approved, driver, mbap, raw_device, read, registers


@asynccontextmanager
async def closing_device(words: dict[int, int]) -> AsyncIterator[tuple[str, list[bytes]]]:
    """Ends the connection after each reply; its URL with unit, and the writes that it has executed."""
    writes: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if request := await reader.read(260):
            if request[7] == 6:
                at, value = struct.unpack(">HH", request[8:12])
                words[at] = value
                writes.append(request)
                writer.write(request)
            else:
                writer.write(registers(request, words))
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"modbus://127.0.0.1:{server.sockets[0].getsockname()[1]}/1", writes


async def test_a_device_that_closes_after_each_reply_is_read_and_written():
    async with closing_device({0: 820, 1: 850}) as (url, writes), driver(url) as one:
        effects: list[Effect] = []
        for value in range(10):
            await one.read([one.point("holding 0-1")])
            effects.append((await one.write(await approved(one, "holding 0 uint16", value))).effect)
        (reading,) = await one.read([one.point("holding 0 uint16")])
        done = await one.scan(["holding 0-9"], Budget())
    assert (effects, len(writes), reading.value) == ([Effect.WRITTEN] * 10, 10, 9)
    assert [found.item for found in done.found] == ["holding 0-1"]


async def test_a_device_that_takes_no_second_client_says_so():
    async with raw_device(lambda _: None) as raw:
        with pytest.raises(faults.Broken, match=r"it takes no further client .* is another program connected"):
            await read(f"{raw.url}/1", "holding 0")


def limited(most: int, code: int, addresses: range):
    """Answers what asks for more than `most` registers with exception `code`."""

    def answer(request: bytes) -> bytes:
        if request[7] in (3, 4) and struct.unpack(">H", request[10:12])[0] > most:
            return mbap(request, bytes([request[7] | 0x80, code]))
        return registers(request, {at: at for at in addresses})

    return answer


@pytest.mark.parametrize("code", [2, 3, 4])
@pytest.mark.parametrize("most", [1, 10, 50])
async def test_the_range_of_a_device_that_gives_a_few_registers_at_once_is_found_whole(most: int, code: int):
    async with raw_device(limited(most, code, range(100))) as raw, driver(f"{raw.url}/1") as one:
        done = await one.scan([], Budget())
    assert [found.item for found in done.found if found.kind == "range"] == ["holding 0-99", "input 0-99"]


async def test_that_a_device_gives_a_few_registers_at_once_is_learned_within_one_read():
    async with raw_device(limited(10, 3, range(1000))) as raw, driver(f"{raw.url}/1") as one:
        readings = await one.read([one.point("holding 0-999 uint16")])
    assert [r.value for r in readings] == list(range(1000))
    assert len(raw.requests) < 180


async def test_the_range_of_a_device_that_is_silent_to_other_addresses_is_found():
    def answer(request: bytes) -> bytes:
        reply = registers(request, {at: at for at in range(10)})
        return b"" if reply[7] & 0x80 and request[7] == 3 else reply

    async with raw_device(answer) as raw, driver(f"{raw.url}/1?timeout=0.3") as one:
        done = await one.scan(["holding 0-11"], Budget())
    assert [found.item for found in done.found] == ["holding 0-9"]
    assert done.notes[0].startswith("holding: silent to ") and not done.stopped


async def test_a_device_that_goes_away_while_it_is_scanned_is_not_taken_for_one_without_addresses():
    asked = 0

    def answer(request: bytes) -> bytes:
        nonlocal asked
        asked += 1
        return registers(request, {at: at for at in range(1_000)}) if asked < 5 else b""

    async with raw_device(answer) as raw, driver(f"{raw.url}/1?timeout=0.2") as one:
        done = await one.scan(["holding 0-999"], Budget())
    assert "did not answer for unit 1" in done.stopped


async def test_a_device_that_hangs_up_at_function_43_is_not_taken_for_dead():
    def answer(request: bytes) -> bytes | None:
        return None if request[7] == 0x2B else registers(request, {0: 820})

    async with raw_device(answer) as raw, driver(f"{raw.url}/1") as one:
        assert await one.identity() == ""


async def test_an_identity_that_always_says_that_more_follows_ends():
    def answer(request: bytes) -> bytes:
        return mbap(request, b"\x2b\x0e\x01\x81\xff\x00\x01\x00\x04Acme")

    async with raw_device(answer) as raw, driver(f"{raw.url}/1") as one:
        assert await one.identity() == 'vendor "Acme"'
    assert len(raw.requests) == 1


async def test_a_gateway_that_answers_too_late_each_time_is_told_from_one_that_is_silent():
    """It sends the reply to a request when the next one comes."""
    replies = [b""]

    def answer(request: bytes) -> bytes:
        replies.append(registers(request, {0: 820}))
        return replies[-2]

    async with raw_device(answer) as raw, driver(f"{raw.url}/1?timeout=0.2") as one:
        with pytest.raises(faults.Silent, match="wrong unit number"):
            await one.read([one.point("holding 0")])
        with pytest.raises(faults.Silent, match=r"it answers and takes longer. Give it more time \(\?timeout=0.8 in"):
            await one.read([one.point("holding 0")])
        sent = await one.write(await approved(one, "holding 0 uint16", 5))
    assert sent.effect is Effect.UNKNOWN
    assert len(raw.requests) == 3


async def test_a_reply_that_counts_itself_wrong_is_not_used():
    async with raw_device(lambda r: mbap(r, b"\x03\x04\x00\x01")) as raw:
        with pytest.raises(faults.Garbled, match="2 bytes, and sent 2, which it counts as 4"):
            await read(f"{raw.url}/1", "holding 0")


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (1, "illegal function"), (2, "illegal data address"), (3, "illegal data value"), (4, "device failure"),
        (5, "acknowledge"), (6, "device busy"), (7, "negative acknowledge"), (8, "memory parity error"),
        (9, "not in the standard"), (10, "gateway path unavailable"), (11, "gateway target did not respond"),
        (255, "not in the standard"),
    ],
)  # fmt: skip
async def test_every_exception_has_its_number_its_name_and_what_to_do(code: int, words: str):
    async with raw_device(lambda r: mbap(r, bytes([r[7] | 0x80, code]))) as raw:
        (reading,) = await read(f"{raw.url}/1", "holding 0")
    assert reading.status == f"exception 0x{code:02X} ({words})"
    assert len(reading.more[-1].partition("): ")[2]) > 20


async def test_addresses_up_to_65535_are_read():
    async with raw_device(lambda r: registers(r, {at: at for at in range(65_400, 65_536)})) as raw:
        readings = await read(f"{raw.url}/1", "holding 65400-65535 uint16", "holding 65534 uint32 ABCD")
    assert readings[-2].where == "FC03 wire 65535, 465536"
    assert [readings[135].value, readings[136].value] == [65_535, 65_534 << 16 | 65_535]
