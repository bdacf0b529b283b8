"""The transcript grows and nothing else."""

import pytest

from oasis.core.items import Notice, Status, ToolOutput, User
from oasis.core.prefix import Prefix
from oasis.core.transcript import Chunk, Request, Transcript
from oasis.models.scripted import ByteEncoder, JsonEncoder, reply

PREFIX = Prefix("You are a test.", ())


def message(text: str):
    return ByteEncoder().message(reply(text))


async def test_a_request_is_the_head_and_then_each_batch():
    transcript = Transcript(PREFIX, ByteEncoder())
    transcript.append(User("hello"))
    first = await transcript.request()
    transcript.append(message("hi"))
    transcript.append(User("again"))
    second = await transcript.request()
    assert len(first.chunks) == 2
    assert second.chunks[:2] == first.chunks
    assert second.chunks[2].wire == message("hi").wire


async def test_new_tokens_are_the_batch_and_the_one_token_that_was_sampled_and_never_decoded():
    transcript = Transcript(PREFIX, ByteEncoder())
    transcript.append(User("hello"))
    first = await transcript.request()
    assert first.new_tokens == first.tokens
    transcript.append(message("hi"))
    transcript.append(User("again"))
    second = await transcript.request()
    assert second.new_tokens == 1 + second.chunks[-1].tokens


async def test_the_same_request_comes_twice_when_nothing_was_added():
    transcript = Transcript(PREFIX, ByteEncoder())
    transcript.append(User("hello"))
    assert await transcript.request() == await transcript.request()


async def test_an_empty_message_of_the_model_leaves_what_was_sent_as_new():
    transcript = Transcript(PREFIX, ByteEncoder())
    transcript.append(User("hello"))
    first = await transcript.request()
    transcript.append(reply(""))
    transcript.append(User("again"))
    second = await transcript.request()
    assert second.new_tokens == first.new_tokens + second.chunks[-1].tokens


async def test_the_chat_lane_sees_no_tokens():
    transcript = Transcript(PREFIX, JsonEncoder())
    transcript.append(User("hello"))
    request = await transcript.request()
    assert (request.tokens, request.new_tokens) == (None, None)


async def test_a_message_of_the_model_must_answer_a_request():
    transcript = Transcript(PREFIX, ByteEncoder())
    transcript.append(User("hello"))
    with pytest.raises(ValueError, match="answers a request"):
        transcript.append(message("hi"))


def test_only_a_transcript_makes_a_request():
    with pytest.raises(TypeError, match=r"Transcript\.request"):
        Request(PREFIX, 0, (Chunk(b"1", 1),), 1, "", object())


async def test_the_digest_tells_two_conversations_apart():
    digests: set[str] = set()
    for text in ("hello", "hallo", "hello"):
        transcript = Transcript(PREFIX, ByteEncoder())
        transcript.append(User(text))
        digests.add((await transcript.request()).digest)
    assert len(digests) == 2


async def test_notices_after_outputs_end_the_last_output():
    transcript = Transcript(PREFIX, JsonEncoder())
    transcript.append(User("hello"))
    await transcript.request()
    transcript.append(JsonEncoder().message(reply("calling")))
    transcript.append(ToolOutput("c1", "read", "one", Status.OK))
    transcript.append(ToolOutput("c2", "read", "two", Status.OK))
    transcript.append(Notice("a file changed"))
    transcript.append(User("hurry"))
    wire = (await transcript.request()).chunks[-1].wire.decode()
    assert wire.count('"role": "tool"') == 2
    assert '"user"' not in wire
    assert "two\\n\\n<notice>\\na file changed\\n</notice>\\n\\n<user>\\nhurry\\n</user>" in wire
