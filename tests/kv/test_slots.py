"""Leases on slots."""

import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from oasis.kv.chain import packed
from oasis.kv.database import Database
from oasis.kv.slots import Held, Slots
from tests.kv.slot_work import prompt


@pytest.fixture
def slots(tmp_path: Path):
    database = Database(tmp_path / "kv.sqlite3")
    yield Slots(database, "http://here")
    database.close()


def owned_by(slots: Slots, slot: int, process: psutil.Process) -> None:
    slots._database.change(
        "UPDATE slot SET pid = ?, pid_created = ? WHERE slot = ?", process.pid, process.create_time(), slot
    )


def test_every_session_gets_a_slot_of_its_own_while_there_is_one(slots: Slots):
    assert [slots.lease(range(3)).slot for _ in range(3)] == [0, 1, 2]


def test_the_free_slot_that_holds_least_is_taken(slots: Slots):
    assert slots.lease(range(3), loss={0: 900, 1: 10, 2: 400}).slot == 1


def test_a_slot_at_work_is_not_taken_whoever_uses_it(slots: Slots):
    assert slots.lease(range(2), busy=[0]).slot == 1
    assert slots.lease(range(2), busy=[0, 1]) is None


def test_when_none_is_free_the_one_idle_longest_is_taken_with_its_sessions_ids(slots: Slots):
    first, second = slots.lease(range(2)), slots.lease(range(2))
    for lease in (second, first):
        assert slots.begin(lease)
        slots.end(lease, packed(prompt(9, lease.slot)), 8)
    third = slots.lease(range(2))
    assert (third.slot, third.taken_from) == (second.slot, tuple(prompt(9, second.slot)))
    assert not slots.begin(second)
    assert slots.begin(first)


def test_a_session_at_work_keeps_its_slot(slots: Slots):
    only = slots.lease([0])
    slots.begin(only)
    assert slots.lease([0]) is None
    slots.end(only, packed([1, 2]), 1)
    assert slots.lease([0]).slot == 0


def test_the_slot_of_a_process_that_died_is_free(slots: Slots):
    lease = slots.lease([0])
    slots.begin(lease)
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    owned_by(slots, 0, psutil.Process(child.pid))
    assert slots.lease([0]) is None
    child.communicate()
    taken = slots.lease([0])
    assert (taken.slot, taken.taken_from) == (0, ())


def test_a_process_with_the_id_of_one_that_died_is_not_taken_for_it(slots: Slots):
    slots.begin(slots.lease([0]))
    slots._database.change("UPDATE slot SET pid_created = pid_created - 3600")
    assert slots.lease([0]) is not None


def test_what_a_free_slot_was_left_with_is_known(slots: Slots):
    lease = slots.lease([0])
    slots.end(lease, packed(prompt(9)), 8)
    assert slots.free_with() == []
    slots.release(lease)
    (left,) = slots.free_with()
    assert isinstance(left, Held)
    assert (left.slot, left.tokens) == (0, 8)
    assert slots.take(0).slot == 0
    assert slots.take(0) is None


def test_servers_do_not_share_slots(slots: Slots):
    other = Slots(slots._database, "http://there")
    assert (slots.lease([0]).slot, other.lease([0]).slot) == (0, 0)
