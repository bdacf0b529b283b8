"""What is there: units of a gateway, and what one unit is and holds; within a budget."""

import asyncio
import struct

import pytest
from oasis_modbus import scan_units
from oasis_modbus.endpoint import parse
from oasis_modbus.frames import crc
from oasis_modbus.scan_units import order

from oasis.errors import ToolFault
from oasis.plant.driver import Budget, Found, Scan
from tests.packs.modbus.servers import Raw, driver, mbap, pymodbus_device, raw_device, registers

UNITS_SAID = "Units are 1 to 247 and 255 (a device's own); 0 is not asked: it is the broadcast of a serial line."


async def scan(url: str, *items: str, budget: Budget | None = None) -> Scan:
    async with driver(url) as one:
        return await one.scan(items, budget or Budget())


def gateway(*present: int, absent: bytes | None = b"\x83\x0b"):
    """Answers for a gateway with some units; for the others with an exception, or (None) not at all."""

    def answer(request: bytes) -> bytes:
        if request[6] in present:
            return mbap(request, b"\xab\x01") if request[7] == 0x2B else registers(request, {0: request[6]})
        return mbap(request, absent) if absent else b""

    return answer


def test_common_units_are_asked_first_and_each_once():
    tcp, rtu = order(parse("modbus://h")), order(parse("modbus+rtu:///dev/ttyS0"))
    assert tcp[:3] == [1, 255, 2]
    assert sorted(tcp) == [*range(1, 248), 255]
    assert sorted(rtu) == list(range(1, 248))


@pytest.mark.parametrize("absent", [b"\x83\x0b", b"\x83\x0a"])
async def test_the_units_of_a_gateway_are_found(absent: bytes):
    async with raw_device(gateway(3, 17, 240, absent=absent)) as raw:
        done = await scan(raw.url)
    assert [f.item for f in done.found] == [f"{raw.url}/{unit}" for unit in (3, 17, 240)]
    assert done.found[0].fields["answered"] == "holding 0 = 0003"
    assert (done.notes, done.stopped) == ((UNITS_SAID,), "")


