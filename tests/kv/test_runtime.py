"""The KV runtime on dense, sliding-window and hybrid models: what was computed once is not computed again."""

import asyncio

import pytest

from oasis.kv.transfer import Transfer
from oasis.kv.worth import Kind
from tests.kv.conftest import KINDS
from tests.kv.slot_work import Bench, prompt, wire

pytestmark = pytest.mark.engine
every_kind = pytest.mark.parametrize("kv", KINDS, indirect=True)
HEAD = prompt(800)
CLOSE = 1
"""A restored sliding window goes back to its checkpoint, up to 5 tokens."""
REWOUND = 5


async def talk(kv: Bench, runtime, ids: list[int], tokens: int = 12) -> tuple[list[int], int]:
    """One message in the runtime's slot; the ids after it and what was computed for it."""
    slot = await runtime.ready(wire(ids), len(HEAD))
    before = runtime.take_prefilled().tokens
    generated, computed = await kv.complete(ids, slot, tokens)
    cached = len(ids) - computed
    runtime.done(wire(ids + generated), 1, cached_tokens=cached, computed_tokens=computed, prefill_ms=float(computed))
    return ids + generated, computed + before


@every_kind
async def test_a_head_is_computed_the_first_time_and_restored_for_every_session_after(kv: Bench) -> None:
    first = await kv.runtime()
    _, computed = await talk(kv, first, HEAD + prompt(60, 1))
    assert computed == len(HEAD) + 60
    await first.close()
    for seed in (2, 3):
        ids = HEAD + prompt(60, seed)
        runtime = await kv.runtime()
        ids_after, computed = await talk(kv, runtime, ids)
        assert computed - 60 <= REWOUND
        assert ids_after[len(ids) :] == await kv.cold(ids, 1 - (runtime.slot or 0), 12)
        await runtime.close()
    assert not [said for said in kv.said if "miss" in said]


@every_kind
async def test_a_session_saved_at_its_end_goes_on_in_an_empty_engine(kv: Bench) -> None:
    runtime = await kv.runtime()
    ids, _ = await talk(kv, runtime, HEAD + prompt(100, 1))
    ids, _ = await talk(kv, runtime, ids + prompt(40, 2))
    await runtime.close()
    for slot in (0, 1):
        await kv.client.erase(slot)
    again = await kv.runtime()
    longer = ids + prompt(30, 3)
    after, computed = await talk(kv, again, longer)
    assert computed - 30 <= REWOUND
    assert after[len(longer) :] == await kv.cold(longer, 1 - (again.slot or 0), 12)
    assert f"Restored {len(ids):,} of {len(longer):,} tokens" in kv.said[-1]
    await again.close()


@every_kind
async def test_after_a_compaction_the_head_comes_from_its_saved_state(kv: Bench) -> None:
    runtime = await kv.runtime()
    await talk(kv, runtime, HEAD + prompt(900, 1))
    compacted = HEAD + prompt(70, 5)
    assert await runtime.restore(compacted) == len(HEAD)
    after, computed = await talk(kv, runtime, compacted)
    assert computed - 70 <= REWOUND
    assert after[len(compacted) :] == await kv.cold(compacted, 1 - (runtime.slot or 0), 12)
    await runtime.close()


async def test_a_prompt_that_extends_what_the_slot_holds_restores_nothing(kv: Bench) -> None:
    runtime = await kv.runtime()
    ids, _ = await talk(kv, runtime, HEAD + prompt(100, 1))
    await talk(kv, runtime, ids + prompt(40, 2))
    assert kv.store.tallies() == {}
    await runtime.close()


async def test_only_a_state_that_the_prompt_strictly_extends_is_restored(kv: Bench) -> None:
    runtime = await kv.runtime()
    await runtime.open_head(HEAD)
    await runtime.close()
    again = await kv.runtime()
    assert await again.restore(HEAD) == 0
    assert await again.restore([*HEAD[:-1], 29, 29]) == 0
    assert await again.restore([*HEAD, 29]) == len(HEAD)
    await again.close()


