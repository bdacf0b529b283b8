"""The check where there are no raw sockets, made on this machine with pysoem alone."""

import sys

import pytest
from oasis_ethercat import elsewhere, raw
from oasis_ethercat.driver import EthercatDriver
from oasis_ethercat.esc import State
from oasis_ethercat.segment import Segment
from oasis_ethercat.simulator.running import RunningSegment

from oasis.plant.driver import Budget, Effect
from tests.packs.ethercat.segments import bring, value, write


def refusal(segment: RunningSegment) -> str:
    return elsewhere.refusal(elsewhere.look(segment.interface))


def test_slaves_in_init_may_be_initialised_and_nothing_is_written_to_find_out(segment: RunningSegment):
    assert refusal(segment) == ""
    assert (segment.frames() > 0, segment.seen(1)["register_writes"]) == (True, 0)


def test_slaves_in_op_are_not_initialised(segment: RunningSegment):
    own = Segment(segment.interface)
    own.bring(State.OP)
    try:
        assert "its slaves are in OP" in refusal(segment)
    finally:
        own.leave()


def test_mixed_states_and_no_answer_are_refused_together(segment: RunningSegment):
    segment.al_error(3, 0x001B)
    assert "different states or in an error" in refusal(segment)
    segment.cut_before(1)
    assert "No slave answers" in refusal(segment)


async def test_the_segment_is_configured_without_raw_sockets(
    driver: EthercatDriver, segment: RunningSegment, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(raw, "is_available", lambda: False)
    assert await driver.identity() == ""
    assert await value(driver, "bus state") == "INIT"
    await bring(driver, "PREOP")
    assert "OX-DRIVE" in await driver.identity()
    await bring(driver, "OP")


async def test_without_pysoem_a_scan_works_and_configuring_says_what_to_install(
    driver: EthercatDriver, segment: RunningSegment, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(sys.modules, "pysoem", None)
    assert len((await driver.scan([], Budget())).found) == 6
    sent = await write(driver, "bus state", "PREOP")
    assert (sent.effect, "pip install 'oasis-agent[ethercat]'" in sent.words) == (Effect.NOT_SENT, True)
    assert segment.seen(1)["state_requests"] == 0
