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
    assert (
        "two\\n\\n<oasis:notice>\\na file changed\\n</oasis:notice>\\n\\n<oasis:user>\\nhurry\\n</oasis:user>" in wire
    )


async def answered(*texts: str) -> Transcript:
    transcript = Transcript(PREFIX, ByteEncoder())
    for text in texts:
        transcript.append(User(f"{text}?"))
        await transcript.request()
        transcript.append(message(text))
    return transcript


async def test_a_branch_extends_the_prompt_up_to_its_message_and_leaves_the_transcript_alone():
    transcript = await answered("one", "two")
    transcript.append(User("pending"))
    whole, branch = transcript.items, transcript.branch(2)
    branch.append(Notice("sum up"))
    request = await branch.request()
    assert request.chunks[:5] == transcript.chunks
    assert request.new_tokens == 1 + request.chunks[-1].tokens
    assert transcript.items == whole


async def test_a_branch_from_an_earlier_message_has_nothing_new_before_its_own_items():
    branch = (await answered("one", "two", "three")).branch(1)
    branch.append(Notice("sum up"))
    request = await branch.request()
    assert (len(request.chunks), request.new_tokens) == (4, request.chunks[-1].tokens)


async def test_in_the_next_epoch_everything_but_the_head_is_new_once():
    transcript = await answered("one", "two")
    after = await transcript.next_epoch([Notice("summary"), message("two"), User("three?")])
    first = await after.request()
    assert (first.epoch, first.chunks[0]) == (1, transcript.chunks[0])
    assert first.new_tokens == first.tokens - first.chunks[0].tokens
    assert first.chunks[2].wire == message("two").wire
    after.append(message("three"))
    after.append(User("four?"))
    second = await after.request()
    assert second.new_tokens == 1 + second.chunks[-1].tokens


async def test_an_epoch_that_is_read_back_counts_the_same():
    after = await (await answered("one", "two")).next_epoch([Notice("summary"), message("two"), User("three?")])
    first = await after.request()
    again = Transcript(PREFIX, ByteEncoder(), 1)
    again.seal(first.chunks[0])
    again.keep(Notice("summary"))
    again.seal(first.chunks[1])
    again.keep(message("two"))
    again.keep(User("three?"))
    assert await again.request() == first


async def test_the_next_epoch_of_the_chat_lane_sees_no_tokens_either():
    transcript = Transcript(PREFIX, JsonEncoder())
    transcript.append(User("hello"))
    await transcript.request()
    said = JsonEncoder().message(reply("hi"))
    transcript.append(said)
    after = await transcript.next_epoch([Notice("summary"), said, User("again")])
    request = await after.request()
    assert (request.tokens, request.new_tokens, len(request.chunks)) == (None, None, 4)
