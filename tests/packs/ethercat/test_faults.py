"""What can go wrong on a running segment, and how it is said. The slaves are the witness."""

import pytest
from oasis_ethercat.driver import EthercatDriver
from oasis_ethercat.simulator.running import RunningSegment

from oasis.errors import ToolFault
from oasis.plant.driver import Budget, Effect
from tests.packs.ethercat.segments import approved, bring, read, value, write


async def test_a_refused_state_is_rejected_with_its_code_in_words(driver: EthercatDriver, segment: RunningSegment):
    segment.refuse(4, "SAFEOP", 0x001E)
    sent = await write(driver, "bus state", "OP")
    assert sent.effect is Effect.REJECTED
    assert "SAFEOP was not reached: slave 4 is in PREOP+ERROR, 0x001E input configuration invalid" in sent.words
    assert (await write(driver, "bus state", "OP")).effect is Effect.WRITTEN


async def test_a_slave_that_falls_out_of_op_is_noticed_by_its_state(driver: EthercatDriver, segment: RunningSegment):
    """Its working counter stays right: a slave in SAFEOP still takes part in the process data."""
    await bring(driver, "OP")
    await write(driver, "4 out 0x7000:1 bool", True)
    segment.al_error(4, 0x001A)
    cyclic = driver.segment.cyclic
    assert cyclic
    assert segment.until(lambda: 4 in cyclic.fallen)
    (bus,) = await read(driver, "bus state")
    assert bus.value == "MIXED"
    assert any("slave 4 left OP: SAFEOP+ERROR, 0x001A synchronisation error" in line for line in bus.more)
    with pytest.raises(ToolFault, match="Slave 4 is not in OP"):
        await write(driver, "4 out 0x7000:1 bool", True)
    assert cyclic.outputs(4) == b"\0", "it would start again with its old outputs"


async def test_a_vanished_slave_makes_its_inputs_old_and_is_named(driver: EthercatDriver, segment: RunningSegment):
    await bring(driver, "OP")
    segment.cut_before(5)
    cyclic = driver.segment.cyclic
    assert cyclic
    assert segment.until(lambda: {5, 6} <= cyclic.fallen.keys() and "working counter 5" in " ".join(cyclic.events))
    inputs, state, bus = await read(driver, "5 in 0x6010:17", "6 state", "bus state")
    assert "old value" in inputs.status
    assert state.status == "no answer: cable or power of this slave, or of one before it"
    assert "slave 5 does not answer: cable or power" in bus.more
    assert any("working counter 5, expected 9" in line for line in bus.more)
    with pytest.raises(ToolFault, match=r"Slave 6 is not in OP"):
        await write(driver, "6 out 0x6040:0 uint16", 6)


async def test_a_wrong_working_counter_is_counted_and_outputs_are_not_confirmed(
    driver: EthercatDriver, segment: RunningSegment
):
    await bring(driver, "OP")
    segment.counter_error(-2)
    cyclic = driver.segment.cyclic
    assert cyclic
    assert segment.until(lambda: cyclic.wrong > 0 and not cyclic.is_fresh)
    sent = await write(driver, "3 out 0x7000:1 bool", True)
    assert sent.effect is Effect.NOT_SENT
    assert "working counter 7 of 9" in sent.words
    segment.counter_error(0)
    assert cyclic.wait_good(3, 5)
    assert segment.seen(3)["outputs"]["Output 1"] == 0


async def test_a_link_lost_in_op_is_told_and_the_slaves_are_safe(driver: EthercatDriver, segment: RunningSegment):
    await bring(driver, "OP")
    segment.link(False)
    assert segment.until(lambda: segment.seen(3)["state"] == "SAFEOP+0x001B")
    (inputs,) = await read(driver, "2 in 0x6000:1")
    assert "old value" in inputs.status
    segment.link(True)
    assert (await write(driver, "bus state", "OP")).effect is Effect.WRITTEN
    assert await value(driver, "bus state") == "OP"


async def test_an_sdo_without_an_answer_ends_soon_and_op_goes_on(driver: EthercatDriver, segment: RunningSegment):
    await bring(driver, "OP")
    segment.sdo_silent(6, True)
    (reading,) = await read(driver, "6 0x6041:0 uint16")
    assert "SDO time-out, no answer within 300 ms; the slave is in OP" in reading.status
    assert segment.seen(6)["state"] == "OP"
    assert segment.seen(3)["states"][-1] == "OP"
    segment.sdo_silent(6, False)
    assert (await value(driver, "6 0x6041:0 uint16")) == 0x0250


