"""A store and runtimes on a real engine, and prompts whose cold continuation is known."""

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from oasis.engine.embedded import EmbeddedEngine
from oasis.engine.llama import LlamaClient
from oasis.engine.tiny import tiny
from oasis.kv.fingerprint import Fingerprint, fingerprint_of, model_sha256
from oasis.kv.runtime import Runtime
from oasis.kv.store import Store

CONTEXT_TOKENS = 4096


def prompt(tokens: int, seed: int = 0) -> list[int]:
    """Ids that mean nothing and differ early for each seed."""
    return [(i * i * 7 + i * 13 + seed * 31) % 180 + 30 for i in range(tokens)]


@dataclass
class Bench:
    """An engine whose slot folder is a store's, and what was said."""

    engine: EmbeddedEngine
    client: LlamaClient
    store: Store
    fingerprint: Fingerprint
    said: list[str] = field(default_factory=list[str])

    async def runtime(self, **settings: Any) -> Runtime:
        """A runtime with a store of its own on the same folder, as another session has."""
        store = Store(self.store.folder)
        runtime = Runtime(
            self.client, store, self.fingerprint, **{"slots": range(2), "say": self.said.append} | settings
        )
        await runtime.open()
        return runtime

    async def complete(self, ids: Sequence[int], slot: int, tokens: int = 8) -> tuple[list[int], int]:
        """The greedy continuation and how many tokens of the prompt were computed for it."""
        return await complete(self.client, ids, slot, tokens)

    async def cold(self, ids: Sequence[int], slot: int = 1, tokens: int = 8) -> list[int]:
        """The greedy continuation from an empty slot."""
        await self.client.erase(slot)
        return (await self.complete(ids, slot, tokens))[0]


async def complete(client: LlamaClient, ids: Sequence[int], slot: int, tokens: int = 8) -> tuple[list[int], int]:
    settings = {"n_predict": tokens, "id_slot": slot, "temperature": 0, "cache_prompt": True, "stream": True}
    body = json.dumps({"prompt": list(ids), "return_tokens": True, **settings}).encode()
    generated: list[int] = []
    computed = 0
    async for chunk in client.complete(body):
        generated += chunk.get("tokens") or []
        if chunk.get("stop"):
            computed = chunk["timings"]["prompt_n"]
    return generated, computed


@asynccontextmanager
async def bench(kind: str, folder: Path, models: Path, **settings: Any) -> AsyncIterator[Bench]:
    """An engine of its own on a tiny model and a store in `folder`."""
    model = tiny(kind, models)
    store = Store(folder / "kv")
    engine = await EmbeddedEngine.start(
        model, log=folder / "engine.log", slot_dir=store.slots, context=CONTEXT_TOKENS, slots=2, threads=1, **settings
    )
    client = LlamaClient(engine.url)
    try:
        fingerprint = fingerprint_of(await client.props(), await model_sha256(model, store.database))
        yield Bench(engine, client, store, fingerprint)
    finally:
        await client.aclose()
        await engine.stop()
        store.close()


def wire(ids: Sequence[int]) -> bytes:
    """The ids as a transcript writes them."""
    return b",".join(b"%d" % i for i in ids)
