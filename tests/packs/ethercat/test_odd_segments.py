"""Segments that few plants have: large slaves, many slaves, no CoE, PDOs that are chosen, slaves that change places."""

from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager

import pytest
from oasis_ethercat.driver import EthercatDriver
from oasis_ethercat.master import Master
from oasis_ethercat.simulator.running import RunningSegment

from oasis.errors import ToolFault
from oasis.plant.driver import Budget, Effect
from tests.packs.ethercat.segments import bring, plugged, read, value, write

GATEWAY, ENCODER, SAFETY, BRIDGE = 1, 2, 3, 4


@pytest.fixture(scope="module")
def odd_segment() -> Iterator[RunningSegment]:
    with plugged("gateway", "encoder", "safety", "bridge") as run:
        yield run


@pytest.fixture
def odd(odd_segment: RunningSegment) -> RunningSegment:
    odd_segment.power_cycle()
    odd_segment.watchdog(600)
    return odd_segment


@pytest.fixture
async def master(odd: RunningSegment) -> AsyncGenerator[EthercatDriver]:
    async with driving(odd) as driver:
        yield driver


@asynccontextmanager
async def driving(segment: RunningSegment) -> AsyncGenerator[EthercatDriver]:
    driver = EthercatDriver(segment.url)
    try:
        yield driver
    finally:
        await driver.close()


async def lines(driver: EthercatDriver, item: str) -> tuple[str, ...]:
    return (await driver.scan([item], Budget())).found[0].more


async def test_process_data_of_more_than_one_frame_are_exchanged_and_counted(
    master: EthercatDriver, odd: RunningSegment
):
    await bring(master, "OP")
    cyclic = master.segment.cyclic
    assert cyclic
    assert cyclic.wait_good(3, 10)
    assert cyclic.expected == 2 + 2 + 1 + 3, "the inputs of the gateway are in two datagrams"
    assert (await write(master, "1 out 0x7000:100 uint32", 0xCAFE)).effect is Effect.WRITTEN
    assert odd.seen(GATEWAY)["outputs"]["Word 100"] == 0xCAFE
    odd.put(GATEWAY, 0x6030, 100, 0xBEEF)
    assert cyclic.wait_good(2, 10)
    assert await value(master, "1 in 0x6030:100 uint32") == 0xBEEF


async def test_pdos_that_are_chosen_by_coe_are_those_that_are_mapped(master: EthercatDriver, odd: RunningSegment):
    await bring(master, "PREOP")
    before = (await master.scan(["2 pdo"], Budget())).found
    assert [found.item for found in before[:-1]] == ["2 in 0x6000:1", "2 in 0x6000:4", "2 in 0x6000:17"]
    for sub, number in ((0, 0), (1, 0x1A02), (2, 0x1A03), (0, 2)):
        kind = "uint16" if sub else "uint8"
        assert (await write(master, f"2 0x1C13:{sub} {kind}", number)).effect is Effect.WRITTEN
    await bring(master, "OP")
    odd.put(ENCODER, 0x6000, 18, -5)
    odd.put(ENCODER, 0x6000, 19, 77)
    assert master.segment.cyclic
    assert master.segment.cyclic.wait_good(2, 10)
    assert {r.point.address: r.value for r in await read(master, "2 in")} == {
        "2 in 0x6000:18": -5,
        "2 in 0x6000:19": 77,
    }


async def test_pdos_chosen_after_mapping_are_mapped_from_init(master: EthercatDriver):
    await bring(master, "SAFEOP")
    await write(master, "2 state", "PREOP")
    await write(master, "2 0x1C13:0 uint8", 1)
    sent = await write(master, "2 state", "SAFEOP")
    assert (sent.effect, "PDOs of slave 2 were chosen anew" in sent.words) == (Effect.NOT_SENT, True)
    await bring(master, "INIT")
    await bring(master, "OP")
    assert [r.point.address for r in await read(master, "2 in")] == ["2 in 0x6000:1", "2 in 0x6000:4"]


async def test_bits_and_words_of_a_safety_frame_keep_their_places(master: EthercatDriver, odd: RunningSegment):
    await bring(master, "OP")
    await write(master, "3 out 0x7001:8 bool", True)
    await write(master, "3 out 0x7000:2 uint16", 0x1234)
    assert {k: v for k, v in odd.seen(SAFETY)["outputs"].items() if v} == {"Safe output 8": 1, "Connection": 0x1234}
    odd.put(SAFETY, 0x6001, 32, True)
    odd.put(SAFETY, 0x6000, 2, 0x4321)
    assert master.segment.cyclic
    assert master.segment.cyclic.wait_good(2, 10)
    assert [await value(master, f"3 in 0x{place}") for place in ("6001:32", "6001:31", "6000:2")] == [
        True,
        False,
        0x4321,
    ]


async def test_objects_that_cannot_be_listed_can_be_read_all_the_same(master: EthercatDriver, odd: RunningSegment):
    await bring(master, "PREOP")
    with pytest.raises(ToolFault, match="cannot be listed: the slave does not answer SDO information requests"):
        await master.scan(["3 od"], Budget())
    assert await value(master, "2 0x1008:0") == "OX-ENC"
    assert await value(master, "3 0x1018:2") == 0x5904


async def test_a_slave_with_a_mailbox_but_no_coe_says_so(master: EthercatDriver):
    await bring(master, "OP")
    (reading,) = await read(master, "4 0x1000:0")
    assert reading.status == "this slave's mailbox has no CoE, so no SDO: it has EOE"
    with pytest.raises(ToolFault, match="Slave 4 has no CoE"):
        await master.scan(["4 od"], Budget())
    (nothing,) = await read(master, "4 in")
    assert "nothing is mapped into in of this slave" in nothing.status
    assert "mailbox EOE: out 0x1000 128 bytes, in 0x1080 128 bytes" in await lines(master, "4")


