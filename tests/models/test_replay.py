from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from oasis.config import Settings
from oasis.core.items import Assistant, Stop, ToolCall, User
from oasis.core.prefix import Prefix
from oasis.core.tool import ToolSpec
from oasis.core.transcript import Transcript
from oasis.dialect.infer import infer
from oasis.engine.embedded import EmbeddedEngine
from oasis.models.base import Lane, Model, Reply
from oasis.models.connect import connect
from oasis.models.replay import ReplayModel, written
from oasis.models.tokens import TokenModel
from oasis.resources import shipped

READ = ToolSpec("read", "Read.", {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]})
PREFIX = Prefix("Be brief.", (READ,))
CALLING = Assistant("I look.", "Förderband first.", (ToolCall("c1", "read", '{"path": "a.st"}'),), Stop.END, wire=b"")
BROKEN = Assistant("", "", (ToolCall("c1", "read", '{"path": ', fault="cut"),), Stop.END, wire=b"")


@pytest.mark.parametrize("template", sorted(shipped("fixtures/templates").glob("*.jinja")), ids=lambda p: Path(p).stem)
def test_a_recorded_message_is_written_as_each_dialect_reads_it(template: Path):
    dialect = infer(template.read_text(encoding="utf-8"))
    parsed = dialect.parse(written(dialect, PREFIX, CALLING) + dialect.ends.call_stop, PREFIX.tools, lambda: "c1")
    assert parsed.calls == CALLING.calls
    assert parsed.reasoning == (CALLING.reasoning if dialect.render.form.shows_reasoning else "")


@pytest.fixture
async def tokens(dense_engine: EmbeddedEngine) -> AsyncIterator[TokenModel]:
    connection = await connect(Settings(server=dense_engine.url), Lane.TOKENS)
    assert isinstance(connection.model, TokenModel)
    yield connection.model
    await connection.close()


async def replayed(model: Model, tokens: TokenModel, message: Assistant) -> Reply:
    replay = ReplayModel(model, tokens.client, tokens.dialect, [message])
    transcript = Transcript(PREFIX, replay.encoder)
    transcript.append(User("go"))
    parts = [part async for part in replay.stream(await transcript.request())]
    assert isinstance(parts[-1], Reply)
    with pytest.raises(AssertionError, match="recording has 1 messages"):
        [part async for part in replay.stream(await transcript.request())]
    return parts[-1]


async def test_the_engine_decodes_every_token_of_a_recorded_message(tokens: TokenModel):
    reply = await replayed(tokens, tokens, CALLING)
    text = written(tokens.dialect, PREFIX, CALLING)
    assert reply.message.raw.startswith(text)
    assert reply.usage.decoded_tokens == len(await tokens.client.tokenize(text, True)) + 1
    assert (reply.message.text, reply.message.reasoning) == (CALLING.text, CALLING.reasoning)
    assert [(c.name, c.arguments) for c in reply.message.calls] == [("read", '{"path": "a.st"}')]


async def test_a_malformed_call_is_decoded_as_it_was_recorded(tokens: TokenModel):
    reply = await replayed(tokens, tokens, BROKEN)
    assert '"arguments": {"path": }' in reply.message.raw
    assert reply.message.calls[0].fault


async def test_in_the_chat_lane_the_recorded_message_goes_back_and_was_decoded(
    dense_engine: EmbeddedEngine, tokens: TokenModel
):
    connection = await connect(Settings(server=dense_engine.url), Lane.CHAT)
    reply = await replayed(connection.model, tokens, CALLING)
    await connection.close()
    text = written(tokens.dialect, PREFIX, CALLING)
    assert reply.message.calls == CALLING.calls
    assert reply.usage.decoded_tokens == len(await tokens.client.tokenize(text, True)) + 1
