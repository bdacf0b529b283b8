"""One segment with the default devices for each test module, switched off and on before each test."""

from collections.abc import AsyncGenerator, Iterator

import pytest
from oasis_ethercat.driver import EthercatDriver
from oasis_ethercat.simulator.running import RunningSegment

from tests.packs.ethercat.segments import plugged


@pytest.fixture(scope="module")
def module_segment() -> Iterator[RunningSegment]:
    with plugged() as run:
        yield run


@pytest.fixture(autouse=True)
def listening_is_short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Masters of these tests send every 5 ms."""
    monkeypatch.setattr("oasis_ethercat.raw.LISTEN_S", 0.04)


@pytest.fixture
def segment(module_segment: RunningSegment) -> RunningSegment:
    """1 coupler, 2 eight inputs, 3 eight outputs, 4 four outputs, 5 two analogue inputs, 6 drive; all in INIT.

    Their watchdog is longer than 100 ms, so that a busy machine does not decide over a test.
    """
    module_segment.power_cycle()
    module_segment.watchdog(600)
    return module_segment


@pytest.fixture
async def driver(segment: RunningSegment) -> AsyncGenerator[EthercatDriver]:
    made = EthercatDriver(segment.url)
    yield made
    await made.close()
