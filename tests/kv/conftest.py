"""The running engines with an empty store over each one's slot folder."""

from collections.abc import AsyncIterator

import pytest

from oasis.engine.llama import LlamaClient
from oasis.kv.fingerprint import fingerprint_of
from oasis.kv.store import Store
from tests.kv.slot_work import Bench

KINDS = ("dense_engine", "swa_engine", "hybrid_engine")


@pytest.fixture(params=["dense_engine"])
async def kv(request: pytest.FixtureRequest) -> AsyncIterator[Bench]:
    """A store with nothing in it on an engine whose slots are empty."""
    engine = request.getfixturevalue(request.param)
    store = Store(engine.log.parent)
    for artifact in store.all():
        store.remove(artifact)
    store.database.change("DELETE FROM slot")
    store.database.change("DELETE FROM tally")
    client = LlamaClient(engine.url)
    for slot in (0, 1):
        await client.erase(slot)
    try:
        yield Bench(engine, client, store, fingerprint_of(await client.props(), "model"))
    finally:
        await client.aclose()
        store.close()
