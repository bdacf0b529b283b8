"""The running segment: its interfaces, its end, what it is told."""

import psutil
import pytest
from oasis_ethercat.raw import RawBus
from oasis_ethercat.simulator.running import running_segment
from oasis_ethercat.simulator.veth import NoSegmentHere

from tests.packs.ethercat.segments import plugged


def test_the_interfaces_are_gone_afterwards():
    with plugged("do8") as run:
        assert run.interface in psutil.net_if_addrs()
    assert run.interface not in psutil.net_if_addrs()


def test_frames_come_back_counted():
    with plugged("do8", "di8") as run, RawBus(run.interface) as bus:
        assert (bus.count(), run.frames()) == (2, 1)


def test_a_frame_that_is_lost_is_sent_again():
    with plugged("do8") as run, RawBus(run.interface) as bus:
        run.drop(1)
        assert (bus.count(), bus.sent) == (1, 2)


def test_an_unknown_device_is_named():
    with pytest.raises(ValueError, match="There is no device 'valve'"), running_segment("valve"):
        pass


def test_a_command_that_cannot_be_done_says_why_and_the_segment_goes_on():
    with plugged("do8") as run:
        with pytest.raises(RuntimeError, match="slave 1 has no mailbox"):
            run.sdo_abort(1, 0x1000, 0, 1)
        assert run.seen(1)["state"] == "INIT"


def test_a_named_interface_that_is_there_already_is_left_alone():
    with plugged("do8") as run:
        with pytest.raises(NoSegmentHere, match="is there already"), running_segment("do8", name=run.interface):
            pass
        assert run.seen(1)["state"] == "INIT"
