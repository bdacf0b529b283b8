"""Running engines on tiny models, one of each kind for all tests of a worker."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from oasis.engine.embedded import EmbeddedEngine
from oasis.engine.llama import LlamaClient
from oasis.engine.tiny import tiny

CONTEXT_TOKENS = 32768
SLOTS = 2


def run_engine(kind: str, folder: Path) -> Iterator[EmbeddedEngine]:
    """An engine on the tiny model of that kind, with its own log and slot folder, ended afterwards."""
    own = folder / kind
    engine = asyncio.run(
        EmbeddedEngine.start(
            tiny(kind, folder.parent / "tiny-models"),
            log=own / "engine.log",
            slot_dir=own / "slots",
            context=CONTEXT_TOKENS,
            slots=SLOTS,
            threads=1,
        )
    )
    yield engine
    asyncio.run(engine.stop())


@pytest.fixture(scope="session")
def dense_engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedEngine]:
    yield from run_engine("tiny-dense", tmp_path_factory.getbasetemp())


@pytest.fixture(scope="session")
def swa_engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedEngine]:
    yield from run_engine("tiny-swa", tmp_path_factory.getbasetemp())


@pytest.fixture(scope="session")
def hybrid_engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedEngine]:
    yield from run_engine("tiny-hybrid", tmp_path_factory.getbasetemp())


@pytest.fixture
async def client(dense_engine: EmbeddedEngine) -> AsyncIterator[LlamaClient]:
    """A client of the dense engine."""
    client = LlamaClient(dense_engine.url)
    yield client
    await client.aclose()
