"""A grammar makes a triggered call valid JSON of its tool's schema."""

import json
from typing import Any

import pytest
from jsonschema import validate

from oasis.dialect.dialect import Dialect, Grammar
from oasis.engine.llama import LlamaClient
from tests.dialect.conversations import TOOLS, read_back
from tests.dialect.templates import dialect, every


def grammar(name: str) -> Grammar:
    made = dialect(name).grammar(TOOLS)
    assert made is not None
    return made


async def decoded(client: LlamaClient, gbnf: str, seed: int, prompt: str = "x") -> str:
    body = {
        "prompt": prompt, "grammar": gbnf, "stream": True, "n_predict": 600, "seed": seed, "temperature": 2.0,
        "return_tokens": True, "cache_prompt": False,
    }  # fmt: skip
    ids: list[int] = []
    async for chunk in client.complete(json.dumps(body).encode()):
        ids += chunk.get("tokens") or []
    return await client.detokenize(ids)


@pytest.mark.engine
@pytest.mark.parametrize("name", ["hermes", "plain", "counted"])
async def test_what_the_engine_decodes_under_the_grammar_fits_a_tools_schema(name: str, client: LlamaClient) -> None:
    made = dialect(name)
    short = grammar(name).gbnf.replace("char*", "char{0,8}")
    seen = 0
    for seed in range(6):
        raw = await decoded(client, short, seed)
        for call in read_back(made, raw).calls:
            if call.fault:
                continue
            schema = next(tool.parameters for tool in TOOLS if tool.name == call.name)
            validate(json.loads(call.arguments), dict(schema))
            seen += 1
    assert seen >= 3


def test_a_grammar_begins_at_its_trigger() -> None:
    made = grammar("hermes")
    assert made.triggers == ("<tool_call>",)
    assert set(made.triggers) <= set(made.preserved)
    assert 'call-read ::= "<tool_call>\\n{\\"name\\": \\"" "read" "\\", \\"arguments\\": " arguments-read' in made.gbnf


def test_several_calls_may_follow_one_another_where_the_template_writes_them_so() -> None:
    assert "))*" in grammar("hermes").gbnf.splitlines()[0]


def test_calls_that_are_no_json_have_no_grammar() -> None:
    assert dialect("parameters").grammar(TOOLS) is None


def test_without_tools_there_is_no_grammar() -> None:
    assert dialect("hermes").grammar(()) is None


def test_a_prompt_in_every_dialect_with_json_calls_has_a_grammar() -> None:
    without = [name for name, made in every().items() if needs(made) and made.grammar(TOOLS) is None]
    assert without == []


def needs(made: Dialect) -> bool:
    facts: dict[str, Any] = made.facts
    return facts["calls"] in ("json", "header+json", "oasis") and facts["call_section"].startswith(("<", "["))
