"""Telling servers apart."""

import json
import socket

import pytest

from oasis.engine.embedded import EmbeddedEngine
from oasis.errors import ServerFault, ServerUnreachable
from oasis.models.discover import Found, discover, identify
from tests.engine.answering import answering, by_path, whole


def answer(body: object, status: str = "200 OK") -> bytes:
    return whole(status, json.dumps(body))


def listing(*names: str, owner: str = "someone") -> bytes:
    return answer({"object": "list", "data": [{"id": name, "owned_by": owner} for name in names]})


KINDS = {
    "vllm": {"/v1/models": listing("qwen3", owner="vllm")},
    "ollama": {"/v1/models": listing("qwen3", owner="library"), "/api/tags": answer({"models": []})},
    "lmstudio": {"/v1/models": listing("qwen3"), "/api/v0/models": answer({"data": []})},
    "openai": {"/v1/models": listing("qwen3"), "/api/tags": answer({"error": "Unexpected endpoint"})},
}


@pytest.mark.engine
async def test_llama_cpp_is_recognised_by_its_properties(dense_engine: EmbeddedEngine) -> None:
    found = await identify(f"{dense_engine.url}/v1/")
    assert (found.kind, found.url, found.note) == ("llama.cpp", dense_engine.url, "")
    assert found.models[0].endswith(".gguf")


@pytest.mark.parametrize("kind", KINDS)
async def test_a_server_is_recognised_by_what_it_alone_shows(kind: str) -> None:
    async with answering(by_path(KINDS[kind])) as server:
        assert await identify(server.url) == Found(server.url, kind, ("qwen3",))  # type: ignore[arg-type]


async def test_a_server_without_a_model_says_so() -> None:
    async with answering(by_path({"/v1/models": listing(), "/api/tags": answer({"models": []})})) as server:
        assert await identify(server.url) == Found(server.url, "ollama", (), "It has no model loaded.")


async def test_a_llama_cpp_that_loads_is_recognised() -> None:
    loading = answer({"error": {"code": 503, "message": "Loading model"}}, "503 Service Unavailable")
    async with answering(by_path({"/props": loading})) as server:
        assert await identify(server.url) == Found(server.url, "llama.cpp", (), "It is still loading its model.")


async def test_a_web_server_is_no_model_server() -> None:
    async with answering(by_path({"/props": whole("200 OK", "<html>", "text/html")})) as server:
        with pytest.raises(ServerFault, match="no model server"):
            await identify(server.url)


async def test_a_refused_key_is_said() -> None:
    async with answering(by_path({"/props": answer({"error": {"message": "Invalid API Key"}}, "401 No")})) as server:
        with pytest.raises(ServerFault, match="OASIS_API_KEY"):
            await identify(server.url)


async def test_nothing_there_is_unreachable() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        with pytest.raises(ServerUnreachable):
            await identify(f"http://127.0.0.1:{unused.getsockname()[1]}")


async def test_what_answers_is_found_in_the_order_of_the_ports() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        async with answering(by_path(KINDS["vllm"])) as vllm, answering(by_path(KINDS["ollama"])) as ollama:
            found = await discover((ollama.port, unused.getsockname()[1], vllm.port))
    assert [(f.kind, f.url) for f in found] == [("ollama", ollama.url), ("vllm", vllm.url)]
