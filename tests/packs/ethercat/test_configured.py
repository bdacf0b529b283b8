"""A segment configured by approved writes: states, SDO, objects, process data, and how it is left."""

import subprocess
import sys

import pytest
from oasis_ethercat.driver import EthercatDriver
from oasis_ethercat.simulator.running import RunningSegment

from oasis.errors import ToolFault
from oasis.plant.driver import Budget, Effect
from tests.packs.ethercat.segments import approved, bring, read, value, write


async def test_preop_op_and_init_are_reached_by_writes_of_the_bus_state(
    driver: EthercatDriver, segment: RunningSegment
):
    for state in ("PREOP", "OP", "PREOP", "INIT"):
        sent = await write(driver, "bus state", state)
        assert (sent.effect, await value(driver, "bus state")) == (Effect.WRITTEN, state)
    assert segment.seen(3)["states"][-5:] == ["PREOP", "SAFEOP", "OP", "PREOP", "INIT"]


async def test_the_frame_of_a_state_says_what_it_resets(driver: EthercatDriver, segment: RunningSegment):
    frame = await driver.encode(driver.point("bus state"), "OP")
    assert frame.wire == bytes.fromhex("02 00 04 00 08 00")
    assert "reset every slave to INIT" in frame.words
    assert "all slaves: PREOP, 0x0120 of all slaves: SAFEOP, 0x0120 of all slaves: OP" in frame.words
    assert segment.seen(1)["state_requests"] == 0


async def test_one_slave_can_be_taken_out_of_op_and_brought_back(driver: EthercatDriver, segment: RunningSegment):
    await bring(driver, "OP")
    await write(driver, "3 state", "PREOP")
    assert (await value(driver, "bus state"), await value(driver, "3 state")) == ("MIXED", "PREOP")
    assert await value(driver, "2 in 0x6000:1") is False
    await write(driver, "3 state", "OP")
    assert await value(driver, "bus state") == "OP"


async def test_bringing_the_rest_to_op_leaves_those_alone_that_are_in_it(
    driver: EthercatDriver, segment: RunningSegment
):
    await bring(driver, "OP")
    await write(driver, "4 out 0x7000:1 bool", True)
    await write(driver, "3 state", "PREOP")
    frame = await driver.encode(driver.point("bus state"), "OP")
    assert "0x0120 of slave 3: SAFEOP, 0x0120 of slave 3: OP" in frame.words
    await bring(driver, "OP")
    assert segment.seen(4)["states"][-2:] == ["SAFEOP", "OP"]
    assert segment.seen(4)["outputs"]["Output 1"] == 1
    assert segment.seen(3)["states"][-4:] == ["OP", "PREOP", "SAFEOP", "OP"]


async def test_sdo_are_read_with_type_and_words(driver: EthercatDriver):
    await bring(driver, "PREOP")
    status, name, untyped, wrong = await read(
        driver, "6 0x6041:0 uint16", "6 0x1008:0", "6 0x6502:0", "6 0x6081:0 uint16"
    )
    assert (status.value, status.raw) == (0x0250, "50 02")
    assert "drive: switch on disabled" in status.more[0]
    assert (name.value, untyped.value) == ("OX-DRIVE", 0x0185)
    assert wrong.status == "not a uint16: 4 bytes came, uint16 is 2"


async def test_a_text_longer_than_pysoem_s_own_buffer_is_read_whole(driver: EthercatDriver, segment: RunningSegment):
    await bring(driver, "PREOP")
    assert await value(driver, "6 0x100A:0 string") == segment.value(6, 0x100A)


async def test_an_sdo_that_is_written_is_confirmed_and_read_back(driver: EthercatDriver, segment: RunningSegment):
    await bring(driver, "PREOP")
    sent = await write(driver, "6 0x6083:0 uint32", 4242)
    assert (sent.effect, await value(driver, "6 0x6083:0 uint32")) == (Effect.WRITTEN, 4242)
    assert segment.value(6, 0x6083) == 4242


async def test_the_frame_of_an_sdo_is_the_mailbox_message(driver: EthercatDriver):
    await bring(driver, "PREOP")
    frame = await driver.encode(driver.point("6 0x6040:0 uint16"), 6)
    assert frame.wire == bytes.fromhex("0a 00 00 00 00 03  00 20  2b 40 60 00 06 00 00 00")
    assert "asks for: shutdown" in frame.words


