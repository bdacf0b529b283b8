"""Looking at a segment without configuring it, and what is said where that cannot be."""

import subprocess
import sys

import pytest
from oasis_ethercat import raw
from oasis_ethercat.driver import EthercatDriver
from oasis_ethercat.segment import Segment
from oasis_ethercat.simulator.running import RunningSegment

from oasis.errors import ToolFault
from oasis.plant.driver import Budget
from tests.packs.ethercat.segments import read, value, write

WRITES = ("register_writes", "state_requests", "sii_writes", "sdo_downloads", "values_written", "output_writes")


def written(segment: RunningSegment) -> int:
    """How many writes of any kind the slaves have seen, the SII interface's read command apart."""
    return sum(segment.seen(position)[kind] for position in range(1, 7) for kind in WRITES)


async def test_a_scan_names_every_slave_and_writes_nothing(driver: EthercatDriver, segment: RunningSegment):
    done = await driver.scan([], Budget())
    assert [(f.item, f.fields["name"], f.fields["state"]) for f in done.found] == [
        ("1", "OX-COUPLER", "INIT"),
        ("2", "OX-DI8", "INIT"),
        ("3", "OX-DO8", "INIT"),
        ("4", "OX-DO4", "INIT"),
        ("5", "OX-AI2", "INIT"),
        ("6", "OX-DRIVE", "INIT"),
    ]
    assert (written(segment), segment.seen(6)["states"]) == (0, ["INIT"])


async def test_details_of_a_slave_come_from_registers_and_sii(driver: EthercatDriver, segment: RunningSegment):
    found, data, objects = (await driver.scan(["6"], Budget())).found
    assert found.fields["product"] == "0x00004402"
    assert "mailbox COE: out 0x1000 128 bytes, in 0x1080 128 bytes" in found.more
    assert (data.item, data.fields["outputs"], data.fields["inputs"]) == ("6 pdo", "96 bits", "112 bits")
    assert objects.item == "6 od"
    assert written(segment) == 0


async def test_the_process_data_of_an_unconfigured_slave_are_named_by_its_sii(driver: EthercatDriver):
    found = (await driver.scan(["4 pdo"], Budget())).found
    assert [f.item for f in found] == ["4 out 0x7000:1", "4 out 0x7010:1", "4 out 0x7020:1", "4 out 0x7030:1", "4 pdo"]
    assert found[-1].fields == {"outputs": "4 bits", "inputs": "0 bits", "from": "SII"}


async def test_states_are_read_without_configuring(driver: EthercatDriver, segment: RunningSegment):
    bus, one, gone, init = await read(driver, "bus state", "6 state", "9 state", "bus init")
    assert (bus.value, one.value, init.value) == ("INIT", "INIT", False)
    assert gone.status == "no slave 9: the segment has 6, counted from 1"
    assert written(segment) == 0


async def test_what_needs_a_configured_segment_says_what_to_plan(driver: EthercatDriver, segment: RunningSegment):
    sdo, inputs = await read(driver, "6 0x6041:0 uint16", "6 in")
    assert 'plan a write of "bus state" PREOP' in sdo.status
    assert 'plan a write of "bus state" OP' in inputs.status
    with pytest.raises(ToolFault, match='plan a write of "bus state" PREOP'):
        await driver.scan(["6 od"], Budget())
    assert written(segment) == 0


async def test_a_scan_stops_at_its_budget_and_says_so(driver: EthercatDriver):
    done = await driver.scan([], Budget(requests=2))
    assert (len(done.found), done.stopped) == (2, "its budget of 2 requests is spent")


async def test_no_such_interface_is_named_with_those_that_are():
    with pytest.raises(ToolFault, match='There is no network interface "nosuch0" on this machine'):
        await EthercatDriver("ethercat://nosuch0").scan([], Budget())


async def test_a_link_that_is_down_is_told_from_no_slaves(driver: EthercatDriver, segment: RunningSegment):
    segment.link(False)
    with pytest.raises(ToolFault, match=r"The link of .* is down"):
        await driver.scan([], Budget())
    segment.link(True)
    segment.cut_before(1)
    with pytest.raises(ToolFault, match=r"No EtherCAT slave answered on .*: the link is up"):
        await driver.scan([], Budget())


WITHOUT_CAP_NET_RAW = """
import asyncio, sys
from oasis.errors import ToolFault
from oasis.plant.driver import Budget
from oasis_ethercat.driver import EthercatDriver
try:
    asyncio.run(EthercatDriver(sys.argv[1]).scan([], Budget()))
except ToolFault as fault:
    print(fault)
"""


def drop_raw() -> None:
    """Take CAP_NET_RAW (13) out of what the next program may have (PR_CAPBSET_DROP is 24)."""
    import ctypes

    assert ctypes.CDLL(None).prctl(24, 13, 0, 0, 0) == 0


