"""Frames of another segment of the same machine: they are no answers here."""

import subprocess
import sys
from collections.abc import Iterator

import pytest
from oasis_ethercat import interface
from oasis_ethercat.esc import State
from oasis_ethercat.simulator.running import RunningSegment

from tests.packs.ethercat.segments import plugged

FLOOD = """
import socket, sys
from oasis_ethercat.datagram import frame
from oasis_ethercat.esc import Command
with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as raw:
    raw.bind((sys.argv[1], 0))
    frames = [frame(index, [(Command.NOP, 0, 0, bytes(2))]) for index in range(16)]
    print("flows", flush=True)
    while True:
        for each in frames:
            raw.send(each)
"""


@pytest.fixture
def flood() -> Iterator[None]:
    """Frames that nobody counts, without end, on another segment."""
    with plugged("do8") as other:
        command = [sys.executable, "-c", FLOOD, other.interface]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            assert process.stdout
            assert process.stdout.readline().strip() == b"flows"
            yield
            process.kill()


def test_what_was_heard_before_the_interface_was_chosen_is_no_answer(segment: RunningSegment, flood: None):
    for _ in range(15):
        master = interface.opened(segment.interface)
        try:
            assert master.read_state() == State.INIT
        finally:
            master.close()
