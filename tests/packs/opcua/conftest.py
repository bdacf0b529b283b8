"""Lines that tests share: a whole one with the NodeSets where they are, and one that is hard to get into."""

from collections.abc import AsyncGenerator, Generator

import pytest
import pytest_asyncio
from oasis_opcua.driver import OpcUaDriver
from oasis_opcua.simulator.line import Faults

from tests.packs.opcua.lines import INPUTS, Shared, line_in_thread


@pytest.fixture(scope="session")
def shared() -> Generator[Shared]:
    # dependants first, so that the order has to be found out
    with line_in_thread(nodesets=sorted(INPUTS.glob("*.xml"), reverse=True)) as line:
        yield line


@pytest.fixture(scope="session")
def guarded() -> Generator[Shared]:
    """Behind a forwarded port, encrypted endpoints only, no anonymous sessions, trusts nobody yet."""
    faults = Faults(untrusting=True, forwarded=True, secure_only=True, password_only=True)
    with line_in_thread(faults) as line:
        yield line


@pytest.fixture(scope="session")
def changed() -> Generator[Shared]:
    """The line after a restart: namespaces in another order, another build; and it answers no write."""
    with line_in_thread(Faults(reordered=True, lost_reply=True, other_identity=True)) as line:
        yield line


@pytest_asyncio.fixture
async def driver(shared: Shared) -> AsyncGenerator[OpcUaDriver]:
    opened = OpcUaDriver(shared.url)
    yield opened
    await opened.close()
