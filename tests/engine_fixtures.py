"""Running engines on tiny models, one of each kind for all tests of a worker."""

import asyncio
from collections.abc import AsyncIterator, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import pytest

from oasis.engine.embedded import EmbeddedEngine
from oasis.engine.llama import LlamaClient
from oasis.engine.tiny import tiny

CONTEXT_TOKENS = 32768
SLOTS = 2
T = TypeVar("T")


def run_engine(kind: str, folder: Path) -> Iterator[EmbeddedEngine]:
    """An engine on the tiny model of that kind, with its own log and slot folder, ended afterwards."""
    own = folder / kind
    engine = _apart(
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
    _apart(engine.stop())


def _apart(work: Coroutine[Any, Any, T]) -> T:
    """Run to the end on a loop of its own, also where a test asks for a fixture from within one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()


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
