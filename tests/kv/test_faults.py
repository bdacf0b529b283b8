"""What goes wrong while states are saved and restored: nothing wrong is ever served, and the next session goes on."""

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from oasis.engine.tiny import tiny
from oasis.errors import KvFault, ServerUnreachable
from oasis.kv.fingerprint import fingerprint_of, model_sha256
from oasis.kv.runtime import Runtime
from oasis.kv.store import Store
from oasis.kv.transfer import Transfer
from oasis.kv.worth import Artifact, Kind
from tests.kv.slot_work import Bench, bench, prompt, wire

pytestmark = pytest.mark.engine
HEAD = prompt(600)
needs_signals = pytest.mark.skipif(os.name == "nt", reason="a process is stopped by a signal")


@pytest.fixture
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.getbasetemp().parent / "tiny-models"


async def saved_session(kv: Bench, seed: int = 1) -> tuple[list[int], Artifact]:
    """A session of one message, saved at its end; its ids and the state."""
    runtime = await kv.runtime()
    ids = HEAD + prompt(60, seed)
    slot = await runtime.ready(wire(ids), len(HEAD))
    generated, computed = await kv.complete(ids, slot or 0)
    runtime.done(wire(ids + generated), 1, cached_tokens=len(ids) - computed, computed_tokens=computed, prefill_ms=9.0)
    await runtime.close()
    state = next(a for a in kv.store.all() if a.tokens == len(ids) + len(generated))
    return ids + generated, state


async def continued(kv: Bench, ids: list[int]) -> int:
    """Go on in a new runtime as a session does, against a cold continuation; the tokens computed, of 20 new ones."""
    for slot in (0, 1):
        await kv.client.erase(slot)
    runtime = await kv.runtime()
    longer = ids + prompt(20, 9)
    slot = await runtime.ready(wire(longer), len(HEAD))
    before = runtime.take_prefilled().tokens
    generated, computed = await kv.complete(longer, slot or 0)
    runtime.left(wire(longer))
    assert generated == await kv.cold(longer, 1 - (slot or 0))
    await runtime.close()
    return before + computed


