"""Sessions that a test opened are closed after it."""

from collections.abc import Iterator

import pytest

from tests.agent.harness import OPEN


@pytest.fixture(autouse=True)
def sessions_are_closed() -> Iterator[None]:
    yield
    while OPEN:
        OPEN.pop().close()
