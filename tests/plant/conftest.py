"""A plant in memory, and a desk to write to it from."""

from pathlib import Path

import pytest

from tests.plant.device import Memory
from tests.plant.plants import CELLS, Desk, memory_desk


@pytest.fixture
def memory() -> Memory:
    return Memory(dict(CELLS))


@pytest.fixture
def desk(tmp_path: Path, memory: Memory) -> Desk:
    return memory_desk(tmp_path, memory)