async def test_mailbox_protocols_and_distributed_clocks_are_shown(master: EthercatDriver):
    found = (await master.scan([], Budget())).found
    assert [row.fields.get("clock", "") for row in found] == ["64 bit", "64 bit", "", ""]
    gateway = await lines(master, "1")
    assert "mailbox EOE, COE, FOE, VOE: out 0x1000 512 bytes, in 0x1200 512 bytes" in gateway
    assert "CoE sdo, sdo_info, pdo_assign, complete_access" in gateway
    assert "distributed clocks: supported, 64 bit; SYNC off, the slave runs freely" in gateway
    assert "distributed clocks: not supported" in await lines(master, "3")


async def test_an_object_is_read_whole_by_complete_access_or_one_by_one(master: EthercatDriver, odd: RunningSegment):
    await bring(master, "PREOP")
    uploads = odd.seen(ENCODER)["sdo_uploads"]
    whole = await read(master, "2 0x1018:all")
    assert [r.value for r in whole] == [4, 0xA515, 0x5002, 0x00020001, 2]
    assert (odd.seen(ENCODER)["sdo_uploads"] - uploads, "complete access, 18 bytes" in whole[0].where) == (1, True)
    single = await read(master, "3 0x1018:all")
    assert [r.value for r in single] == [4, 0xA515, 0x5904, 0x00010002, 3]
    assert "one by one: the slave's SII names no complete access" in single[1].where
    assert [(r.point.address, r.value) for r in await read(master, "2 0x1008:all")] == [("2 0x1008:0", "OX-ENC")]
    with pytest.raises(ToolFault, match="all subindexes at once"):
        await write(master, "2 0x1018:all", 1)


async def test_mapping_and_assignment_are_read_in_words(master: EthercatDriver):
    await bring(master, "PREOP")
    said = [r.more[0] for r in [*await read(master, "2 0x1A00:all"), *await read(master, "2 0x1C13:all")] if r.more]
    assert said == [
        "maps 0x6000:1, 1 bits",
        "2 bits of padding",
        "maps 0x6000:4, 1 bits",
        "12 bits of padding",
        "assigns PDO 0x1A00",
        "assigns PDO 0x1A01",
    ]


async def test_types_that_are_not_known_are_read_one_by_one_until_they_are(master: EthercatDriver):
    await bring(master, "PREOP")
    first = await read(master, "2 0x6000:all")
    assert "the type of subindex 1 is not known: scan `2 od` first" in first[0].where
    await master.scan(["2 od"], Budget())
    assert "complete access" not in (await read(master, "2 0x1C13:1"))[0].where
    assert "complete access, 10 bytes" in (await read(master, "2 0x1C13:all"))[0].where


async def test_an_exchanged_or_added_slave_is_another_identity(master: EthercatDriver, odd: RunningSegment):
    before = await master.identity()
    odd.swap(SAFETY, BRIDGE)
    swapped = await master.identity()
    odd.swap(SAFETY, BRIDGE)
    assert (await master.identity(), swapped != before) == (before, True)


async def test_slaves_that_change_places_while_configured_are_no_longer_there(
    master: EthercatDriver, odd: RunningSegment
):
    await bring(master, "PREOP")
    odd.swap(SAFETY, BRIDGE)
    states = await read(master, "3 state", "4 state", "2 state")
    assert ["no answer" in r.status for r in states] == [True, True, False]
    sent = await write(master, "bus state", "OP")
    assert (sent.effect, "Slave 3, 4 does not answer any more" in sent.words) == (Effect.NOT_SENT, True)
    odd.swap(SAFETY, BRIDGE)


MANY = ("do4",) * 20 + ("di4",) * 16 + ("drive",) * 4


async def test_forty_slaves_reach_op_and_each_bit_is_its_own():
    with plugged(*MANY) as run:
        run.watchdog(600)
        async with driving(run) as driver:
            assert len((await driver.scan([], Budget())).found) == 40
            await bring(driver, "OP")
            assert driver.segment.cyclic
            assert driver.segment.cyclic.expected == 20 * 2 + 16 + 4 * 3
            await write(driver, "19 out 0x7020:1 bool", True)
            await write(driver, "40 out 0x6040:0 uint16", 6)
            run.put(31, 0x6030, 1, True)
            assert driver.segment.cyclic.wait_good(2, 10)
            assert [n for n in range(1, 21) if any(run.seen(n)["outputs"].values())] == [19]
            assert [r.point.address for r in await read(driver, "in") if r.value is True] == ["31 in 0x6030:1"]
            assert "ready to switch on" in (await read(driver, "40 in 0x6041:0"))[0].more[0]


async def test_an_added_slave_is_another_identity():
    with plugged("do4") as run:
        async with driving(run) as driver:
            before = await driver.identity()
            run.add("di4")
            after = await driver.identity()
    assert (before[:8], after[:8]) == ("1 slaves", "2 slaves")


async def test_more_process_data_than_pysoem_holds_are_not_mapped():
    with plugged("gateway", "gateway", "gateway") as run:
        async with driving(run) as driver:
            sent = await write(driver, "bus state", "OP")
            assert (sent.effect, "The segment has 6000 bytes of process data" in sent.words) == (Effect.NOT_SENT, True)
            assert await value(driver, "bus state") == "PREOP"


def test_more_slaves_than_pysoem_handles_are_refused_before_anything_is_sent():
    with pytest.raises(ToolFault, match="200 slaves answer and pysoem handles 199"):
        Master("eth9", {}, 200)
