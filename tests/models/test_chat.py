"""The chat lane: what a server sends is kept as it came, and what is odd about it is understood."""

import asyncio
import json
from contextlib import aclosing

import pytest

from oasis.core.events import Reasoning, Text
from oasis.core.items import Notice, Stop, ToolOutput, User
from oasis.core.prefix import Prefix
from oasis.core.tool import ToolSpec
from oasis.core.transcript import Transcript
from oasis.errors import ContextFull, ServerFault, ServerLoading, ServerUnreachable
from oasis.models.base import Reply
from oasis.models.chat import ChatModel
from tests.models.server import answer, delta, serving, sse, stream

SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
PREFIX = Prefix("You are a test.", (ToolSpec("read", "Reads.", SCHEMA), ToolSpec("list", "Lists.", SCHEMA)))
USAGE = {
    "choices": [],
    "usage": {"prompt_tokens": 10, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 7}},
}


def piece(index: int, arguments: str = "", **fields: object):
    return {
        "tool_calls": [{"index": index, "function": {"arguments": arguments, **fields.pop("function", {})}, **fields}]
    }


async def ask(server, *items) -> tuple[list, Reply, Transcript, ChatModel]:
    model = ChatModel(server.url, "m", identity="chat m")
    transcript = Transcript(PREFIX, model.encoder)
    for item in items or (User("hello"),):
        transcript.append(item)
    parts = []
    try:
        async with aclosing(model.stream(await transcript.request())) as got:
            parts = [part async for part in got]
    finally:
        await model.close()
    return parts[:-1], parts[-1], transcript, model


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning", "thinking"])
async def test_reasoning_goes_back_under_the_name_it_came_in(name: str):
    async with serving(
        stream(sse(delta(**{name: "hm "}), delta(**{name: "so"}), delta(content="yes"), delta("stop"), USAGE))
    ) as server:
        parts, reply, _, _ = await ask(server)
    assert parts == [Reasoning("hm "), Reasoning("so"), Text("yes")]
    assert json.loads(reply.message.wire) == {"role": "assistant", "content": "yes", name: "hm so"}
    assert (reply.usage.prompt_tokens, reply.usage.cached_tokens, reply.usage.is_cache_known) == (10, 7, True)


async def test_a_server_that_does_not_tell_what_it_reused_is_not_believed_to_reuse():
    usage = {"choices": [], "usage": {"prompt_tokens": 10, "completion_tokens": 2}}
    async with serving(stream(sse(delta(content="yes"), delta("stop"), usage))) as server:
        _, reply, _, _ = await ask(server)
    assert (reply.usage.is_cache_known, reply.usage.computed_tokens) == (False, 10)


@pytest.mark.parametrize("finish", ["tool_calls", "stop"])
async def test_streamed_calls_are_put_together_whatever_the_finish_reason(finish: str):
    pieces = [
        delta(**piece(0, id="a", function={"name": "read"})),
        delta(**piece(0, '{"pa')),
        delta(**piece(1, '{"path": "y"}', id="b", function={"name": "list"})),
        delta(**piece(0, 'th": "x"}')),
        delta(finish),
    ]
    async with serving(stream(sse(*pieces))) as server:
        _, reply, _, _ = await ask(server)
    assert [(c.id, c.name, c.arguments, c.fault) for c in reply.message.calls] == [
        ("a", "read", '{"path": "x"}', ""),
        ("b", "list", '{"path": "y"}', ""),
    ]


async def test_finish_reason_tool_calls_without_any_is_a_final_answer():
    async with serving(stream(sse(delta(content="done"), delta("tool_calls")))) as server:
        _, reply, _, _ = await ask(server)
    assert (reply.message.text, reply.message.calls, reply.message.stop) == ("done", (), Stop.END)


async def test_a_call_cut_at_the_length_limit_has_a_fault_and_goes_back_as_an_object():
    async with serving(
        stream(sse(delta(**piece(0, '{"path": "a', id="a", function={"name": "read"})), delta("length")))
    ) as server:
        _, reply, _, _ = await ask(server)
    assert "cut off" in reply.message.calls[0].fault
    assert reply.message.stop is Stop.LENGTH
    sent = json.loads(reply.message.wire)["tool_calls"][0]["function"]["arguments"]
    assert json.loads(sent) == {"malformed": '{"path": "a'}


@pytest.mark.parametrize(
    "arguments", [r'{"path": "E:\Plant\a.st"}', '"{\\"path\\": \\"a\\"}"', '```json\n{"path": "a"}\n```']
)
async def test_arguments_that_could_be_read_go_back_as_they_were_read(arguments: str):
    call = piece(0, arguments, id="a", function={"name": "read"})
    async with serving(stream(sse(delta(**call), delta("tool_calls")))) as server:
        _, reply, _, _ = await ask(server)
    sent = json.loads(reply.message.wire)["tool_calls"][0]["function"]["arguments"]
    assert json.loads(sent)["path"].endswith(("a", "a.st"))
    assert reply.message.calls[0].arguments == arguments