@pytest.mark.parametrize("damage", ["cut", "flipped", "gone", "empty"])
async def test_a_damaged_state_is_dropped_and_the_next_best_is_used(kv: Bench, damage: str) -> None:
    ids, state = await saved_session(kv)
    path = kv.store.path(state)
    raw = bytearray(path.read_bytes())
    match damage:
        case "cut":
            path.write_bytes(raw[: len(raw) // 2])
        case "flipped":
            raw[len(raw) * 2 // 3] ^= 1
            path.write_bytes(raw)
        case "gone":
            path.unlink()
        case _:
            path.write_bytes(b"")
    computed = await continued(kv, ids)
    assert computed == len(ids) + 20 - len(HEAD)
    assert all(a.id != state.id for a in kv.store.all())


async def test_two_states_whose_files_were_swapped_are_both_dropped(kv: Bench) -> None:
    ids, one = await saved_session(kv, 1)
    other_ids, other = await saved_session(kv, 2)
    first, second = kv.store.path(one), kv.store.path(other)
    aside = first.with_name("aside")
    first.rename(aside)
    second.rename(first)
    aside.rename(second)
    assert one.bytes == other.bytes
    assert await continued(kv, ids) == len(ids) + 20 - len(HEAD)
    assert await continued(kv, other_ids) == len(other_ids) + 20 - len(HEAD)
    assert kv.store.tallies()["damaged"] == 2


async def test_a_state_whose_digest_fits_and_whose_ids_do_not_is_not_used(kv: Bench) -> None:
    ids, one = await saved_session(kv, 1)
    _, other = await saved_session(kv, 2)
    kv.store.path(one).write_bytes(kv.store.path(other).read_bytes())
    kv.store.database.change("UPDATE artifact SET digest = ? WHERE id = ?", other.digest, one.id)
    assert await continued(kv, ids) == len(ids) + 20 - len(HEAD)


@needs_signals
async def test_an_engine_killed_while_saving_leaves_nothing_half_written(tmp_path: Path, models: Path) -> None:
    async with bench("tiny-dense", tmp_path, models) as kv:
        await kv.complete(HEAD, 0, 0)
        transfer = Transfer(kv.client, kv.store, kv.fingerprint)
        engine = stopped(kv)
        saving = asyncio.create_task(transfer.save(0, Kind.HEAD, HEAD))
        part = await until_begun(kv.store)
        part.write_bytes(b"half of a state")
        engine.kill()
        with pytest.raises(ServerUnreachable):
            await saving
        assert (kv.store.all(), list(kv.store.slots.iterdir())) == ([], [])
    async with bench("tiny-dense", tmp_path, models) as kv:
        ids, _ = await saved_session(kv)
        assert await continued(kv, ids) == 20


@needs_signals
async def test_an_engine_killed_while_restoring_loses_no_state(tmp_path: Path, models: Path) -> None:
    async with bench("tiny-hybrid", tmp_path, models) as kv:
        ids, state = await saved_session(kv)
        transfer = Transfer(kv.client, kv.store, kv.fingerprint)
        engine = stopped(kv)
        restoring = asyncio.create_task(transfer.restore(0, state))
        await until_connected(engine)
        engine.kill()
        with pytest.raises(ServerUnreachable):
            await restoring
    async with bench("tiny-hybrid", tmp_path, models) as kv:
        assert await continued(kv, ids) == 20


@pytest.mark.parametrize("kind", ["tiny-dense", "tiny-swa", "tiny-hybrid"])
async def test_a_session_whose_engine_was_killed_in_mid_message_goes_on_from_its_last_save(
    tmp_path: Path, models: Path, kind: str
) -> None:
    async with bench(kind, tmp_path, models) as kv:
        ids, _ = await saved_session(kv)
        runtime = await kv.runtime()
        longer = ids + prompt(40, 3)
        slot = await runtime.ready(wire(longer), len(HEAD))
        with pytest.raises(ServerUnreachable):
            await killed_in_mid_message(kv, longer, slot or 0)
        runtime.left(wire(longer))
        await runtime.close()
        assert "was not saved" in kv.said[-1]
    async with bench(kind, tmp_path, models) as kv:
        assert kv.store.purged == 0
        assert await continued(kv, longer) - 20 <= 40 + 5
        lost = len(longer) + 20 - len(ids)
        assert kv.said[-1] == f"Restored {len(ids)} of {len(longer) + 20} tokens; the {lost} since are computed."


async def test_a_model_changed_under_the_same_name_finds_none_of_the_others_states(
    tmp_path: Path, models: Path
) -> None:
    own = tmp_path / "models"
    async with bench("tiny-dense", tmp_path, own) as kv:
        ids, _ = await saved_session(kv)
    model = tiny("tiny-dense", own)
    raw = bytearray(model.read_bytes())
    for at in range(len(raw) // 2, len(raw) // 2 + 4000, 4):
        raw[at + 1] ^= 0x55
    model.write_bytes(raw)
    async with bench("tiny-dense", tmp_path, own) as kv:
        assert kv.store.find(kv.fingerprint, [*ids, 1]) == []
        assert await continued(kv, ids) == len(ids) + 20
        assert len(kv.store.all()) == 4


async def test_an_engine_with_another_context_finds_none_of_the_others_states(kv: Bench) -> None:
    ids, _ = await saved_session(kv)
    props = await kv.client.props()
    props["default_generation_settings"]["n_ctx"] += 1
    assert kv.store.find(fingerprint_of(props, "model"), [*ids, 1]) == []


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 3 MiB."""
    folder = tmp_path / "small"
    folder.mkdir()
    mount = shutil.which("mount")
    if sys.platform != "linux" or os.geteuid() or mount is None:
        pytest.skip("a small file system can be made by root on Linux only")
    if subprocess.run([mount, "-t", "tmpfs", "-o", "size=3m", "tmpfs", folder], check=False).returncode:
        pytest.skip("no file system can be mounted here")
    yield folder
    subprocess.run(["umount", "-l", folder], check=True)


@pytest.mark.parametrize("kind", ["tiny-dense", "tiny-swa"])
async def test_on_a_full_disk_nothing_is_kept_by_half_and_the_session_goes_on(
    small_disk: Path, models: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    async with bench(kind, small_disk, models) as kv:
        filled = small_disk / "filled"
        free = shutil.disk_usage(small_disk).free
        filled.write_bytes(bytes(free - (60 << 10)))
        monkeypatch.setattr(Store, "has_room", lambda self, needed: True)
        with pytest.raises(KvFault, match="disk full"):
            await kv.complete(HEAD, 0, 0)
            await Transfer(kv.client, kv.store, kv.fingerprint).save(0, Kind.HEAD, HEAD)
        assert (kv.store.all(), list(kv.store.slots.iterdir())) == ([], [])
        assert await continued(kv, HEAD + prompt(60, 1)) == len(HEAD) + 60 + 20
        filled.unlink()


async def test_where_a_state_does_not_fit_the_disk_the_engine_is_not_asked_for_it(
    small_disk: Path, models: Path
) -> None:
    async with bench("tiny-dense", small_disk, models) as kv:
        await saved_session(kv)
        filled = small_disk / "filled"
        filled.write_bytes(bytes(shutil.disk_usage(small_disk).free - (500 << 10)))
        with pytest.raises(KvFault, match="does not fit"):
            await Transfer(kv.client, kv.store, kv.fingerprint).save(0, Kind.SESSION, prompt(900))
        filled.unlink()


async def test_a_state_larger_than_the_budget_is_not_saved_and_the_session_goes_on(kv: Bench) -> None:
    runtime = Runtime(
        kv.client, Store(kv.store.folder, budget_bytes=1000), kv.fingerprint, slots=range(2), say=kv.said.append
    )
    await runtime.open()
    assert await runtime.ready(wire(HEAD + prompt(9, 1)), len(HEAD)) is not None
    await runtime.close()
    assert kv.store.all() == []


def stopped(kv: Bench) -> psutil.Process:
    """The engine, stopped: it takes requests and answers none."""
    engine = psutil.Process(kv.engine.pid)
    engine.send_signal(signal.SIGSTOP)
    return engine


async def until_begun(store: Store) -> Path:
    async with asyncio.timeout(30):
        while not (rows := store.database.rows("SELECT id FROM artifact WHERE state = 'writing'")):
            await asyncio.sleep(0)
    return store.part(rows[0]["id"])


async def until_connected(engine: psutil.Process) -> None:
    """Something of this process waits for an answer of the engine."""
    (port,) = {c.laddr.port for c in engine.net_connections("tcp") if c.status == psutil.CONN_LISTEN}
    async with asyncio.timeout(30):
        while not any(c.raddr and c.raddr.port == port for c in psutil.Process().net_connections("tcp")):
            await asyncio.sleep(0)


async def killed_in_mid_message(kv: Bench, ids: list[int], slot: int) -> None:
    """Ask for a message without end and kill the engine when its first token has come."""
    body = {"prompt": ids, "id_slot": slot, "n_predict": -1, "ignore_eos": True, "cache_prompt": True, "stream": True}
    async for _ in kv.client.complete(json.dumps(body).encode()):
        with suppress(psutil.NoSuchProcess):
            psutil.Process(kv.engine.pid).kill()


async def test_the_models_hash_is_that_of_its_file(tmp_path: Path, models: Path) -> None:
    store = Store(tmp_path)
    one, other = [await model_sha256(tiny(kind, models), store.database) for kind in ("tiny-dense", "tiny-hybrid")]
    assert one != other
    store.close()
