"""Serial lines, over pseudo terminals."""

import asyncio
import os
import shutil
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from oasis_modbus import faults, scan_units
from oasis_modbus.driver import ModbusDriver
from oasis_modbus.frames import crc

from oasis.plant.driver import Budget, Effect
from tests.packs.modbus.servers import approved, driver, read

pytest.importorskip("serial", reason="pyserial is not installed")
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="pseudo terminals are POSIX")


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux terminals turn the parity down")
async def test_a_port_that_does_not_keep_a_parity_is_said_to_and_what_to_try():
    """A pseudo terminal drops the parity bit, and is found without it when it is opened again."""
    with line(answered) as (url, _):
        assert [r.value for r in await read(f"{url}&parity=E&unit=3", "holding 0")] == [100]
        with pytest.raises(
            faults.Unreachable,
            match=r"does not take baud=115200&parity=E&stop=1&bits=8 \(Invalid argument\).* try parity=N",
        ):
            await read(f"{url}&parity=E&unit=3", "holding 0")
        assert [r.value for r in await read(f"{url}&parity=N&unit=3", "holding 0")] == [100]


def framed(unit: int, pdu: bytes) -> bytes:
    return bytes([unit]) + pdu + crc(bytes([unit]) + pdu)


def answered(request: bytes) -> bytes:
    """Unit 3 with holding registers 0 to 9 of 100 and more, as a device would answer."""
    if request[0] != 3:
        return b""
    if request[1] == 3:
        first, count = struct.unpack(">HH", request[2:6])
        if first + count > 10:
            return framed(3, b"\x83\x02")
        return framed(3, bytes([3, count * 2]) + struct.pack(f">{count}H", *range(100 + first, 100 + first + count)))
    if request[1] == 0x2B:
        return framed(3, b"\x2b\x0e\x01\x01\0\0\x02\x00\x04Acme\x01\x02P1")
    return request