async def test_an_sdo_write_without_an_answer_is_unknown_and_sent_once(driver: EthercatDriver, segment: RunningSegment):
    await bring(driver, "PREOP")
    go = await approved(driver, "6 0x6083:0 uint32", 1000)
    segment.sdo_silent(6, True)
    sent = await driver.write(go)
    assert sent.effect is Effect.UNKNOWN
    assert "Read it before planning again" in sent.words


async def test_an_sdo_abort_is_a_reading_in_words_beside_those_that_read(
    driver: EthercatDriver, segment: RunningSegment
):
    await bring(driver, "PREOP")
    segment.sdo_abort(6, 0x6083, 0, 0x08000022)
    good, aborted = await read(driver, "6 0x6041:0 uint16", "6 0x6083:0 uint32")
    assert good.is_good
    assert aborted.status.startswith("SDO abort 0x08000022: not in this state")


async def test_an_sii_that_names_another_device_than_coe_is_pointed_out(
    driver: EthercatDriver, segment: RunningSegment
):
    segment.sii(6, "product", 0xDEAD)
    await bring(driver, "PREOP")
    found, *_ = (await driver.scan(["6"], Budget())).found
    assert "SII mismatch: product is 0x0000DEAD in the SII and 0x00004402 in object 0x1018" in found.more


async def test_another_sii_is_another_identity(driver: EthercatDriver, segment: RunningSegment):
    before = await driver.identity()
    segment.sii(2, "revision", 9)
    after = await driver.identity()
    assert before.startswith("6 slaves, sha256 ")
    assert before != after


async def test_the_identity_is_the_same_before_and_after_configuring(driver: EthercatDriver):
    before = await driver.identity()
    await bring(driver, "PREOP")
    assert await driver.identity() == before
    assert len(before) <= 200


async def test_a_fault_of_the_drive_is_explained(driver: EthercatDriver, segment: RunningSegment):
    await bring(driver, "OP")
    segment.trip(6, 0x2310)
    assert segment.until(lambda: segment.value(6, 0x6041) == 0x0218)
    assert driver.segment.cyclic
    assert driver.segment.cyclic.wait_cycles(2, 5)
    status, code = await read(driver, "6 in 0x6041:0", "6 in 0x603F:0")
    assert "drive: fault" in status.more[0]
    assert code.value == 0x2310


async def test_an_emergency_does_not_hide_the_answer_behind_it(driver: EthercatDriver, segment: RunningSegment):
    await bring(driver, "PREOP")
    segment.emergency(6, 0x2310)
    assert await value(driver, "6 0x6502:0 uint32") == 0x0185
    found, *_ = (await driver.scan(["6"], Budget())).found
    assert "emergency: error code 0x2310, error register 0x01" in found.more


async def test_a_drive_that_trips_tells_its_emergency(driver: EthercatDriver, segment: RunningSegment):
    await bring(driver, "PREOP")
    segment.trip(6, 0x3210)
    seen: list[str] = []
    for _ in range(200):  # it gets into the mailbox when the device's time goes on
        found, *_ = (await driver.scan(["6"], Budget())).found
        if seen := [line for line in found.more if line.startswith("emergency")]:
            break
    assert seen == ["emergency: error code 0x3210, error register 0x01"]


async def test_a_slave_that_does_not_answer_one_sdo_is_not_asked_for_the_others(
    driver: EthercatDriver, segment: RunningSegment
):
    await bring(driver, "PREOP")
    segment.sdo_silent(6, True)
    first, second, other = await read(driver, "6 0x6041:0 uint16", "6 0x6064:0 int32", "5 0x1008:0 string")
    assert "SDO time-out" in first.status
    assert second.status == "not asked: slave 6 had left another SDO of this call without an answer"
    assert other.value == "OX-AI2"


async def test_an_emergency_between_the_answers_of_a_listing_is_kept(driver: EthercatDriver, segment: RunningSegment):
    await bring(driver, "PREOP")
    segment.trip(6, 0x2310)
    assert any(f.item == "6 0x6041:0" for f in (await driver.scan(["6 od"], Budget())).found)
    found, *_ = (await driver.scan(["6"], Budget())).found
    assert "emergency: error code 0x2310, error register 0x01" in found.more


async def test_slaves_that_come_back_are_configured_again_by_init_and_op(
    driver: EthercatDriver, segment: RunningSegment
):
    await bring(driver, "OP")
    segment.cut_before(5)
    assert segment.until(lambda: segment.seen(6)["state"] == "SAFEOP+0x001B")
    sent = await write(driver, "bus state", "OP")
    assert (sent.effect, "Slave 5, 6 does not answer any more" in sent.words) == (Effect.NOT_SENT, True)
    segment.cut_before(None)
    await bring(driver, "INIT")
    await bring(driver, "OP")
    assert await value(driver, "bus state") == "OP"
