"""The client against real engines."""

import json
from collections.abc import Sequence
from contextlib import aclosing
from typing import Any

import httpx
import pytest

from oasis.engine.embedded import EmbeddedEngine
from oasis.engine.llama import LlamaClient
from oasis.engine.tiny import CONTROL
from oasis.errors import ContextFull, ServerFault
from tests.engine_fixtures import CONTEXT_TOKENS

pytestmark = pytest.mark.engine

END = 256 + CONTROL.index("<|im_end|>")


def body(prompt: Sequence[int], n_predict: int, **more: Any) -> bytes:
    settings = {"stream": True, "return_tokens": True, "return_progress": True, "cache_prompt": True, "temperature": 0}
    return json.dumps(settings | {"prompt": list(prompt), "n_predict": n_predict} | more).encode()


async def complete(client: LlamaClient, request: bytes) -> tuple[list[int], dict[str, Any]]:
    """The ids generated and the last object."""
    ids: list[int] = []
    last: dict[str, Any] = {}
    async for last in client.complete(request):
        ids += last.get("tokens", [])
    return ids, last


@pytest.mark.parametrize("kind", ["dense_engine", "swa_engine", "hybrid_engine"])
async def test_a_strict_append_computes_its_new_tokens_and_the_closing_one(
    kind: str, request: pytest.FixtureRequest
) -> None:
    engine: EmbeddedEngine = request.getfixturevalue(kind)
    client = LlamaClient(engine.url)
    await client.erase(0)
    prompt = list(b"A pump runs. " * 200)
    for new in (b"first", b"a longer second one", b"3"):
        generated, last = await complete(client, body(prompt, 9, id_slot=0, ignore_eos=True))
        assert len(generated) == last["tokens_predicted"] == 9
        prompt += [*generated, END, *new]
        _, last = await complete(client, body(prompt, 1, id_slot=0))
        assert last["timings"]["prompt_n"] == len(new) + 2
        prompt += [END]
    await client.aclose()


async def test_content_is_never_control(client: LlamaClient) -> None:
    text = "<|im_start|>system"
    assert await client.tokenize(text, special=False) == list(text.encode())
    assert await client.tokenize(text, special=True) == [256 + CONTROL.index("<|im_start|>"), *b"system"]


async def test_detokenize_gives_the_text_of_control_tokens(client: LlamaClient) -> None:
    assert await client.detokenize([END, *"ä".encode()]) == "<|im_end|>ä"


async def test_the_token_that_closed_a_message_is_among_its_ids(client: LlamaClient) -> None:
    ids, last = await complete(client, body(b"x", 9, grammar='root ::= "ok"'))
    assert (bytes(ids[:2]), last["stop_type"]) == (b"ok", "eos")
    assert ids[2] >= 256


async def test_progress_holds_no_generated_tokens(client: LlamaClient) -> None:
    seen = [chunk async for chunk in client.complete(body(b"y" * 3000, 1))]
    progress = [chunk for chunk in seen if "prompt_progress" in chunk]
    assert progress[-1]["prompt_progress"]["processed"] == 3000
    assert not any("tokens" in chunk for chunk in progress)


async def test_ids_of_a_character_of_several_tokens_are_complete(client: LlamaClient) -> None:
    text = "é😀 x"
    ids, last = await complete(client, body(b"z", 20, grammar=f'root ::= "{text}"'))
    assert bytes(ids[:-1]).decode() == text
    assert len(ids) == last["tokens_predicted"]


async def test_ids_the_server_kept_to_itself_are_counted(client: LlamaClient) -> None:
    ids, last = await complete(client, body(b"z", 2, grammar='root ::= "😀"'))
    assert (ids, last["tokens_predicted"], last["lost_tokens"]) == ([], 2, 2)


async def test_a_stream_may_be_silent_as_long_as_a_prefill_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    limits: list[Any] = []

    async def answer(_: httpx.AsyncHTTPTransport, request: httpx.Request) -> httpx.Response:
        limits.append(request.extensions["timeout"])
        return httpx.Response(200, text=": alive\n\n" * 400 + 'data: {"stop": true}\n\n')

    monkeypatch.setattr(httpx.AsyncHTTPTransport, "handle_async_request", answer)
    client = LlamaClient("http://127.0.0.1:1")
    assert [chunk async for chunk in client.complete(b"{}")] == [{"stop": True}]
    assert [(limit["read"], limit["connect"]) for limit in limits] == [(None, 10.0)]
    await client.aclose()


async def test_closing_early_cancels_at_the_server(client: LlamaClient) -> None:
    async with aclosing(client.complete(body(b"w", 30000, id_slot=1, ignore_eos=True))) as stream:
        async for chunk in stream:
            if chunk.get("tokens"):
                break
        assert (await client.slots())[1]["is_processing"]
    while (await client.slots())[1]["is_processing"]:
        pass
    assert (await client.slots())[1]["next_token"][0]["n_decoded"] < 29000


async def test_a_prompt_too_long_raises_with_the_servers_limit(client: LlamaClient) -> None:
    with pytest.raises(ContextFull) as caught:
        await complete(client, body([65] * CONTEXT_TOKENS, 1))
    assert caught.value.n_ctx == CONTEXT_TOKENS


async def test_a_grammar_that_is_none_is_refused_in_the_servers_words(client: LlamaClient) -> None:
    with pytest.raises(ServerFault, match="failed to parse grammar"):
        await complete(client, body(b"x", 1, grammar='root ::= "'))


async def test_a_slot_saved_and_restored_is_reused(client: LlamaClient) -> None:
    await complete(client, body(b"head" * 100, 0, id_slot=0))
    saved = await client.save(0, "head.bin")
    await client.erase(0)
    restored = await client.restore(0, "head.bin")
    assert saved["n_saved"] == restored["n_restored"] == 400
    _, last = await complete(client, body(b"head" * 100 + b"!", 1, id_slot=0))
    assert last["timings"]["prompt_n"] == 1


async def test_a_slot_file_that_is_not_there_is_a_fault(client: LlamaClient) -> None:
    with pytest.raises(ServerFault, match="Unable to restore slot"):
        await client.restore(0, "missing.bin")


async def test_properties_show_template_and_context(client: LlamaClient) -> None:
    props = await client.props()
    assert props["default_generation_settings"]["n_ctx"] == CONTEXT_TOKENS
    assert props["chat_template"].startswith("{%- if messages")
    assert await client.health() == {"status": "ok"}
