"""Frames that are lost or late, and answers that belong to no request: what was sent arrives once, or is said."""

import ctypes
from itertools import groupby

import pytest
from oasis_ethercat import library
from oasis_ethercat.driver import EthercatDriver
from oasis_ethercat.esc import Register
from oasis_ethercat.simulator.running import RunningSegment

from oasis.plant.driver import Effect
from tests.packs.ethercat.segments import approved, bring, read, value, write

EACH_WRITE = 3
"""SOEM sends a frame so often."""


@pytest.fixture(autouse=True)
def frames_are_given_up_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "FRAME_TIMEOUT_US", 20_000)
    monkeypatch.setattr(library, "MAILBOX_FRAME_US", 20_000)


@pytest.mark.parametrize("register", [Register.SYNC_MANAGER + 24, Register.FMMU], ids=["sync manager", "FMMU"])
async def test_process_data_whose_configuration_was_lost_are_mapped_once_more(
    driver: EthercatDriver, segment: RunningSegment, register: int
):
    await bring(driver, "PREOP")
    segment.drop_writes(register, EACH_WRITE)
    frame = await driver.encode(driver.point("bus state"), "OP")
    assert "from INIT once more where a frame is lost" in frame.words
    await bring(driver, "OP")
    states = [state for state, _ in groupby(segment.seen(6)["states"])]
    assert states[-5:] == ["PREOP", "INIT", "PREOP", "SAFEOP", "OP"]
    assert driver.segment.cyclic
    assert driver.segment.cyclic.wait_good(3, 5)


async def test_a_mailbox_whose_configuration_was_lost_is_configured_once_more(
    driver: EthercatDriver, segment: RunningSegment
):
    segment.drop_writes(Register.SYNC_MANAGER + 8, 2 * EACH_WRITE)
    await bring(driver, "PREOP")
    assert "PREOP" not in segment.seen(5)["states"][:2]
    assert await value(driver, "5 0x1008:0 string") == "OX-AI2"


async def test_a_state_request_that_is_lost_is_made_again(driver: EthercatDriver, segment: RunningSegment):
    await bring(driver, "PREOP")
    segment.drop_writes(Register.AL_CONTROL, EACH_WRITE + 1)
    await bring(driver, "SAFEOP")
    assert {segment.seen(position)["states"][-1] for position in range(1, 7)} == {"SAFEOP"}


async def test_frames_lost_in_op_switch_no_output_off(driver: EthercatDriver, segment: RunningSegment):
    await bring(driver, "OP")
    await write(driver, "3 out 0x7000:1 bool", True)
    cyclic = driver.segment.cyclic
    assert cyclic
    segment.drop(12)
    assert segment.until(lambda: cyclic.wrong > 0)
    assert cyclic.wait_good(20, 10)
    assert (cyclic.fallen, segment.seen(3)["outputs"]["Output 1"]) == ({}, 1)


async def test_an_answer_that_comes_late_is_not_taken_for_that_of_another_subindex(
    driver: EthercatDriver, segment: RunningSegment
):
    await bring(driver, "PREOP")
    segment.sdo_late(6)
    (late,) = await read(driver, "6 0x1018:1 uint32")
    assert "SDO time-out" in late.status
    assert await value(driver, "6 0x1018:2 uint32") == 0x4402


async def test_an_abort_that_comes_late_is_not_taken_for_that_of_a_write(
    driver: EthercatDriver, segment: RunningSegment
):
    await bring(driver, "PREOP")
    go = await approved(driver, "6 0x6083:0 uint32", 4242)
    segment.sdo_late(6)
    await read(driver, "6 0x7777:0 uint8")
    assert (await driver.write(go)).effect is Effect.WRITTEN
    assert (segment.value(6, 0x6083), segment.seen(6)["sdo_downloads"]) == (4242, 1)


async def test_an_answer_to_another_request_does_not_spoil_a_reading(driver: EthercatDriver, segment: RunningSegment):
    await bring(driver, "PREOP")
    segment.sdo_stray(6, 0x6041)
    assert await value(driver, "6 0x6502:0 uint32") == 0x0185


async def test_an_answer_to_another_request_makes_a_write_unknown_and_it_is_sent_once(
    driver: EthercatDriver, segment: RunningSegment
):
    await bring(driver, "PREOP")
    go = await approved(driver, "6 0x6083:0 uint32", 4242)
    segment.sdo_stray(6, 0x6041)
    sent = await driver.write(go)
    assert (sent.effect, segment.seen(6)["sdo_downloads"]) == (Effect.UNKNOWN, 1)
    assert "an answer came that is not this request's" in sent.words
    assert await value(driver, "6 0x6083:0 uint32") == 4242


async def test_a_watchdog_that_expires_because_nothing_was_sent_says_so(
    driver: EthercatDriver, segment: RunningSegment
):
    segment.watchdog(150)
    await bring(driver, "OP")
    cyclic = driver.segment.cyclic
    assert cyclic
    for _ in range(20):
        if segment.seen(3)["state"] != "OP":
            break
        ctypes.PyDLL(None).usleep(250_000)  # holds Python, as a machine that does not schedule it
    assert segment.until(lambda: 3 in cyclic.fallen)
    assert "0x001B sync manager watchdog" in cyclic.fallen[3]
    assert "this program sent nothing for" in cyclic.fallen[3]
