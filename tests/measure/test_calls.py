from pathlib import Path

import pytest

from oasis.agent.assembly import toolbox
from oasis.config import Settings
from oasis.core.items import ToolCall
from oasis.engine.embedded import EmbeddedEngine
from oasis.errors import ConfigError
from oasis.measure.calls import Share, Task, measure, tasks
from oasis.models.connect import connect
from oasis.models.scripted import ScriptedModel
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
async def test_each_task_is_asked_with_and_without_grammar_and_read_by_both_parsers(dense_engine: EmbeddedEngine):
    connection = await connect(Settings(server=dense_engine.url))
    shares = await measure(connection.model, REGISTRY, [Task("Read a.st.", "read")], lambda text: None)
    await connection.close()
    assert [(share.name, share.asked) for share in shares] == [
        ("no grammar, the dialect's parser", 1),
        ("no grammar, tolerant parser too", 1),
        ("grammar, the dialect's parser", 1),
        ("grammar, tolerant parser too", 1),
    ]


async def test_a_model_that_shows_no_tokens_is_refused():
    with pytest.raises(ConfigError, match="token lane"):
        await measure(ScriptedModel([]), REGISTRY, [], lambda text: None)