ABORTED = {
    ("6 0x6041:0 uint16", 1): "SDO abort 0x06010002: read-only object",
    ("6 0x6060:0 int8", 22): "SDO abort 0x06090031: value too high",
    ("6 0x7777:0 uint8", 1): "SDO abort 0x06020000: no such object",
    ("6 0x6081:0 uint16", 1): "SDO abort 0x06070010: length does not fit the type",
}


async def test_an_sdo_that_the_slave_aborts_is_rejected_in_words(driver: EthercatDriver, segment: RunningSegment):
    await bring(driver, "PREOP")
    sent = {case: await driver.write(await approved(driver, *case)) for case in ABORTED}
    assert {case: (how.effect, how.words.split(";")[0]) for case, how in sent.items()} == {
        case: (Effect.REJECTED, words) for case, words in ABORTED.items()
    }
    assert segment.seen(6)["values_written"] == 0


async def test_a_slave_without_a_mailbox_says_that_it_has_no_sdo(driver: EthercatDriver):
    await bring(driver, "PREOP")
    (reading,) = await read(driver, "3 0x1000:0")
    assert reading.status == "this slave has no mailbox, so no SDO: its values are process data only"


async def test_the_object_dictionary_is_listed_with_types_and_access(driver: EthercatDriver):
    await bring(driver, "PREOP")
    found = {f.item: f.fields for f in (await driver.scan(["6 od"], Budget())).found}
    assert found["6 0x6060:0"] == {"name": "Mode of operation", "type": "int8", "access": "rw"}
    assert found["6 0x1018:2"] == {"name": "Identity / Product code", "type": "uint32", "access": "r"}
    assert await value(driver, "6 0x6083:0") == 100_000


async def test_objects_are_listed_in_op_without_holding_up_process_data(
    driver: EthercatDriver, segment: RunningSegment
):
    await bring(driver, "OP")
    cyclic = driver.segment.cyclic
    assert cyclic
    segment.mailbox_delay(6, 5)
    cycles = cyclic.cycles
    listed = len((await driver.scan(["6 od"], Budget())).found)
    assert (listed > 40, cyclic.cycles - cycles > listed) == (True, True), "a cycle for each object at least"
    assert (cyclic.fallen, segment.seen(6)["state"]) == ({}, "OP")


async def test_the_process_data_are_mapped_as_the_slave_s_objects_say(driver: EthercatDriver):
    await bring(driver, "PREOP")
    found = (await driver.scan(["6 pdo"], Budget())).found
    assert [f.item for f in found] == [
        *(f"6 out 0x{index}:0" for index in ("6040", "607A", "60FF", "6060")),
        *(f"6 in 0x{index}:0" for index in ("6041", "6064", "606C", "6061", "603F")),
        "6 pdo",
    ]
    assert found[-1].fields == {"outputs": "96 bits", "inputs": "112 bits", "from": "CoE"}


async def test_inputs_are_what_the_device_has(driver: EthercatDriver, segment: RunningSegment):
    await bring(driver, "SAFEOP")
    segment.put(2, 0x6070, 1, True)
    segment.put(5, 0x6010, 0x11, -77)
    assert driver.segment.cyclic
    assert driver.segment.cyclic.wait_good(2, 5)
    assert await value(driver, "2 in 0x6070:1") is True
    assert await value(driver, "5 in 0x6010:17") == -77


async def test_four_bit_slaves_keep_to_their_half_of_the_byte(driver: EthercatDriver, segment: RunningSegment):
    await bring(driver, "OP")
    await write(driver, "4 out 0x7030:1 bool", True)
    await write(driver, "3 out 0x7000:1 bool", True)
    on = {(n, name) for n in (3, 4) for name, is_on in segment.seen(n)["outputs"].items() if is_on}
    assert on == {(4, "Output 4"), (3, "Output 1")}
    health = (await read(driver, "bus state"))[0].more[0]
    assert "working counter 9 of 9" in health


async def test_the_drive_turns_under_its_controlword(driver: EthercatDriver, segment: RunningSegment):
    await bring(driver, "OP")
    for word, state in ((6, "ready to switch on"), (7, "switched on"), (15, "operation enabled")):
        await write(driver, "6 out 0x6040:0 uint16", word)
        assert f"drive: {state}" in (await read(driver, "6 in 0x6041:0"))[0].more[0]
    await write(driver, "6 out 0x6060:0 int8", 3)
    await write(driver, "6 out 0x60FF:0 int32", 20000)
    assert segment.until(lambda: int(segment.value(6, 0x6064)) > 500)
    assert driver.segment.cyclic
    assert driver.segment.cyclic.wait_good(2, 10)
    assert isinstance(moved := await value(driver, "6 in 0x6064:0"), int)
    assert moved >= 500