async def test_an_idle_session_is_saved_by_itself(kv: Bench) -> None:
    runtime = await kv.runtime(idle_s=0.0)
    ids, _ = await talk(kv, runtime, HEAD + prompt(50, 1))
    async with asyncio.timeout(30):
        while not any(a.kind is Kind.SESSION for a in kv.store.all()):
            await asyncio.sleep(0)
    (saved,) = [a for a in kv.store.all() if a.kind is Kind.SESSION]
    assert saved.tokens == len(ids)
    await runtime.close()


async def test_a_call_that_comes_while_its_session_is_saved_goes_on_in_the_slot(kv: Bench) -> None:
    runtime = await kv.runtime()
    ids, _ = await talk(kv, runtime, HEAD + prompt(50, 1))
    saving = asyncio.create_task(runtime.save(ids, Kind.SESSION))
    longer = ids + prompt(30, 2)
    _, computed = await talk(kv, runtime, longer)
    assert (await saving, computed) == (len(ids), 30 + 1)
    await runtime.close()
    assert [a.tokens for a in kv.store.all() if a.kind is Kind.SESSION] == [len(longer) + 12]


async def test_a_later_save_replaces_the_earlier_ones_of_its_session(kv: Bench) -> None:
    runtime = await kv.runtime()
    ids, _ = await talk(kv, runtime, HEAD + prompt(50, 1))
    await runtime.save(ids, Kind.SESSION)
    ids, _ = await talk(kv, runtime, ids + prompt(50, 2))
    await runtime.close()
    assert [(a.kind, a.tokens) for a in kv.store.all()] == [(Kind.SESSION, len(ids)), (Kind.HEAD, len(HEAD))]


@every_kind
async def test_a_message_that_was_cut_off_is_saved_as_far_as_it_was_received(kv: Bench) -> None:
    runtime = await kv.runtime()
    ids = HEAD + prompt(50, 1)
    slot = await runtime.ready(wire(ids), len(HEAD))
    generated, _ = await kv.complete(ids, slot, 40)
    runtime.left(wire(ids + generated[:10]))
    await runtime.close()
    for slot in (0, 1):
        await kv.client.erase(slot)
    again = await kv.runtime()
    longer = ids + generated[:10] + prompt(30, 3)
    after, computed = await talk(kv, again, longer)
    assert computed - 30 <= REWOUND
    assert after[len(longer) :] == await kv.cold(longer, 1 - (again.slot or 0), 12)
    await again.close()


@every_kind
async def test_sessions_hold_slots_of_their_own_and_the_third_takes_the_one_idle_longest(kv: Bench) -> None:
    runtimes = [await kv.runtime() for _ in range(2)]
    assert sorted(r.slot for r in runtimes) == [0, 1]
    prompts = [HEAD + prompt(50, n) for n in range(2)]
    states = [(await talk(kv, r, p))[0] for r, p in zip(runtimes, prompts, strict=True)]
    third = await kv.runtime()
    assert third.slot == runtimes[0].slot
    await talk(kv, third, HEAD + prompt(50, 7))
    longer = states[0] + prompt(20, 8)
    after, computed = await talk(kv, runtimes[0], longer)
    assert computed - 20 <= REWOUND
    assert after[len(longer) :] == await kv.cold(longer, third.slot, 12)
    for runtime in (*runtimes, third):
        await runtime.close()


async def test_two_sessions_that_meet_a_new_head_at_once_compute_it_once(kv: Bench) -> None:
    runtimes = [await kv.runtime() for _ in range(2)]
    await asyncio.gather(*(r.ready(wire(HEAD + prompt(9, n)), len(HEAD)) for n, r in enumerate(runtimes)))
    assert sum(r.take_prefilled().tokens for r in runtimes) == len(HEAD)
    assert [a.kind for a in kv.store.all()] == [Kind.HEAD]
    for runtime in runtimes:
        await runtime.close()


