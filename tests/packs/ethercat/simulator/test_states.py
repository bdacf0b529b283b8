"""The state machine of a simulated slave, as a master meets it on the wire."""

import struct
import time

import pytest
from oasis_ethercat.esc import Register, State

from tests.packs.ethercat.simulator.frames import Wire


def test_states_are_climbed_one_by_one():
    wire = Wire("do8")
    wire.run(1)
    assert wire.slaves[0].machine.history == ["INIT", "PREOP", "SAFEOP", "OP"]


@pytest.mark.parametrize(
    ("wanted", "answer"),
    [(State.SAFEOP, "INIT+0x0011"), (State.OP, "INIT+0x0011"), (State.BOOT, "INIT+0x0013"), (7, "INIT+0x0012")],
)
def test_a_state_that_cannot_be_reached_is_refused_with_its_code(wanted: int, answer: str):
    assert Wire("do8").request(1, wanted) == answer


def test_an_error_stays_until_it_is_acknowledged():
    wire = Wire("do8")
    wire.request(1, State.OP)
    assert wire.request(1, State.PREOP) == "INIT+0x0011"
    assert wire.request(1, State.INIT | 0x10) == "INIT"
    assert wire.request(1, State.PREOP) == "PREOP"


def test_preop_needs_the_mailbox_as_the_sii_has_it():
    assert Wire("drive").request(1, State.PREOP) == "INIT+0x0016"


@pytest.mark.parametrize(("device", "code"), [("do8", "PREOP+0x001D"), ("di8", "PREOP+0x001E")])
def test_safeop_needs_sync_managers_of_the_right_length(device: str, code: str):
    wire = Wire(device)
    wire.request(1, State.PREOP)
    wire.write(1, Register.SYNC_MANAGER, struct.pack("<HHBBBB", 0x1000, 7, 0x64, 0, 1, 0))
    assert wire.request(1, State.SAFEOP) == code


def test_outputs_that_stop_for_100_ms_are_switched_off_in_safeop():
    wire = Wire("do8")
    wire.run(1)
    wire.exchange(0, b"\x81")
    slave = wire.slaves[0]
    slave.advance()
    assert slave.process.outputs()["Output 8"] == 1
    slave.advance(time.monotonic() + 0.11)
    assert (slave.machine.history[-1], slave.process.outputs()["Output 8"]) == ("SAFEOP+0x001B", 0)


def test_the_watchdog_follows_its_registers():
    wire = Wire("do8")
    wire.write(1, Register.WATCHDOG_TIME, struct.pack("<H", 5000))
    wire.run(1)
    wire.exchange(0, b"\1")
    wire.slaves[0].advance(time.monotonic() + 0.4)
    assert wire.slaves[0].machine.state is State.OP
    wire.slaves[0].advance(time.monotonic() + 0.6)
    assert wire.slaves[0].machine.state is State.SAFEOP


def test_a_slave_without_outputs_has_no_watchdog():
    wire = Wire("di8")
    wire.run(1)
    wire.slaves[0].advance(time.monotonic() + 5)
    assert wire.slaves[0].machine.state is State.OP


def test_outputs_are_not_used_in_safeop():
    wire = Wire("do8")
    wire.configure(1)
    wire.request(1, State.PREOP)
    wire.request(1, State.SAFEOP)
    wire.exchange(0, b"\xff")
    wire.slaves[0].advance()
    assert set(wire.slaves[0].process.outputs().values()) == {0}
