"""A job through a connection that fails in every way: no item is lost, no tool runs twice, nothing more is computed."""

from contextlib import aclosing
from pathlib import Path

import pytest

from oasis.config import Settings
from oasis.core.events import Retrying, StepFinished
from oasis.core.items import Assistant, Stop, ToolOutput, User
from oasis.core.transcript import Request
from oasis.dialect.infer import infer
from oasis.engine.embedded import EmbeddedEngine
from oasis.engine.llama import LlamaClient
from oasis.models.base import Lane, Model, Sampling
from oasis.models.chat import ChatModel
from oasis.models.connect import connect
from oasis.models.tokens import TokenModel
from tests.agent.harness import build
from tests.faults.injector import Fault, injecting

pytestmark = pytest.mark.engine
WORDS = ["a", "b", "c"]
SCRIPT = [f'<tool_call>\n{{"name": "change", "arguments": {{"text": "{w}"}}}}\n</tool_call>' for w in WORDS] + [
    "Done: a, b and c."
]


class Forced:
    """The model, made to write the script's n-th text as its n-th message, however often it is asked for it."""

    def __init__(self, model: Model, client: LlamaClient) -> None:
        self.__dict__.update(
            {name: getattr(model, name) for name in ("name", "lane", "identity", "context_tokens", "encoder")}
        )
        self.partial, self.close = model.partial, model.close
        self._model = model
        self._client = client

    async def stream(self, request: Request, sampling: Sampling):
        ids = await self._client.tokenize(SCRIPT[len(request.chunks) // 2 - 1], True)
        forced = Sampling(0, 0.0, "root ::= " + " ".join(f"<[{i}]>" for i in ids))
        async with aclosing(self._model.stream(request, forced)) as parts:
            async for part in parts:
                yield part


async def token_lane(engine: EmbeddedEngine, url: str, direct: LlamaClient) -> Model:
    props = await direct.props()
    await direct.erase(1)
    dialect = infer(props["chat_template"], props["bos_token"], props["eos_token"])
    return TokenModel(LlamaClient(url), dialect, name="tiny", identity="tiny", slot=1, context_tokens=32768)


@pytest.mark.parametrize("fault", list(Fault))
@pytest.mark.parametrize("step", [0, 2])
async def test_a_faulty_connection_loses_no_item_and_repeats_no_tool(
    tmp_path: Path, dense_engine: EmbeddedEngine, fault: Fault, step: int
):
    direct = LlamaClient(dense_engine.url)
    async with injecting(dense_engine.url, {step: fault}) as injector:
        model = Forced(await token_lane(dense_engine, injector.url, direct), direct)
        bench = build(tmp_path, model)
        finished = await bench.agent.turn([User("go")])
        await model.close()
    await direct.aclose()
    assert injector.injected == [fault]
    assert (finished.reason, finished.text) == ("done", SCRIPT[-1])
    assert bench.runs.texts == WORDS
    kinds = [type(item) for item in bench.session.transcript.items]
    assert kinds == [User, *[Assistant, ToolOutput] * 3, Assistant]
    assert len(bench.all(Retrying)) == (fault is not Fault.SLOW_HEADERS)
    steps = bench.all(StepFinished)
    assert all(event.usage.computed_tokens <= event.new_tokens for event in steps)


async def test_faults_on_every_request_end_the_turn_and_the_next_goes_on(tmp_path: Path, dense_engine: EmbeddedEngine):
    direct = LlamaClient(dense_engine.url)
    async with injecting(dense_engine.url, dict.fromkeys(range(6), Fault.RESET_IN_STREAM)) as injector:
        model = Forced(await token_lane(dense_engine, injector.url, direct), direct)
        bench = build(tmp_path, model)
        assert (await bench.agent.turn([User("go")])).reason == "server"
        assert bench.session.transcript.items == (User("go"),)
        assert (await bench.agent.turn([User("are you there?")])).reason == "done"
        await model.close()
    await direct.aclose()
    first, cut, *_ = bench.session.transcript.items
    assert (first, cut.stop) == (User("go"), Stop.CANCELLED)
    assert bench.runs.texts == WORDS[1:]


@pytest.mark.parametrize("fault", list(Fault))
async def test_the_chat_lane_survives_the_same_faults(tmp_path: Path, dense_engine: EmbeddedEngine, fault: Fault):
    async with injecting(dense_engine.url, {0: fault}) as injector:
        model = ChatModel(injector.url, "tiny", identity="chat", extra={"id_slot": 1, "max_tokens": 12}, is_llama=True)
        bench = build(tmp_path, model)
        await bench.agent.turn([User("go")])
        await model.close()
    assert injector.injected == [fault]
    assert len(bench.all(Retrying)) == (fault is not Fault.SLOW_HEADERS)
    assert isinstance(bench.session.transcript.items[1], Assistant)


async def test_a_server_that_is_loading_its_model_is_waited_for_and_the_wait_is_said(
    dense_engine: EmbeddedEngine, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("oasis.models.llama_server._LOADING_PAUSE_S", 0.0)
    said: list[str] = []
    async with injecting(dense_engine.url, {}) as injector:
        injector.loading = 4
        connection = await connect(Settings(server=injector.url), say=said.append)
        await connection.close()
    assert connection.model.lane is Lane.TOKENS
    assert [("Loading model" in text, "Waiting" in text) for text in said[:1]] == [(True, True)]
    assert sum("Loading model" in text for text in said) == 1
