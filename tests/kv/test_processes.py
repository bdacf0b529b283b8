"""Two sessions of one machine, each in a process of its own, on one server."""

import json
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from tests.kv.slot_work import Bench, prompt

pytestmark = pytest.mark.engine
SESSION = """
import asyncio, json, sys
from pathlib import Path
from oasis.engine.llama import LlamaClient
from oasis.kv.fingerprint import fingerprint_of
from oasis.kv.runtime import Runtime
from oasis.kv.store import Store
from tests.kv.slot_work import complete, prompt, wire

async def main():
    client = LlamaClient(sys.argv[1])
    runtime = Runtime(client, Store(Path(sys.argv[2])), fingerprint_of(await client.props(), "model"), slots=range(2))
    await runtime.open()
    ids = prompt(500) + prompt(40, int(sys.argv[3]))
    slot = await runtime.ready(wire(ids), 500)
    prefilled = runtime.take_prefilled().tokens
    generated, computed = await complete(client, ids, slot)
    runtime.done(wire(ids + generated), 1, cached_tokens=500, computed_tokens=computed, prefill_ms=1.0)
    print(json.dumps([slot, prefilled + computed, generated]), flush=True)
    sys.stdin.readline()
    await runtime.close()
    await client.aclose()

asyncio.run(main())
"""


def session(kv: Bench, seed: int) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", SESSION, kv.client.base_url, str(kv.store.folder), str(seed)]
    root = Path(__file__).parents[2]
    return subprocess.Popen(command, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


async def test_sessions_in_two_processes_share_a_head_and_no_slot(kv: Bench) -> None:
    running = [session(kv, seed) for seed in (1, 2)]
    said = [json.loads(process.stdout.readline()) for process in running if process.stdout]
    for process in running:
        process.communicate("\n", timeout=60)
    assert sorted(slot for slot, _, _ in said) == [0, 1]
    assert sum(computed for _, computed, _ in said) == 500 + 40 + 40
    for seed, (_, _, generated) in enumerate(said, 1):
        assert generated == await kv.cold(prompt(500) + prompt(40, seed))
    assert sorted((a.kind, a.tokens) for a in kv.store.all()) == [("head", 500), ("session", 548), ("session", 548)]


async def test_the_slot_of_a_process_that_was_killed_is_free_again(kv: Bench) -> None:
    process = session(kv, 1)
    assert process.stdout
    slot, _, _ = json.loads(process.stdout.readline())
    psutil.Process(process.pid).kill()
    process.communicate(timeout=60)
    runtimes = [await kv.runtime() for _ in range(2)]
    assert sorted(r.slot for r in runtimes) == [0, 1]
    assert slot in (0, 1)
    for runtime in runtimes:
        await runtime.close()