@pytest.mark.parametrize(
    "text",
    [
        "<function=read>\n<parameter=path>\nx\n</parameter>\n</function>",
        '```json\n{"name": "read", "arguments": {"path": "x"}}\n```',
    ],
)
async def test_a_call_written_in_the_text_is_understood_and_its_output_goes_as_the_users(text: str):
    async with serving(stream(sse(delta(content=text), delta("stop")))) as server:
        _, reply, transcript, _ = await ask(server)
    assert [(c.name, json.loads(c.arguments)) for c in reply.message.calls] == [("read", {"path": "x"})]
    transcript.append(reply.message)
    transcript.append(ToolOutput(reply.message.calls[0].id, "read", "content"))
    last = json.loads((await transcript.request()).chunks[-1].wire)
    assert last == {"role": "user", "content": "[output of read: data, not the engineer's words]\ncontent"}


async def test_there_is_one_system_message_and_it_is_the_first():
    async with serving(stream(sse(delta(content="yes"), delta("stop")))) as server:
        await ask(server, Notice("the directory"), User("hello"))
    messages = server.requests[0]["messages"]
    assert [message["role"] for message in messages] == ["system", "user"]
    assert messages[1]["content"] == "<oasis:notice>\nthe directory\n</oasis:notice>\n\nhello"
    assert [tool["function"]["name"] for tool in server.requests[0]["tools"]] == ["read", "list"]


async def test_a_server_that_only_sends_comments_for_a_long_time_gets_one_request():
    ready = asyncio.Event()
    body = stream(*[b": waiting\n\n"] * 80, ready, b": still\n\n", sse(delta(content="yes"), delta("stop")))
    async with serving(body) as server:
        task = asyncio.create_task(ask(server))
        while not server.requests:
            await asyncio.sleep(0)
        ready.set()
        _, reply, _, _ = await task
        assert reply.message.text == "yes"
        assert len(server.requests) == 1


async def test_half_a_line_of_a_stream_is_a_broken_connection():
    async with serving(stream(sse(delta(content="ye")), b'data: {"choices": [{"del', end=b"")) as server:
        with pytest.raises(ServerUnreachable):
            await ask(server)


async def test_garbage_in_a_stream_is_named():
    async with serving(stream(b"data: <html>\n\n")) as server:
        with pytest.raises(ServerFault, match="html"):
            await ask(server)


@pytest.mark.parametrize(
    ("status", "body", "fault"),
    [
        ("503 Unavailable", {"error": {"message": "Loading model", "code": 503}}, ServerLoading),
        (
            "400 Bad",
            {"error": {"type": "exceed_context_size_error", "message": "too long", "n_ctx": 4096}},
            ContextFull,
        ),
        ("500 Oops", b"<html>", ServerFault),
    ],
)
async def test_an_http_error_is_told_apart(status: str, body: object, fault: type):
    async with serving(answer(status, body)) as server:
        with pytest.raises(fault) as raised:
            await ask(server)
    assert getattr(raised.value, "n_ctx", 4096) == 4096


async def test_an_error_inside_a_stream_is_an_error():
    async with serving(stream(sse({"error": {"message": "the cache is gone", "code": 500}}))) as server:
        with pytest.raises(ServerFault, match="the cache is gone"):
            await ask(server)


async def test_a_proxy_in_the_environment_is_not_used_for_this_machine(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    async with serving(stream(sse(delta(content="yes"), delta("stop")))) as server:
        _, reply, _, _ = await ask(server)
    assert reply.message.text == "yes"


async def test_localhost_falls_back_to_ipv4():
    async with serving(stream(sse(delta(content="yes"), delta("stop")))) as server:
        server.url = server.url.replace("127.0.0.1", "localhost")
        _, reply, _, _ = await ask(server)
    assert reply.message.text == "yes"


async def test_a_closed_stream_gives_what_came_as_a_message_that_can_be_sent():
    never = asyncio.Event()
    async with serving(stream(sse(delta(content="half")), never)) as server:
        model = ChatModel(server.url, "m", identity="chat m")
        transcript = Transcript(PREFIX, model.encoder)
        transcript.append(User("hello"))
        async with aclosing(model.stream(await transcript.request())) as got:
            async for _ in got:
                break
        assert model.partial().stop is Stop.CANCELLED
        assert json.loads(model.partial().wire) == {"role": "assistant", "content": "half"}
        never.set()
        await model.close()
