import asyncio
import json
from contextlib import aclosing

import httpx
import pytest

from oasis.engine.embedded import EmbeddedEngine
from oasis.engine.llama import LlamaClient
from oasis.measure.record import Recorder


def body(prompt: list[int], **settings: object) -> bytes:
    wanted = {"prompt": prompt, "stream": True, "return_tokens": True, "cache_prompt": False, "id_slot": 0}
    return json.dumps({**wanted, **settings}).encode()


async def test_it_keeps_the_request_the_servers_timings_and_the_ids(dense_engine: EmbeddedEngine):
    asked = body([104, 105], n_predict=4)
    async with Recorder(dense_engine.url) as recorder:
        client = LlamaClient(recorder.url)
        last = [chunk async for chunk in client.complete(asked)][-1]
        await client.aclose()
    [exchange] = recorder.completions
    assert (exchange.body, exchange.answer.status, exchange.answer.is_complete) == (asked, 200, True)
    assert exchange.computed_tokens == last["timings"]["prompt_n"] == 2
    assert len(exchange.answer.tokens) == last["timings"]["predicted_n"]


async def test_it_reads_timings_out_of_a_chat_answer_that_is_not_streamed(dense_engine: EmbeddedEngine):
    message = {"messages": [{"role": "user", "content": "hi"}], "max_tokens": 2}
    async with Recorder(dense_engine.url) as recorder, httpx.AsyncClient(trust_env=False) as client:
        answer = (await client.post(f"{recorder.url}/v1/chat/completions", json=message)).json()
    assert recorder.completions[0].answer.timings == answer["timings"]


async def test_a_client_that_goes_away_ends_the_request_at_the_server(dense_engine: EmbeddedEngine):
    async with Recorder(dense_engine.url) as recorder:
        client = LlamaClient(recorder.url)
        async with aclosing(client.complete(body([104], n_predict=20000, ignore_eos=True))) as chunks:
            async for chunk in chunks:
                if chunk.get("tokens"):
                    break
        direct = LlamaClient(dense_engine.url)
        while any(slot["is_processing"] for slot in await direct.slots()):
            await asyncio.sleep(0)
        await client.aclose()
        await direct.aclose()
    assert not recorder.completions[0].answer.is_complete
    assert recorder.completions[0].answer.tokens


async def test_a_server_that_is_not_there_looks_like_one_that_hangs_up(unused_tcp_port: int):
    async with (
        Recorder(f"http://127.0.0.1:{unused_tcp_port}") as recorder,
        httpx.AsyncClient(trust_env=False) as client,
    ):
        with pytest.raises(httpx.RemoteProtocolError):
            await client.get(f"{recorder.url}/props")