async def test_247_units_of_which_three_answer_and_the_others_are_silent_stay_within_the_budget(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(scan_units, "LEAST_S", 0.005)
    budget = Budget(requests=300)
    async with raw_device(gateway(1, 17, 240, absent=None)) as raw:
        done = await scan(raw.url, budget=budget)
    assert [f.item.rsplit("/", 1)[1] for f in done.found] == ["1", "17", "240"]
    assert done.stopped == ""
    assert (len(raw.requests) <= 300, raw.connections) == (True, 1)
    assert budget.left_s > 0


async def test_a_scan_of_units_stops_for_its_requests_and_says_which_were_not_asked():
    async with raw_device(gateway(1, 2)) as raw:
        done = await scan(raw.url, budget=Budget(requests=10))
    assert [f.item for f in done.found] == [f"{raw.url}/1", f"{raw.url}/2"]
    assert done.stopped.startswith("its budget of 10 requests is spent; 10 of 248 units were asked, not: 6-9, 12-19")


async def test_a_scan_of_units_stops_for_its_time():
    now = iter(range(0, 10_000, 1))
    async with raw_device(gateway(1)) as raw:
        done = await scan(raw.url, budget=Budget(seconds=60, clock=lambda: next(now)))
    assert done.stopped.startswith("its budget of 60 s is spent; ")


async def test_a_device_that_answers_for_any_unit_is_said_to_and_is_found_once():
    async with raw_device(lambda r: registers(r, {0: 5})) as raw:
        done = await scan(raw.url)
    assert [f.item for f in done.found] == [f"{raw.url}/1"]
    assert "It answers alike for every unit that was asked (1-5, 199, 231, 255): one device" in done.notes[0]
    assert done.stopped == ""


async def test_a_unit_that_answers_late_is_found_as_well():
    held: list[bytes] = []

    def answer(request: bytes) -> bytes:
        if request[6] == 9 and not held:
            held.append(registers(request, {0: 9}))
            return b""
        late, held[:] = (held[0], [b""]) if held and request[6] == 1 else (b"", held)
        return late + gateway(1, 9)(request)

    async with raw_device(answer) as raw:
        done = await scan(raw.url)
    assert [f.item.rsplit("/", 1)[1] for f in done.found] == ["1", "9"]


async def test_units_whose_answers_were_lost_with_the_connection_are_asked_again():
    """Unit 9 is slow and holds up the line; then unit 12 answers garbage, and what was on its way is lost."""
    held: list[bytes] = []

    def answer(request: bytes) -> bytes:
        if request[6] == 9 and not held:
            held.append(b"")
            return b""
        if request[6] == 12:
            return b"HTTP/1.1 400 Bad Request\r\n"
        return gateway(1, 9)(request)

    async with raw_device(answer) as raw:
        done = await scan(raw.url)
    assert [f.item.rsplit("/", 1)[1] for f in done.found] == ["1", "9"]
    assert done.notes[0].startswith("While unit 12 was asked: ")


async def test_a_gateway_that_goes_away_leaves_what_was_found_and_says_so():
    server: asyncio.Server | None = None

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while (request := await reader.read(260)) and request[6] != 3:
            writer.write(gateway(1)(request))
        assert server
        server.close()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    done = await scan(f"modbus://127.0.0.1:{server.sockets[0].getsockname()[1]}")
    await server.wait_closed()
    assert [f.item.rsplit("/", 1)[1] for f in done.found] == ["1"]
    assert done.stopped.startswith("No connection to 127.0.0.1:")
    assert "; 4 of 248 units were asked, not: 4-" in done.stopped


async def test_units_behind_a_serial_server_are_found_on_one_connection(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(scan_units, "LEAST_S", 0.005)
    monkeypatch.setattr(scan_units, "order", lambda _: [1, 2, 3, 4, 5, 6])

    def answer(request: bytes) -> bytes:
        body = bytes([request[0], 3, 2, 0, request[0]])
        return body + crc(body) if request[0] in (1, 4) and request[1] == 3 else b""

    async with raw_device(answer, "modbus+rtutcp") as raw:
        done = await scan(raw.url)
    assert [f.item.rsplit("/", 1)[1] for f in done.found] == ["1", "4"]
    assert raw.connections == 1


async def test_one_slow_unit_does_not_make_the_scan_slow():
    seen = scan_units._Seen(waits_s=[0.001, 0.4, 0.002])
    assert seen.usual_s == 0.002


async def test_a_gateway_that_waits_long_for_absent_units_is_given_the_time(monkeypatch: pytest.MonkeyPatch):
    """It asks its line for one request after the other: impatience would only fill its queue."""
    monkeypatch.setattr(scan_units, "FIRST_S", 0.02)
    monkeypatch.setattr(scan_units, "LEAST_S", 0.02)
    monkeypatch.setattr(scan_units, "order", lambda _: [5, 6, 1, 2, 3, 4, 9, 7, 8])
    waiting: asyncio.Queue[tuple[bytes, asyncio.StreamWriter]] = asyncio.Queue()
    most_waiting = 0

    async def work() -> None:
        nonlocal most_waiting
        while True:
            most_waiting = max(most_waiting, waiting.qsize())
            request, writer = await waiting.get()
            if request[6] not in (1, 9):
                await asyncio.sleep(0.06)
            writer.write(gateway(1, 9)(request))

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while request := await reader.read(260):
            for at in range(0, len(request), 12):
                waiting.put_nowait((request[at : at + 12], writer))
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    working = asyncio.ensure_future(work())
    async with server:
        done = await scan(f"modbus://127.0.0.1:{server.sockets[0].getsockname()[1]}")
    working.cancel()
    assert [f.item.rsplit("/", 1)[1] for f in done.found] == ["1", "9"]
    assert most_waiting <= 5


async def test_where_nothing_answers_the_scan_says_so():
    async with raw_device(gateway()) as raw:
        done = await scan(raw.url)
    assert done.found == ()
    assert done.notes[0].startswith(f"No unit answered at {raw.url.removeprefix('modbus://')}. Something listens there")


async def test_items_need_a_unit():
    with pytest.raises(ToolFault, match="Items belong to one unit"):
        await scan("modbus://127.0.0.1", "holding 0-9")


async def test_units_are_found_with_what_each_says_it_is():
    async with pymodbus_device(units=(1, 5)) as url:
        done = await scan(url, budget=Budget(seconds=5))
    assert [f.item for f in done.found] == [f"{url}/1", f"{url}/5"]
    assert done.found[0].fields["identity"] == 'vendor "Acme" product "P1" revision "2"'
    assert done.notes[0] == "246 units answer exception 0x04, unlikely ones too: taken as nobody."


def ranges(done: Scan) -> list[str]:
    return [f.item for f in done.found if f.kind == "range"]


async def test_one_unit_is_identified_and_its_readable_ranges_found():
    words = {0: range(7), 10: range(4), 100: range(300), 40_000: [1]}
    async with pymodbus_device(words, inputs={5: [1, 2]}) as url:
        done = await scan(f"{url}/7")
    assert ranges(done)[:4] == [
        "holding 0-6",
        "holding 10-13",
        "holding 100-399",
        "holding 40000-40000",
    ]
    assert [item for item in ranges(done) if not item.startswith("holding")] == ["discrete 0-15", "coil 0-15"]
    assert done.found[0].kind == "identity"
    assert done.stopped == ""


async def test_the_addresses_of_a_given_range_are_all_decided():
    words = {0: range(7), 9: [1], 50: range(100), 151: [3]}
    async with pymodbus_device(words) as url:
        done = await scan(f"{url}/7", "holding 0-199")
    assert ranges(done) == ["holding 0-6", "holding 9-9", "holding 50-149", "holding 151-151"]
    assert (done.notes, done.stopped) == ((), "")


async def test_a_search_that_ends_for_its_budget_names_what_is_not_decided():
    async with pymodbus_device({0: range(4), 300: range(50)}) as url:
        done = await scan(f"{url}/7", "holding 0-999", budget=Budget(requests=75))
    assert ranges(done) == ["holding 0-3", "holding 300-349"]
    assert done.stopped.startswith("its ")
    assert "requests is spent; not resolved (addresses 32 apart were looked at): holding " in done.stopped


async def test_a_map_without_gaps_is_found_in_whole_blocks():
    async with pymodbus_device({0: range(1000)}) as url:
        budget = Budget()
        done = await scan(f"{url}/7", "holding 0-999", budget=budget)
    assert (ranges(done), budget.spent) == (["holding 0-999"], 8)


async def test_a_long_range_is_followed_for_a_while_only():
    async with pymodbus_device({0: range(5000)}) as url:
        done = await scan(f"{url}/7")
    assert any("holding: reads on after " in note for note in done.notes)


async def test_a_table_that_is_not_offered_costs_one_request():
    def answer(request: bytes) -> bytes:
        return registers(request, {0: 1}) if request[7] == 3 else mbap(request, bytes([request[7] | 0x80, 1]))

    async with raw_device(answer) as raw:
        done = await scan(f"{raw.url}/1")
    assert "no input registers: the device does not offer function 04" in done.notes
    assert sum(r[7] == 4 for r in raw.requests) == 1


async def test_a_unit_that_is_silent_to_everything_is_a_fault():
    async with raw_device(lambda _: b"") as raw:
        with pytest.raises(ToolFault, match="did not answer for unit 1"):
            await scan(f"{raw.url}/1?timeout=0.05")


async def test_a_sunspec_chain_is_walked_and_its_models_named():
    common = struct.unpack(">66H", b"Acme".ljust(32, b"\0") + b"PV 5".ljust(32, b"\0") + bytes(68))
    words = [0x5375, 0x6E53, 1, 66, *common, 103, 50, *[0] * 50, 64_001, 3, 0, 0, 0, 0xFFFF, 0]
    async with pymodbus_device({40_000: words}) as url:
        done = await scan(f"{url}/7", "sunspec")
    assert done == Scan(
        (
            Found("sunspec", "holding 40002-40069", {"model": "1", "name": "common", "length": "66", "Mn": '"Acme"', "Md": '"PV 5"'}),
            Found("sunspec", "holding 40070-40121", {"model": "103", "name": "inverter, three phase", "length": "50"}),
            Found("sunspec", "holding 40122-40126", {"model": "64001", "name": "", "length": "3"}),
        )
    )  # fmt: skip


async def test_a_sunspec_chain_without_an_end_is_said_to_be_broken():
    words = [0x5375, 0x6E53, 1, 66, *[0] * 66]
    async with pymodbus_device({50_000: words}) as url:
        done = await scan(f"{url}/7", "sunspec")
    assert "holding 50070 does not read, where the next model or the end mark should be" in done.notes[0]


def requests_of(raw: Raw) -> list[tuple[int, int]]:
    return [struct.unpack(">HH", r[8:12]) for r in raw.requests if r[7] == 3]


async def test_no_address_is_asked_twice_on_its_own():
    async with raw_device(lambda r: registers(r, dict.fromkeys([3, 4, 9], 1))) as raw:
        await scan(f"{raw.url}/1", "holding 0-63")
    singles = [at for at, count in requests_of(raw) if count == 1]
    assert len(singles) == len(set(singles))


async def test_an_item_of_a_scan_that_is_no_table_is_told_as_it_was_written():
    async with pymodbus_device() as url, driver(f"{url}/7") as one:
        with pytest.raises(ToolFault, match=r"^'foo' names no table"):
            await one.scan(["foo"], Budget())
