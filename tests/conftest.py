"""What every test has: campaigns behind --all, private user folders, and a check that no prompt is ever rewritten."""

import gc
import weakref
from collections.abc import Iterator
from pathlib import Path

import pytest

from oasis.core.transcript import Request, Transcript

pytest_plugins = ["tests.engine_fixtures"]

REPOSITORY = Path(__file__).parent.parent


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--all", action="store_true", help="run the long campaigns too")


def pytest_collection() -> None:
    """Thousands of tests are found by each worker: looking through them for garbage took a quarter of that time."""
    gc.disable()


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--all"):
        return
    skip = pytest.mark.skip(reason="a long campaign: runs with --all")
    for item in items:
        if "campaign" in item.keywords:
            item.add_marker(skip)


@pytest.fixture(autouse=True)
def private_user_folders(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No test reads or writes the settings, sessions or secrets of whoever runs it."""
    home = tmp_path_factory.mktemp("home")
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, str(home / name.lower()))
    for name in ("OASIS_SERVER", "OASIS_MODEL", "OASIS_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    return home


@pytest.fixture(autouse=True)
def every_request_extends_the_one_before(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Whatever a test does with a transcript: each prompt begins with the one before it, byte for byte."""
    sent: weakref.WeakKeyDictionary[Transcript, bytes] = weakref.WeakKeyDictionary()
    make = Transcript.request

    async def checked(self: Transcript) -> Request:
        request = await make(self)
        before = sent.get(self, b"")
        assert request.wire.startswith(before), "a prompt does not begin with the one before it"
        sent[self] = request.wire
        return request

    monkeypatch.setattr(Transcript, "request", checked)
    yield
