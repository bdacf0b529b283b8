"""A step that computed more than was new: where the reuse ended, why, what it cost."""

import asyncio
from pathlib import Path

import pytest

from oasis.agent.recomputed import SLACK_TOKENS, Watch
from oasis.core.events import Prefill, Recomputed, Text
from oasis.core.items import Notice, ToolOutput, User
from oasis.core.prefix import Prefix
from oasis.core.transcript import Transcript
from oasis.core.usage import Usage
from oasis.models.base import Lane
from oasis.models.scripted import ScriptedModel, call, reply
from tests.agent.harness import build

PREFIX = Prefix("You are a test.", ())


async def spoken(lane: Lane) -> tuple[Transcript, list]:
    """A transcript of two exchanges and its three requests."""
    model = ScriptedModel([], lane)
    writer = model._writer
    transcript, requests = Transcript(PREFIX, model.encoder), []
    batches = [
        [Notice("n" * 100), User("Look into the file, and say what you see there.")],
        [ToolOutput("c", "read", "x" * 400)],
    ]
    messages = [reply("", call("read", "c", path="a")), reply("It says x.")]
    for batch, message in zip(batches, messages, strict=True):
        for item in batch:
            transcript.append(item)
        requests.append(await transcript.request())
        transcript.append(writer.message(message))
    transcript.append(User("go on"))
    requests.append(await transcript.request())
    return transcript, requests


def usage(request, computed: int) -> Usage:
    return Usage(request.tokens, request.tokens - computed, 1, prefill_ms=float(computed))


async def test_a_step_that_computed_what_was_new_is_not_told():
    transcript, requests = await spoken(Lane.TOKENS)
    watch = Watch()
    for number, request in enumerate(requests):
        assert watch.see(number, request, usage(request, request.new_tokens + SLACK_TOKENS), transcript) is None


@pytest.mark.parametrize(
    ("kept_of", "where"),
    [
        (0, "the head (system text and tools)"),
        (1, "your message “Look into the file, and say what you see…”"),
        (2, "the model's message"),
        (3, "the output of read"),
        (4, "the model's message “It says x.”"),
    ],
)
async def test_it_is_told_what_stands_where_the_reuse_ended(kept_of: int, where: str):
    transcript, requests = await spoken(Lane.TOKENS)
    request = requests[-1]
    kept = sum(chunk.tokens for chunk in request.chunks[:kept_of])
    watch = Watch()
    watch.see(1, requests[0], usage(requests[0], 0), transcript)
    found = watch.see(3, request, Usage(request.tokens, kept, 1, 1000.0), transcript)
    if found is None:
        assert request.tokens - kept - request.new_tokens <= SLACK_TOKENS
        return
    assert (found.kept_tokens, found.where) == (kept, where)
    assert found.held_tokens == request.tokens - request.new_tokens
    assert found.computed_tokens == request.tokens - kept - request.new_tokens
    assert found.prefill_ms == pytest.approx(1000 * found.computed_tokens / (request.tokens - kept))


@pytest.mark.parametrize(
    ("watch", "kept", "why"),
    [
        (Watch(is_first=True), 50, "when it was resumed"),
        (Watch(is_first=False, was_interrupted=True), 50, "the step before was interrupted"),
        (Watch(is_first=False), 0, "held nothing of it"),
        (Watch(is_first=False), 50, "gave up a part of what it held"),
    ],
)
async def test_the_likely_cause_is_named(watch: Watch, kept: int, why: str):
    transcript, requests = await spoken(Lane.TOKENS)
    found = watch.see(3, requests[-1], Usage(requests[-1].tokens, kept, 1), transcript)
    assert why in found.why


async def test_in_the_chat_lane_it_is_measured_by_the_prompt_before_and_told_about():
    transcript, requests = await spoken(Lane.CHAT)
    watch = Watch(is_first=False)
    assert watch.see(1, requests[0], Usage(500, 0, 10), transcript) is None
    assert watch.see(2, requests[1], Usage(900, 490, 10), transcript) is None
    found = watch.see(3, requests[2], Usage(1000, 300, 10), transcript)
    assert isinstance(found, Recomputed)
    assert (found.kept_tokens, found.held_tokens, found.computed_tokens) == (300, 900, 600)
    assert found.where.startswith("about ")
    assert "template" in found.why


async def test_a_server_that_does_not_tell_is_not_accused():
    transcript, requests = await spoken(Lane.CHAT)
    watch = Watch(is_first=False)
    for request in requests:
        assert watch.see(1, request, Usage(is_cache_known=False), transcript) is None


async def test_what_was_queued_is_appended_at_the_end_of_a_tool_output_within_the_turn(tmp_path: Path):
    model = ScriptedModel([reply("", call("look", text="a")), reply("Done.")])
    bench = build(tmp_path, model)
    waiting = [[], [User("and mind the pumps")], []]
    bench.agent.queued = lambda: waiting.pop(0) if waiting else []
    await bench.agent.turn([User("go")])
    assert [type(item).__name__ for item in bench.session.transcript.items] == [
        "User",
        "Assistant",
        "ToolOutput",
        "User",
        "Assistant",
    ]
    assert "heard" in [type(event).__name__.lower() for event in bench.events]
    text = bytes(int(i) for i in model.requests[1].chunks[-1].wire.split(b",")).decode()
    assert text.endswith("<oasis:user>\nand mind the pumps\n</oasis:user>\n[model]")


class Interrupted(ScriptedModel):
    """Tells of a prefill, writes a word, and waits until the stream is closed."""

    async def stream(self, request, sampling=None):
        self.requests.append(request)
        self._received = reply("half")
        yield Prefill(request.tokens, 0, request.tokens - 5)
        self.reached.set()
        await asyncio.Event().wait()


async def test_an_interrupted_step_is_booked_as_far_as_the_server_told(tmp_path: Path):
    model = Interrupted([])
    model.reached = asyncio.Event()
    bench = build(tmp_path, model)
    turn = asyncio.ensure_future(bench.agent.turn([User("go")]))
    await model.reached.wait()
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn
    request = model.requests[0]
    assert bench.session.usage == Usage(request.tokens - 5, 0)
    assert bench.session.new_tokens == request.new_tokens
    assert bench.session.steps == 1


class Repeating(ScriptedModel):
    """Tells of a prefill, then writes the same words again and again; the second message is an answer."""

    async def stream(self, request, sampling=None):
        if self.requests:
            async for part in super().stream(request):
                yield part
            return
        self.requests.append(request)
        self._received = reply("on and on ")
        yield Prefill(request.tokens, 0, request.tokens)
        while True:
            yield Text("on and on ")


async def test_a_message_stopped_for_repeating_itself_is_booked_like_any_other(tmp_path: Path):
    bench = build(tmp_path, Repeating([reply("done")]))
    assert (await bench.agent.turn([User("go")])).text == "done"
    assert bench.session.steps == 2
    assert bench.session.usage.computed_tokens == bench.session.new_tokens
