import asyncio

import pytest

from oasis.core.items import Stop, ToolOutput, User
from oasis.core.prefix import Prefix
from oasis.core.transcript import Transcript
from oasis.models.base import Lane, Reply
from oasis.models.scripted import Held, ScriptedModel, call, reply

PREFIX = Prefix("Be brief.", ())


async def ask(model: ScriptedModel, transcript: Transcript) -> Reply:
    parts = [part async for part in model.stream(await transcript.request())]
    assert isinstance(parts[-1], Reply)
    transcript.append(parts[-1].message)
    return parts[-1]


@pytest.mark.parametrize("lane", Lane)
async def test_each_request_begins_with_the_one_before_it(lane: Lane):
    model = ScriptedModel([reply("", call("read", path="a.st"), reasoning="first look"), reply("done")], lane)
    transcript = Transcript(PREFIX, model.encoder)
    transcript.append(User("go"))
    first = await ask(model, transcript)
    transcript.append(ToolOutput("read", "read", "VAR x : INT;"))
    await ask(model, transcript)
    one, two = model.requests
    assert two.wire.startswith(one.wire + b"," + first.message.wire)
    assert model.is_played_out


async def test_a_script_that_runs_out_says_which_request_came():
    model = ScriptedModel([reply("only one")])
    transcript = Transcript(PREFIX, model.encoder)
    transcript.append(User("go"))
    await ask(model, transcript)
    transcript.append(User("again"))
    with pytest.raises(AssertionError, match=r"1 replies and this is request 2.*again"):
        await ask(model, transcript)


async def test_a_held_reply_leaves_what_was_streamed():
    held = Held(reply("half a sen"))
    model = ScriptedModel([held])
    transcript = Transcript(PREFIX, model.encoder)
    transcript.append(User("go"))
    asking = asyncio.create_task(ask(model, transcript))
    await held.reached.wait()
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert (model.partial().text, model.partial().stop) == ("half a sen", Stop.CANCELLED)
