"""What a server's failures become."""

import asyncio
import json
import socket

import pytest

from oasis.engine.llama import LlamaClient
from oasis.errors import ContextFull, ServerFault, ServerLoading, ServerUnreachable
from tests.engine.answering import STREAM, Answer, always, answering, whole


async def fault(answer: Answer) -> ServerFault:
    """The error that streaming from a server with this answer ends in."""
    async with answering(answer) as server:
        client = LlamaClient(server.url)
        with pytest.raises(ServerFault) as caught:
            async for _ in client.complete(b"{}"):
                pass
        await client.aclose()
        assert len(server.requests) == 1
    return caught.value


async def test_a_prompt_that_does_not_fit_tells_the_limit() -> None:
    body = {"code": 400, "message": "too long", "type": "exceed_context_size_error", "n_prompt_tokens": 9, "n_ctx": 8}
    error = await fault(always(whole("400 Bad Request", json.dumps({"error": body}))))
    assert isinstance(error, ContextFull)
    assert error.n_ctx == 8


async def test_a_model_being_loaded_is_waited_for() -> None:
    body = {"error": {"code": 503, "message": "Loading model", "type": "unavailable_error"}}
    error = await fault(always(whole("503 Service Unavailable", json.dumps(body))))
    assert isinstance(error, ServerLoading)
    assert "Loading model" in str(error)


async def test_an_error_keeps_the_servers_words_and_a_bound() -> None:
    error = await fault(always(whole("500 Oops", json.dumps({"error": {"message": "the plug " + "x" * 9000}}))))
    assert type(error) is ServerFault
    assert "the plug" in str(error)
    assert len(str(error)) < 1000


async def test_a_refused_key_says_which_setting() -> None:
    error = await fault(always(whole("401 Unauthorized", '{"error":{"message":"Invalid API Key"}}')))
    assert "OASIS_API_KEY" in str(error)


async def test_an_error_within_a_stream_ends_it() -> None:
    sent = b'data: {"content":"a","tokens":[1]}\n\ndata: {"error":{"code":500,"message":"grammar stack"}}\n\n'
    error = await fault(always(STREAM + sent))
    assert type(error) is ServerFault
    assert "grammar stack" in str(error)


@pytest.mark.parametrize(
    "sent",
    [
        STREAM + b'data: {"content":"a","tokens":[1]}\n\n',
        STREAM + b'data: {"content":"a","tok',
        b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\ndata: {}\n",
        b"",
    ],
    ids=["no last object", "half a line", "short of its length", "nothing"],
)
async def test_a_stream_that_ends_too_soon_may_be_sent_again(sent: bytes) -> None:
    assert isinstance(await fault(always(sent)), ServerUnreachable)


async def test_a_reset_connection_may_be_sent_again() -> None:
    async def reset(_: str, writer: asyncio.StreamWriter) -> None:
        writer.write(STREAM + b'data: {"content":"a"}\n\n')
        await writer.drain()
        linger_off = b"\x01\x00\x00\x00\x00\x00\x00\x00"
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger_off)
        writer.transport.abort()

    assert isinstance(await fault(reset), ServerUnreachable)


@pytest.mark.parametrize(
    "sent", [b"SSH-2.0-OpenSSH_9\r\n\r\n", STREAM + b"data: [1, 2]\n\n", STREAM + b"data: nonsense\n\n"]
)
async def test_garbage_is_not_sent_again(sent: bytes) -> None:
    assert type(await fault(always(sent))) is ServerFault


async def test_nothing_there_is_unreachable() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        client = LlamaClient(f"http://127.0.0.1:{unused.getsockname()[1]}")
        with pytest.raises(ServerUnreachable, match="Nothing answers"):
            await client.props()
        await client.aclose()


async def test_https_to_a_server_without_it_says_so() -> None:
    def refuse(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(whole("400 Bad Request", "{}"))
        writer.close()

    async with await asyncio.start_server(refuse, "127.0.0.1", 0) as server:
        client = LlamaClient(f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}")
        with pytest.raises(ServerFault, match="Write http://"):
            await client.props()
        await client.aclose()


async def test_an_answer_of_another_kind_of_server_is_named() -> None:
    async with answering(always(whole("200 OK", "<html>", "text/html"))) as server:
        client = LlamaClient(server.url)
        with pytest.raises(ServerFault, match=r"not what a llama\.cpp server says"):
            await client.props()
        await client.aclose()