async def test_a_restore_that_leads_to_less_reuse_than_promised_is_said_and_counted(kv: Bench) -> None:
    runtime = await kv.runtime()
    await runtime.open_head(HEAD)
    await runtime.close()
    again = await kv.runtime()
    slot = await again.ready(wire(HEAD + prompt(40, 1)), len(HEAD))
    await kv.client.erase(slot or 0)
    ids = HEAD + prompt(40, 1)
    generated, computed = await kv.complete(ids, slot or 0, 4)
    again.done(wire(ids + generated), 1, cached_tokens=len(ids) - computed, computed_tokens=computed, prefill_ms=1.0)
    assert kv.store.tallies()["misses"] == 1
    assert "A miss: a restored state of 800 tokens led to 0 reused" in kv.said[-1]
    await again.close()


async def test_a_session_that_comes_back_to_a_running_server_finds_its_slot(kv: Bench) -> None:
    runtime = await kv.runtime(can_save=False, place=kv.client.base_url)
    other = await kv.runtime(can_save=False, place=kv.client.base_url)
    ids, _ = await talk(kv, other, HEAD + prompt(100, 1))
    left_in = other.slot
    await other.close()
    await runtime.close()
    again = await kv.runtime(can_save=False, place=kv.client.base_url)
    assert again.slot != left_in
    _, computed = await talk(kv, again, ids + prompt(30, 2))
    assert (again.slot, computed) == (left_in, 30 + CLOSE)
    await again.close()


@every_kind
async def test_where_the_slot_folder_is_not_seen_a_ring_of_names_is_used(kv: Bench) -> None:
    for seed in range(6):
        runtime = await kv.runtime(place=kv.client.base_url)
        ids, _ = await talk(kv, runtime, HEAD + prompt(40, seed))
        await runtime.close()
    saved = kv.store.all()
    assert len([a for a in saved if a.kind is Kind.SESSION]) == 4
    assert kv.store.make_room(1 << 60) == []
    for slot in (0, 1):
        await kv.client.erase(slot)
    again = await kv.runtime(place=kv.client.base_url)
    longer = ids + prompt(30, 9)
    after, computed = await talk(kv, again, longer)
    assert computed - 30 <= REWOUND
    assert after[len(longer) :] == await kv.cold(longer, 1 - (again.slot or 0), 12)
    await again.close()


@every_kind
async def test_a_saved_state_is_verified_against_a_cold_continuation(kv: Bench) -> None:
    runtime = await kv.runtime()
    ids, _ = await talk(kv, runtime, HEAD + prompt(40, 1))
    await runtime.save(ids, Kind.SESSION)
    verdicts = [await runtime.verify(artifact) for artifact in runtime.saved()]
    assert [v.is_same for v in verdicts] == [True, True]
    assert all(v.computed_restored <= REWOUND + 1 and v.computed_cold > len(HEAD) for v in verdicts)
    await runtime.close()


async def test_verifying_finds_a_state_that_is_not_of_its_tokens(kv: Bench) -> None:
    transfer = Transfer(kv.client, kv.store, kv.fingerprint)
    await kv.complete(HEAD, 0, 0)
    await transfer.save(0, Kind.HEAD, HEAD)
    (artifact,) = kv.store.all()
    path = kv.store.path(artifact)
    raw = bytearray(path.read_bytes())
    begin, end = len(raw) * 6 // 10, len(raw) * 7 // 10
    raw[begin:end] = bytes(reversed(raw[begin:end]))
    path.write_bytes(raw)
    from oasis.kv.state_file import digest_of

    kv.store.database.change("UPDATE artifact SET digest = ?", digest_of(path))
    (artifact,) = kv.store.all()
    runtime = await kv.runtime()
    assert not (await runtime.verify(artifact)).is_same
    await runtime.close()
