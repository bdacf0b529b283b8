"""Saved states on disk: whole or not at all, and never the wrong one."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from oasis.errors import KvFault
from oasis.kv.chain import Segment, Source
from oasis.kv.fingerprint import Fingerprint
from oasis.kv.store import Store
from oasis.kv.worth import TIME_TO_LIVE_S, Kind
from tests.kv.slot_work import prompt
from tests.kv.states import HERE, content, write

DEAD = "UPDATE artifact SET pid = 999999999, pid_created = 1.0 WHERE id = ?"


@pytest.fixture
def store(tmp_path: Path):
    store = Store(tmp_path / "kv")
    yield store
    store.close()


@pytest.mark.skipif(os.name == "nt", reason="Windows has no modes; the folder is in the user's own profile")
def test_files_are_the_users_alone(store: Store):
    artifact = write(store, prompt(20))
    modes = [path.stat().st_mode & 0o777 for path in (store.folder, store.slots)]
    assert modes == [0o700, 0o700]
    assert [p.stat().st_mode & 0o777 for p in (store.path(artifact), store.database.path)] == [0o600, 0o600]


def test_the_longest_state_that_the_ids_strictly_extend_comes_first(store: Store):
    ids = prompt(100)
    for length in (20, 60, 100):
        write(store, ids[:length], Kind.HEAD)
    write(store, prompt(50, 3))
    assert [a.tokens for a in store.find(HERE, ids)] == [60, 20]
    assert [a.tokens for a in store.find(HERE, [*ids, 1])] == [100, 60, 20]
    assert store.find(HERE, prompt(100, 9)) == []


@pytest.mark.parametrize(
    "other",
    [
        Fingerprint("another model", "template"),
        Fingerprint("model", "another template"),
        Fingerprint("model", "template", {"context": 1}),
        Fingerprint("model", "template", {"cache_type_k": "q8_0"}),
    ],
)
def test_a_state_of_another_engine_is_never_found(store: Store, other: Fingerprint):
    write(store, prompt(20))
    assert store.find(other, prompt(30)) == []


def test_another_build_of_the_engine_uses_the_same_states(store: Store):
    write(store, prompt(20))
    assert [a.tokens for a in store.find(Fingerprint("model", "template", {}, "b9999"), prompt(30))] == [20]


def test_what_a_dead_process_had_begun_is_purged_at_the_next_start(store: Store):
    begun = store.begin(Kind.SESSION, HERE)
    store.part(begun).write_bytes(content(prompt(20))[:40])
    store.database.change(DEAD, begun)
    again = Store(store.folder)
    assert (again.purged, list(again.slots.iterdir())) == (1, [])
    with pytest.raises(KvFault, match="purged"):
        store.finish(begun, prompt(20), [], size=1, digest="", prefill_ms=1.0)
    again.close()


def test_what_a_living_process_is_writing_is_left_alone(store: Store):
    begun = store.begin(Kind.SESSION, HERE)
    store.part(begun).write_bytes(content(prompt(20)))
    again = Store(store.folder)
    assert (again.purged, store.part(begun).exists(), again.all()) == (0, True, [])
    again.close()


def test_a_file_without_a_row_and_a_row_without_a_file_are_purged(store: Store):
    kept, lost, cut = (write(store, prompt(20, seed)) for seed in range(3))
    store.path(lost).unlink()
    store.path(cut).write_bytes(b"short")
    (store.slots / "0123.kv").write_bytes(b"nobody's")
    (store.slots / "notes.txt").write_text("not a state")
    again = Store(store.folder)
    assert [a.id for a in again.all()] == [kept.id]
    assert sorted(p.name for p in again.slots.iterdir()) == sorted([f"{kept.id}.kv", "notes.txt"])
    again.close()


def test_a_damaged_index_is_set_aside_and_begun_anew(store: Store):
    write(store, prompt(20))
    store.close()
    store.database.path.write_bytes(b"this is no database" * 500)
    again = Store(store.folder)
    assert (again.all(), list(again.slots.iterdir())) == ([], [])
    write(again, prompt(20))
    assert len(again.all()) == 1
    again.close()


def test_what_is_worth_least_goes_when_the_budget_is_full(store: Store):
    store.budget_bytes = 2500
    head = write(store, prompt(20), Kind.HEAD, size=1000, prefill_ms=9000.0)
    write(store, prompt(20, 1), size=1000, prefill_ms=1.0)
    third = write(store, prompt(20, 2), size=1000, prefill_ms=500.0)
    store.make_room()
    assert {a.id for a in store.all()} == {head.id, third.id}
    assert len(list(store.slots.iterdir())) == 2


def test_pins_are_respected_and_can_be_taken_off(store: Store):
    pinned = write(store, prompt(20), prefill_ms=0.0)
    store.pin(pinned, True)
    store.make_room(1 << 60)
    assert [a.is_pinned for a in store.all()] == [True]
    store.pin(pinned, False)
    assert [a.id for a in store.make_room(1 << 60)] == [pinned.id]


def test_a_clock_that_is_set_back_loses_and_breaks_nothing(tmp_path: Path):
    now = 2_000_000_000.0
    store = Store(tmp_path, clock=lambda: now)
    artifact = write(store, prompt(20))
    now -= 400 * 24 * 3600
    store.used(artifact)
    write(store, prompt(20, 1))
    assert store.make_room() == []
    assert [a.tokens for a in store.find(HERE, prompt(30))] == [20]
    now += TIME_TO_LIVE_S[Kind.SESSION] + 1
    assert len(store.make_room()) == 2
    store.close()


def test_a_newer_state_of_a_session_replaces_those_it_extends_and_no_other(store: Store):
    ids = prompt(100)
    write(store, ids[:20], Kind.HEAD)
    write(store, ids[:50])
    write(store, prompt(60, 4))
    newest = write(store, ids)
    store.superseded(newest.id, ids)
    assert sorted((a.kind, a.tokens) for a in store.all()) == [("head", 20), ("session", 60), ("session", 100)]


def test_a_state_takes_over_the_files_of_those_it_extends(store: Store):
    ids, source = prompt(100), Source("/p/a.st", "1")
    write(store, ids[:50], Kind.FILES, segments=[Segment(50, source)])
    longer = write(store, ids)
    assert store.segments(longer) == [Segment(50, source)]
    store.mark_changed(source.path, "2")
    assert [a.is_stale for a in store.all()] == [True, True]
    lived_through_it = write(store, [*ids, 1])
    assert store.segments(lived_through_it) == []


def test_an_id_can_be_given_by_its_beginning(store: Store):
    artifact = write(store, prompt(20))
    assert store.get(artifact.id[:6]) == artifact
    with pytest.raises(KvFault, match="No saved state"):
        store.get("zzz")
    write(store, prompt(20, 1))
    with pytest.raises(KvFault, match="2 saved states"):
        store.get("")


WRITER = """
import sys
from pathlib import Path
from oasis.kv.store import Store
from tests.kv.slot_work import prompt
from tests.kv.states import write
for n in range(25):
    store = Store(Path(sys.argv[1]))
    artifact = write(store, prompt(40, n + int(sys.argv[2])), size=5000)
    store.make_room()
    assert store.path(artifact).is_file()
    store.close()
"""


def test_two_processes_use_one_store_and_neither_loses_what_the_other_writes(tmp_path: Path):
    root = Path(__file__).parents[2]
    folder = tmp_path / "kv"
    command = [sys.executable, "-c", WRITER, str(folder)]
    running = [subprocess.Popen([*command, str(seed)], cwd=root, stderr=subprocess.PIPE) for seed in (0, 25)]
    assert [(p.communicate(timeout=120)[1], p.returncode) for p in running] == [(b"", 0)] * 2
    store = Store(folder)
    assert (store.purged, len(store.all()), len(list(store.slots.iterdir()))) == (0, 50, 50)
    store.close()
