"""The token lane with saved states: each session computes what is new to it and nothing else."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import psutil
import pytest

from oasis.config import Settings
from oasis.core.items import Notice, ToolOutput, User
from oasis.engine.tiny import tiny
from oasis.errors import ServerUnreachable
from oasis.kv.store import Store
from oasis.kv.worth import Kind
from oasis.models.base import Lane
from oasis.models.connect import Connection, connect
from oasis.models.tokens import TokenModel
from tests.models.engine_session import CALL, EngineSession

pytestmark = pytest.mark.engine
REWOUND = 5
"""A restored sliding window goes back to its checkpoint."""


@pytest.fixture
def settings(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    kind = getattr(request, "param", "tiny-dense")
    model = tiny(kind, tmp_path_factory.getbasetemp().parent / "tiny-models")
    return Settings(model=str(model), context=8192, threads=1)


@asynccontextmanager
async def connected(settings: Settings, said: list[str] | None = None) -> AsyncIterator[Connection]:
    connection = await connect(settings, Lane.TOKENS, (said if said is not None else []).append, with_kv=True)
    try:
        yield connection
    finally:
        await connection.close()


def session_on(connection: Connection) -> EngineSession:
    assert isinstance(connection.model, TokenModel)
    return EngineSession(connection.model)


def states() -> list[tuple[str, int]]:
    store = Store()
    try:
        return [(a.kind, a.tokens) for a in store.all()]
    finally:
        store.close()


@pytest.mark.parametrize("settings", ["tiny-dense", "tiny-swa", "tiny-hybrid"], indirect=True)
async def test_every_token_is_computed_once_in_a_session_and_the_head_once_for_all(settings: Settings):
    async with connected(settings) as connection:
        session = session_on(connection)
        steps = [
            await session.step(CALL, Notice("Plant one."), User("Convert a.st.")),
            await session.step("Done.", ToolOutput("c1", "read", "VAR x : INT; END_VAR\n" * 40)),
            await session.step("Bye.", User("Thanks.")),
        ]
    assert [reply.usage.computed_tokens for _, reply in steps] == [request.new_tokens for request, _ in steps]
    async with connected(settings) as connection:
        session = session_on(connection)
        request, reply = await session.step(CALL, Notice("Plant two."), User("What is here?"))
    head = request.chunks[0].tokens or 0
    assert reply.usage.computed_tokens - ((request.new_tokens or 0) - head) <= REWOUND
    assert [kind for kind, _ in states()].count(Kind.HEAD) == 1


@pytest.mark.parametrize("words", [1, 12])
@pytest.mark.parametrize("settings", ["tiny-dense", "tiny-swa", "tiny-hybrid"], indirect=True)
async def test_a_transcript_goes_on_in_another_process_of_the_engine(settings: Settings, words: int):
    said: list[str] = []
    async with connected(settings) as connection:
        session = session_on(connection)
        await session.step(CALL, User("Convert a.st."))
        await session.step("Done. " * words, ToolOutput("c1", "read", "VAR x : INT; END_VAR\n" * 40))
        transcript = session.transcript
    async with connected(settings, said) as connection:
        again = session_on(connection)
        transcript._encoder = again.model.encoder
        again.transcript = transcript
        request, reply = await again.step("More.", User("And b.st?"))
    assert reply.usage.computed_tokens - (request.new_tokens or 0) <= REWOUND
    assert any(text.startswith("Restored") for text in said)


async def test_an_engine_that_dies_in_mid_message_costs_what_was_not_saved(settings: Settings):
    said: list[str] = []
    async with connected(settings, said) as connection:
        session = session_on(connection)
        await session.step(CALL, User("Convert a.st."))
        assert connection.kv is not None
        await connection.kv.save(connection.kv._session, Kind.SESSION)
        session.transcript.append(ToolOutput("c1", "read", "VAR x : INT; END_VAR\n" * 40))
        request = await session.transcript.request()
        psutil.Process(connection.engine.pid).kill()
        with pytest.raises(ServerUnreachable):
            [part async for part in session.model.stream(request)]
    async with connected(settings) as connection:
        again = session_on(connection)
        session.transcript._encoder = again.model.encoder
        again.transcript = session.transcript
        request, reply = await again.step("Done.")
    assert reply.usage.computed_tokens == (request.new_tokens or 0) - 1


async def test_a_connection_without_a_runtime_saves_nothing(settings: Settings):
    connection = await connect(settings.model_copy(update={"kv": False}), Lane.TOKENS, with_kv=True)
    await session_on(connection).step("Done.", User("Hello."))
    await connection.close()
    assert (connection.kv, states()) == (None, [])


async def test_an_interrupted_message_is_computed_no_more_than_received(settings: Settings):
    async with connected(settings) as connection:
        session = session_on(connection)
        await session.step(CALL, User("Convert."))
        await session.interrupted("I will explain at great length. " * 40, ToolOutput("c1", "read", "x" * 300))
        request, reply = await session.step("Yes.", User("Stop that."))
    assert reply.usage.computed_tokens <= (request.new_tokens or 0) + 1


async def test_a_foreign_server_that_saves_is_used_by_a_ring_of_names(dense_engine, tmp_path: Path):
    settings = Settings(server=dense_engine.url)
    for number in range(2):
        async with connected(settings) as connection:
            request, reply = await session_on(connection).step(CALL, User(f"Plant {number}."))
        head = request.chunks[0].tokens or 0
        assert reply.usage.computed_tokens == (request.new_tokens or 0) - number * head