def test_without_cap_net_raw_the_right_is_named(segment: RunningSegment):
    run = subprocess.run(
        [sys.executable, "-c", WITHOUT_CAP_NET_RAW, segment.url],
        check=False,
        preexec_fn=drop_raw,
        env={"PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert "CAP_NET_RAW is missing" in run.stdout, run.stderr
    assert segment.frames() == 0


async def test_elsewhere_than_on_linux_the_passive_look_says_so(
    monkeypatch: pytest.MonkeyPatch, segment: RunningSegment
):
    monkeypatch.setattr(raw.sys, "platform", "darwin")
    with pytest.raises(ToolFault, match="Looking at a segment without configuring it needs Linux"):
        await EthercatDriver(segment.url).scan([], Budget())


FOREIGN_MASTER = """
import sys, time
import pysoem
pysoem.settings.timeouts.ret = 50_000
master = pysoem.Master()
master.open(sys.argv[1])
def cycle():
    master.send_processdata()
    master.receive_processdata(2000)
def is_in_op():
    if master.config_init() < 1 or master.state_check(pysoem.PREOP_STATE, 500000) != pysoem.PREOP_STATE:
        return False
    master.config_map()
    if master.state_check(pysoem.SAFEOP_STATE, 500000) != pysoem.SAFEOP_STATE:
        return False
    cycle()
    master.state = pysoem.OP_STATE
    master.write_state()
    for _ in range(100):
        cycle()
        if master.state_check(pysoem.OP_STATE, 2000) == pysoem.OP_STATE:
            return True
    return False
while not is_in_op():  # a busy machine loses frames
    pass
print("OP", flush=True)
while True:
    cycle()
    time.sleep(0.005)
"""


@pytest.fixture
def foreign(segment: RunningSegment, monkeypatch: pytest.MonkeyPatch):
    """Another master in a process of its own, with the slaves in OP; heard however seldom this machine runs it."""
    monkeypatch.setattr("oasis_ethercat.raw.LISTEN_S", 5.0)
    with subprocess.Popen([sys.executable, "-c", FOREIGN_MASTER, segment.interface], stdout=subprocess.PIPE) as master:
        assert master.stdout
        assert master.stdout.readline().strip() == b"OP"
        yield master
        master.kill()


async def test_another_master_that_is_sending_is_heard_and_left_alone(
    driver: EthercatDriver, segment: RunningSegment, foreign: "subprocess.Popen[bytes]"
):
    done = await driver.scan([], Budget())
    assert done.found == ()
    assert "Another master is sending" in done.notes[0]
    with pytest.raises(ToolFault, match="Another master is sending"):
        await write(driver, "bus state", "PREOP")
    assert segment.seen(3)["state"] == "OP"
    foreign.kill()
    foreign.wait()
    assert segment.until(lambda: segment.seen(6)["state"] == "SAFEOP+0x001B")


async def test_slaves_in_op_whose_watchdog_did_not_expire_are_not_reset(
    driver: EthercatDriver, segment: RunningSegment, foreign: "subprocess.Popen[bytes]", monkeypatch: pytest.MonkeyPatch
):
    """As where the other master is not heard: behind a switch that filters, on another port."""
    monkeypatch.setattr(raw.RawBus, "heard", lambda self: 0)
    before = segment.seen(3)["state_requests"]
    done = await driver.scan([], Budget())
    assert "Another master may be running this segment" in done.notes[0]
    assert [f.fields for f in done.found[:1]] == [{"state": "OP"}]
    with pytest.raises(ToolFault, match="Another master may be running"):
        await write(driver, "bus state", "PREOP")
    assert segment.seen(3)["state_requests"] == before


async def test_what_a_killed_master_left_behind_is_said_and_can_be_started_again(
    driver: EthercatDriver, segment: RunningSegment, foreign: "subprocess.Popen[bytes]", monkeypatch: pytest.MonkeyPatch
):
    foreign.kill()
    foreign.wait()
    monkeypatch.setattr("oasis_ethercat.raw.LISTEN_S", 0.04)
    assert segment.until(lambda: all(segment.seen(n)["state"] == "SAFEOP+0x001B" for n in (3, 4, 6)))
    done = await driver.scan([], Budget())
    assert "A master stopped while slaves were in OP: the watchdog brought 3, 4, 6 to SAFEOP" in done.notes[0]
    assert "sync manager watchdog" in done.found[2].fields["state"]
    await write(driver, "bus state", "OP")
    assert await value(driver, "bus state") == "OP"


async def test_two_sessions_of_oasis_do_not_share_an_interface(
    driver: EthercatDriver, segment: RunningSegment, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("oasis_ethercat.segment.LOCK_WAIT_S", 0.0)
    await write(driver, "bus state", "PREOP")
    frames = segment.frames()
    other = Segment(segment.interface)
    with pytest.raises(ToolFault, match="Another Oasis on this machine is the master"):
        other.initialise()
    with pytest.raises(ToolFault, match="Another Oasis on this machine is the master"):
        other.states()
    assert segment.frames() == frames


@pytest.mark.parametrize(
    "url", ["ethercat://", "ethercat:///", "ethercat://a/b", "http://eth0", "ethercat://" + "x" * 90]
)
def test_an_address_without_an_interface_is_refused(url: str):
    with pytest.raises(ToolFault, match="is no EtherCAT address"):
        EthercatDriver(url)