async def test_process_data_keep_the_watchdog_fed(driver: EthercatDriver, segment: RunningSegment):
    segment.watchdog(300)
    await bring(driver, "OP")
    assert driver.segment.cyclic
    assert driver.segment.cyclic.wait_cycles(100, 10)
    assert [segment.seen(n)["states"][-1] for n in (3, 4, 6)] == ["OP", "OP", "OP"]


async def test_sdo_and_process_data_go_side_by_side(driver: EthercatDriver, segment: RunningSegment):
    await bring(driver, "OP")
    readings = await read(driver, *["6 0x6041:0 uint16"] * 100)
    assert all(reading.is_good for reading in readings)
    assert "SAFEOP+0x001B" not in segment.seen(6)["states"]


async def test_leaving_switches_outputs_off_before_the_state_is_left(driver: EthercatDriver, segment: RunningSegment):
    await bring(driver, "OP")
    await write(driver, "3 out 0x7000:1 bool", True)
    for word in (6, 7, 15):
        await write(driver, "6 out 0x6040:0 uint16", word)
    await driver.close()
    assert segment.seen(3)["outputs"]["Output 1"] == 0
    assert segment.seen(6)["states"][-3:] == ["OP", "SAFEOP", "INIT"]
    assert segment.value(6, 0x603F) == 0, "the drive was still enabled when its process data ended"


async def test_an_output_is_refused_outside_of_op(driver: EthercatDriver, segment: RunningSegment):
    await bring(driver, "SAFEOP")
    with pytest.raises(ToolFault, match="Slave 3 is not in OP"):
        await write(driver, "3 out 0x7000:1 bool", True)
    assert set(segment.seen(3)["outputs"].values()) == {0}


REFUSED = {
    ("6 in 0x6041:0 uint16", 1): "is an input",
    ("3 out", True): "needs a type",
    ("3 out 0x7777:1 bool", True): "is not mapped into the outputs of slave 3",
    ("6 out 0x6040:0 uint8", 1): "has 16 bits, the value 8",
    ("9 out 0x7000:1 bool", True): "There is no slave 9",
    ("9 0x6040:0 uint16", 1): "There is no slave 9",
    ("bus state", "RUN"): "is no state to ask for",
    ("6 0x6060:0 int8", 300): "cannot hold the value",
}


async def test_what_cannot_be_written_is_refused_before_anything_is_sent(driver: EthercatDriver):
    await bring(driver, "OP")
    for (item, given), said in REFUSED.items():
        with pytest.raises(ToolFault, match=said):
            await driver.encode(driver.point(item), given)


KILLED_IN_OP = """
import sys
from oasis.errors import ToolFault
from oasis_ethercat.esc import State
from oasis_ethercat.segment import Refused, Segment
segment = Segment(sys.argv[1])
for _ in range(20):
    try:
        segment.bring(State.OP)
    except (Refused, ToolFault):
        continue
    segment.cyclic.put(3, b"\\xff")
    if segment.cyclic.wait_good(5, 5) and not segment.cyclic.fallen:
        break
print("OP", flush=True)
sys.stdin.read()
"""


async def test_a_process_killed_in_op_leaves_outputs_off_and_the_next_start_says_so(
    driver: EthercatDriver, segment: RunningSegment
):
    command = [sys.executable, "-c", KILLED_IN_OP, segment.interface]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout
        assert process.stdout.readline().strip() == b"OP"
        assert segment.seen(3)["outputs"]["Output 8"] == 1
        process.kill()
        process.wait()
    assert segment.until(lambda: segment.seen(3)["state"] == "SAFEOP+0x001B")
    assert set(segment.seen(3)["outputs"].values()) == {0}
    notes = (await driver.scan([], Budget())).notes
    assert "A master stopped while slaves were in OP" in notes[0]
    assert "0x001B sync manager watchdog" in (await read(driver, "3 state"))[0].more[0]
    assert (await write(driver, "bus state", "PREOP")).effect is Effect.WRITTEN
