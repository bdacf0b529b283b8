"""What the head costs in every session: system text and the six tools."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from oasis import resources
from oasis.tools.builtin import builtin
from oasis.tools.skill import Skills
from oasis.tools.workspace import Workspace

LIMIT_TOKENS = 1_200
LIMIT_CHARS = 5_400


@pytest.fixture
def parts(tmp_path: Path) -> Iterator[list[str]]:
    tools = builtin(Workspace(tmp_path, tmp_path), Skills(resources.skills_folder()))
    yield [resources.text("agent/prompts/system.md"), *(json.dumps(tool.spec.function()) for tool in tools)]


@pytest.mark.engine
async def test_the_head_costs_at_most_1200_tokens_of_smollm2(parts: list[str], tmp_path: Path):
    from oasis.engine.embedded import EmbeddedEngine
    from oasis.engine.llama import LlamaClient
    from oasis.engine.weights import models_folder

    model = models_folder() / "smollm2-135m.gguf"
    if not model.is_file():
        pytest.skip("needs `oasis models pull smollm2-135m`")
    engine = await EmbeddedEngine.start(model, log=tmp_path / "log", context=512, threads=1)
    client = LlamaClient(engine.url)
    try:
        tokens = [len(await client.tokenize(part, special=False)) for part in parts]
    finally:
        await client.aclose()
        await engine.stop()
    assert sum(tokens) <= LIMIT_TOKENS, tokens


def test_the_head_stays_short_also_where_no_tokenizer_is_at_hand(parts: list[str]):
    assert sum(map(len, parts)) <= LIMIT_CHARS


def test_nothing_in_the_head_varies_by_day_machine_or_project(parts: list[str], tmp_path: Path):
    text = "\n".join(parts)
    assert not re.search(r"20\d\d|\d\d:\d\d", text)
    assert str(tmp_path) not in text
    assert str(Path.home()) not in text


def test_every_parameter_of_a_tool_has_a_type_and_nothing_else_is_admitted(tmp_path: Path):
    for tool in builtin(Workspace(tmp_path, tmp_path), Skills(resources.skills_folder())):
        schema = tool.spec.parameters
        assert schema["additionalProperties"] is False
        assert set(schema["required"]) <= set(schema["properties"])
        assert all("type" in part for part in schema["properties"].values())
