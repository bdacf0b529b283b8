from pathlib import Path

import pytest

from oasis.agent.assembly import toolbox
from oasis.agent.prompt import assemble
from oasis.config import Settings
from oasis.core.items import ToolCall, User
from oasis.core.transcript import Transcript
from oasis.engine.embedded import EmbeddedEngine
from oasis.errors import ConfigError
from oasis.measure.ask import ask
from oasis.measure.calls import Share, Task, measure, modes, tasks
from oasis.models.base import Sampling
from oasis.models.connect import connect
from oasis.models.scripted import ScriptedModel
from oasis.models.tokens import TokenModel
from oasis.resources import shipped

REGISTRY = toolbox(Path()).registry


def test_a_call_counts_as_valid_when_it_can_be_run_and_as_right_when_it_is_the_tool_asked_for():
    share = Share("all")
    share.book([ToolCall("1", "read", '{"path": "a.st"}')], REGISTRY, "read")
    share.book([ToolCall("1", "search", '{"pattern": "a"}')], REGISTRY, "read")
    share.book([ToolCall("1", "read", "{}")], REGISTRY, "read")
    share.book([], REGISTRY, "read")
    assert share.as_json() == {"name": "all", "asked": 4, "valid": 2, "right": 1, "share": 0.5}


def test_every_task_names_a_tool_that_there_is():
    asked = tasks(shipped("fixtures/jobs/calls.jsonl"))
    assert len(asked) == 20
    assert {task.tool for task in asked} == {tool.name for tool in REGISTRY.specs}


@pytest.mark.engine
async def test_each_task_is_asked_in_each_mode_and_read_by_both_parsers(dense_engine: EmbeddedEngine):
    connection = await connect(Settings(server=dense_engine.url))
    shares = await measure(connection.model, REGISTRY, [Task("Read a.st.", "read")], lambda text: None)
    await connection.close()
    asked = {share.name: share.asked for share in shares}
    assert asked == {
        f"{mode}, {parser}": 1
        for mode in ("no grammar", "grammar", "call begun, no grammar", "call begun, grammar")
        for parser in ("the dialect's parser", "tolerant parser too")
    }


@pytest.mark.engine
async def test_the_grammar_makes_a_begun_call_of_a_model_with_random_weights_open_like_a_call(
    dense_engine: EmbeddedEngine,
):
    connection = await connect(Settings(server=dense_engine.url))
    assert isinstance(connection.model, TokenModel)
    _, _, begun, constrained = await modes(connection.model, REGISTRY)
    transcript = Transcript(assemble(REGISTRY.specs), connection.model.encoder)
    transcript.append(User("Read a.st."))
    request = await transcript.request()
    written = [
        (await ask(connection.model, request, Sampling(40, 0.0, mode.grammar))).message.raw
        for mode in (begun, constrained)
    ]
    await connection.close()
    assert written[0].startswith("<tool_call>")
    assert not written[0].startswith('<tool_call>\n{"name": "')
    assert written[1].startswith('<tool_call>\n{"name": "')


async def test_a_model_that_shows_no_tokens_is_refused():
    with pytest.raises(ConfigError, match="token lane"):
        await measure(ScriptedModel([]), REGISTRY, [], lambda text: None)