@contextmanager
def line(answer: Callable[[bytes], bytes], pieces: int = 1, pause_s: float = 0.0) -> Iterator[tuple[str, list[bytes]]]:
    """A pseudo terminal with `answer` at its other end; the URL without unit, and the requests that came."""
    import tty

    master, slave = os.openpty()
    tty.setraw(master)
    tty.setraw(slave)
    requests: list[bytes] = []

    def serve() -> None:
        while True:
            try:
                request = os.read(master, 260)
            except OSError:
                return
            if request == b"end":
                return
            requests.append(request)
            reply = answer(request)
            size = max(1, -(-len(reply) // pieces))
            for at in range(0, len(reply), size):
                os.write(master, reply[at : at + size])
                time.sleep(pause_s)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield f"modbus+rtu://{os.ttyname(slave)}?baud=115200", requests
    finally:
        os.write(slave, b"end")
        thread.join(5)
        os.close(master)
        os.close(slave)


@pytest.mark.parametrize("pieces", [1, 3, 9])
async def test_registers_are_read_however_the_reply_is_cut_up(pieces: int):
    with line(answered, pieces) as (url, requests):
        readings = await read(f"{url}&unit=3", "holding 0-3 uint16")
    assert [r.value for r in readings] == [100, 101, 102, 103]
    assert requests == [framed(3, b"\x03\0\0\0\x04")]


async def test_a_reply_that_takes_longer_than_the_time_out_is_heard_to_its_end():
    """As on a line of 1200 baud, where 125 registers take more than two seconds."""
    with line(answered, pieces=9, pause_s=0.04) as (url, requests):
        readings = await read(f"{url}&unit=3&timeout=0.2", "holding 0-9 uint16")
    assert [r.value for r in readings] == list(range(100, 110))
    assert len(requests) == 1


async def test_an_exception_is_told():
    with line(answered) as (url, _):
        (reading,) = await read(f"{url}&unit=3", "holding 50 uint16")
    assert "exception 0x02" in reading.status


async def test_the_device_is_identified():
    with line(answered) as (url, _):
        async with driver(f"{url}&unit=3") as one:
            assert await one.identity() == 'vendor "Acme" product "P1"'


async def test_an_adapter_that_echoes_the_request_does_no_harm():
    with line(lambda r: r + answered(r)) as (url, _):
        readings = await read(f"{url}&unit=3", "holding 0-1 uint16")
    assert [r.value for r in readings] == [100, 101]


async def test_the_echo_of_an_adapter_is_not_taken_for_an_acknowledgement():
    with line(lambda r: r + (answered(r) if r[1] == 3 else b"")) as (url, _):
        async with driver(f"{url}&unit=3&timeout=0.2") as one:
            await one.read([one.point("holding 0")])
            sent = await one.write(await approved(one, "coil 1", True))
    assert sent.effect is Effect.UNKNOWN


async def test_behind_the_echo_of_an_adapter_the_acknowledgement_is_seen():
    with line(lambda r: r + answered(r)) as (url, _):
        async with driver(f"{url}&unit=3") as one:
            await one.read([one.point("holding 0")])
            sent = [
                await one.write(await approved(one, item, value))
                for item, value in (("coil 1", True), ("holding 1 uint16", 7), ("holding 1 bit 3", True))
            ]
    assert [s.effect for s in sent] == [Effect.WRITTEN] * 3


async def test_noise_between_frames_does_no_harm():
    with line(lambda r: b"\xff\0" + answered(r) + b"\xff") as (url, requests):
        async with driver(f"{url}&unit=3") as one:
            for _ in range(3):
                (reading,) = await one.read([one.point("holding 0 uint16")])
                assert reading.value == 100
    assert len(requests) == 3


async def test_a_wrong_checksum_is_asked_once_more_and_then_told():
    with (
        line(lambda r: answered(r)[:-1] + b"\x00") as (url, requests),
        pytest.raises(faults.Garbled, match="its checksum is wrong"),
    ):
        await read(f"{url}&unit=3", "holding 0")
    assert len(requests) == 2


async def test_silence_names_what_is_wrong_on_a_line():
    with (
        line(lambda _: b"") as (url, _),
        pytest.raises(faults.Silent, match="wrong baud rate, parity or swapped A and B wires look the same"),
    ):
        await read(f"{url}&unit=3&timeout=0.1", "holding 0")


async def test_a_reply_of_another_unit_is_not_used():
    with (
        line(lambda r: framed(4, answered(r)[1:-2])) as (url, _),
        pytest.raises(faults.Strange, match="Asked unit 3, and unit 4 answered"),
    ):
        await read(f"{url}&unit=3", "holding 0")


async def test_a_late_reply_is_not_taken_for_the_next():
    held: list[bytes] = []

    def late(request: bytes) -> bytes:
        held.append(answered(request))
        return b"" if len(held) == 1 else held[-1]

    with line(late) as (url, _):
        async with driver(f"{url}&unit=3&timeout=0.1") as one:
            with pytest.raises(faults.Silent):
                await one.read([one.point("holding 5")])
            (reading,) = await one.read([one.point("holding 1 uint16")])
    assert reading.value == 101


async def test_a_write_is_sent_once_and_acknowledged():
    with line(answered) as (url, requests):
        async with driver(f"{url}&unit=3") as one:
            write = await approved(one, "holding 1 uint16", 5)
            sent = await one.write(write)
    assert (sent.effect, requests) == (Effect.WRITTEN, [write.plan.frame.wire])


async def test_two_units_on_one_line_share_the_port():
    with line(answered) as (url, _):
        async with driver(f"{url}&unit=3") as one, driver(f"{url}&unit=4&timeout=0.1") as other:
            point = one.point("holding 0 uint16")
            read_ones, silent = await asyncio.gather(one.read([point]), other.read([point]), return_exceptions=True)
    assert read_ones[0].value == 100  # type: ignore[index]
    assert isinstance(silent, faults.Silent)


async def test_the_units_of_a_line_are_found():
    with line(answered) as (url, _):
        async with driver(url) as one:
            done = await one.scan([], Budget(requests=12, seconds=20))
    assert [f.item for f in done.found] == [url.replace("?baud=115200", "?baud=115200&parity=E&stop=1&unit=3")]
    assert done.found[0].fields["answered"] == "holding 0 = 0064"


async def test_a_unit_that_answers_late_is_found_as_well(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(scan_units, "order", lambda _: [1, 3, 2, 4])
    held: list[bytes] = []

    def slow_at_first(request: bytes) -> bytes:
        if request[0] == 3 and not held:
            held.append(answered(request))
            return b""
        if request[0] == 2 and held[0]:
            late, held[0] = held[0], b""
            return late
        return answered(request)

    with line(slow_at_first) as (url, _):
        async with driver(url) as one:
            done = await one.scan([], Budget(seconds=8))
    assert [f.item.rsplit("=", 1)[1] for f in done.found] == ["3"]
    assert done.found[0].fields["answered"] == "holding 0 = 0064"


async def test_a_port_that_is_not_there_is_explained():
    with pytest.raises(faults.Unreachable, match="The serial port /dev/ttyNONE could not be opened"):
        await read("modbus+rtu:///dev/ttyNONE?unit=1", "holding 0")


async def test_a_cancelled_read_leaves_the_line_to_the_next():
    with line(lambda r: b"" if r[3] == 5 else answered(r)) as (url, requests):
        async with driver(f"{url}&unit=3&timeout=0.3") as one:
            asked = asyncio.ensure_future(one.read([one.point("holding 5")]))
            while not requests:
                await asyncio.sleep(0)
            asked.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asked
            (reading,) = await one.read([one.point("holding 1 uint16")])
    assert reading.value == 101


@pytest.mark.skipif(not shutil.which("socat"), reason="socat is not installed")
async def test_a_pair_of_terminals_of_socat_is_a_line(tmp_path):
    ends = [str(tmp_path / name) for name in ("a", "b")]
    pair = await asyncio.create_subprocess_exec(
        "socat", "-d", "-d", *(f"pty,rawer,link={end}" for end in ends), stderr=asyncio.subprocess.PIPE
    )
    assert pair.stderr
    while b"starting data transfer loop" not in await pair.stderr.readline():
        pass
    device = os.open(ends[1], os.O_RDWR | os.O_NOCTTY)
    loop = asyncio.get_running_loop()
    loop.add_reader(device, lambda: os.write(device, answered(os.read(device, 260))))
    try:
        readings = await read(f"modbus+rtu://{ends[0]}?unit=3", "holding 0-1 uint16")
    finally:
        loop.remove_reader(device)
        os.close(device)
        pair.terminate()
        await pair.communicate()
    assert [r.value for r in readings] == [100, 101]


async def test_nothing_is_opened_before_the_first_read():
    one = ModbusDriver("modbus+rtu:///dev/ttyNONE?unit=1")
    assert one.point("holding 0").address == "holding 0"
    await one.close()
