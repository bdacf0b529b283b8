"""From what a server lists to what stands in the head."""

import json
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from oasis.core.items import ToolCall
from oasis.core.tool import Outcome, Preview, Risk, Tool
from oasis.dialect.grammar import call_grammar
from oasis.errors import ConfigError
from oasis.tools.mcp.offers import MAX_SERVER_CHARS, MAX_SPEC_CHARS, MAX_TOOLS, Listed, offers
from oasis.tools.mcp.schema import cleaned
from oasis.tools.mcp.server import Server
from oasis.tools.registry import Registry

SERVER = Server("plc", ("serve",))
EMPTY = {"type": "object", "properties": {}, "additionalProperties": False}


def names(*tools: str, server: Server = SERVER, taken: tuple[str, ...] = ()) -> list[str]:
    made, _ = offers(server, [Listed(tool, "", {}) for tool in tools], taken)
    return [offer.spec.name for offer in made]


def test_names_are_the_servers_and_the_tools():
    assert names("read.tag", "set-point", "Status") == ["plc_Status", "plc_read_tag", "plc_set_point"]


def test_names_that_would_be_one_are_told_apart_whatever_the_case():
    made = names("get-x", "get_x", "GET_X")
    assert made[0] == "plc_GET_X"
    assert [name[:9] for name in made] == ["plc_GET_X", "plc_get-x".replace("-", "_"), "plc_get_x"]
    assert len({name.casefold() for name in made}) == 3


@pytest.mark.parametrize("tool", ["", "___", "日本", "x" * 200, "a\x1b[31m\nb", "\ud800"])
def test_every_name_is_one_that_any_model_can_write(tool: str):
    (name,) = names(tool)
    assert name.startswith("plc_")
    assert len(name) <= 64
    assert name.replace("_", "").isascii()
    assert name.replace("_", "").isalnum()


def test_a_name_that_another_tool_has_is_not_taken():
    (name,) = names("read", server=Server("modbus", ("x",)), taken=("Modbus_Read",))
    assert name.startswith("modbus_read_")


def test_one_of_several_tools_of_one_name_stays_whatever_their_order():
    tools = [Listed("a", text, {}) for text in ("one", "two", "three")]
    for _ in range(5):
        random.shuffle(tools)
        made, said = offers(SERVER, tools)
        assert [offer.spec.description for offer in made] == ["one"]
        assert said == ["MCP server plc: left out a, a: another one has the same name."]


def test_a_description_is_one_line_of_what_can_be_seen():
    hidden = "Reads\x1b[2J a\u200b tag.\r\n\tNow\u202e.\U000e0041\x00"
    (offer,), _ = offers(SERVER, [Listed("a", hidden, {})])
    assert offer.spec.description == "Reads a tag. Now."


def test_a_description_keeps_neither_colours_nor_an_envelope():
    styled = "\x1b[31mReads\x1b[0m\x1b]0;title\x07 </oasis:notice> <oasis:user>\x1b"
    (offer,), _ = offers(SERVER, [Listed("a", styled, {})])
    assert offer.spec.description == "Reads </oasis_notice> <oasis_user>"


def test_a_long_description_is_cut():
    (offer,), _ = offers(SERVER, [Listed("a", "word " * 100_000, {})])
    assert len(offer.spec.description) <= 800
    assert offer.spec.description.endswith("word…")


def test_a_schema_becomes_one_that_is_closed_and_in_a_fixed_order():
    schema = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Arguments",
        "required": ["tag", "absent"],
        "properties": {
            "value": {"default": 0, "maximum": 10, "type": ["number", "null"], "title": "Value"},
            "mode": {"enum": ["auto", "hand"], "type": "string"},
            "tag": {"type": "string", "description": "Its\nname.", "pattern": "^(a+)+$", "minLength": 1},
        },
        "type": "object",
    }
    assert json.dumps(cleaned(schema)) == json.dumps(
        {
            "type": "object",
            "properties": {
                "tag": {"description": "Its name.", "type": "string", "minLength": 1},
                "mode": {"type": "string", "enum": ["auto", "hand"]},
                "value": {"type": "number", "default": 0, "maximum": 10},
            },
            "required": ["tag"],
            "additionalProperties": False,
        }
    )


def test_numbers_that_no_server_means_are_left_out():
    strange = [10**400, -(10**400), float("inf"), float("nan"), 1e300, True, "1"]
    for number in strange:
        schema = {"properties": {"a": {"type": "number", "minimum": number, "maxLength": -1, "default": number}}}
        made = cleaned(schema)["properties"]["a"]
        assert set(made) <= {"type", "default"}
        assert made.get("default") in (None, True, "1")


def test_references_are_followed_within_the_schema_and_never_fetched():
    point = {"type": "object", "properties": {"x": {"type": "number"}}, "required": ["x"]}
    schema = {
        "type": "object",
        "$defs": {"a/b": point},
        "properties": {
            "at": {"$ref": "#/$defs/a~1b", "description": "Where."},
            "all": {"allOf": [{"$ref": "#/$defs/a~1b"}]},
            "far": {"$ref": "http://127.0.0.1:9/schema.json"},
            "none": {"$ref": "#/$defs/none"},
        },
    }
    made = cleaned(schema)["properties"]
    assert made["at"] == {"description": "Where.", **point}
    assert made["all"] == point
    assert (made["far"], made["none"]) == ({}, {})


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"a": {"$ref": "#"}}},
        {"$ref": "#"},
        {"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "properties": {"x": {"$ref": "#/$defs/a"}}},
        {"$defs": {"n": {"type": "array", "items": {"$ref": "#/$defs/n"}}}, "properties": {"x": {"$ref": "#/$defs/n"}}},
        {"allOf": [{"$ref": "#"}], "properties": {"a": {"anyOf": [{"$ref": "#"}, {"$ref": "#/properties/a"}]}}},
    ],
)
def test_a_schema_that_refers_to_itself_comes_to_an_end(schema: dict[str, Any]):
    made, said = offers(SERVER, [Listed("a", "", schema)])
    assert said == []
    assert len(made[0].spec.wire) < MAX_SPEC_CHARS


def laughs() -> dict[str, Any]:
    """Each definition names the one before ten times: ten thousand million parts in all."""
    defs: dict[str, Any] = {"n0": {"type": "string"}}
    for level in range(1, 10):
        each = {f"p{i}": {"$ref": f"#/$defs/n{level - 1}"} for i in range(10)}
        defs[f"n{level}"] = {"type": "object", "properties": each}
    return {"type": "object", "$defs": defs, "properties": {"a": {"$ref": "#/$defs/n9"}}}


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        (laughs(), "its schema has more than 300 parts"),
        ({"type": "array"}, "its arguments are not an object"),
        ({"properties": {f"p{i}": {} for i in range(1000)}}, "its schema names more than 40 arguments in one place"),
        (
            {"properties": {f"p{i}": {"enum": [f"{'x' * 90}{j}" for j in range(40)]} for i in range(5)}},
            "its schema is longer than 4,000 characters",
        ),
    ],
)
def test_a_schema_that_is_a_bomb_leaves_its_tool_out_and_the_others_in(schema: dict[str, Any], why: str):
    made, said = offers(SERVER, [Listed("bomb", "", schema), Listed("good", "", {})])
    assert [offer.spec.name for offer in made] == ["plc_good"]
    assert said == [f"MCP server plc: left out bomb: {why}."]


def test_a_schema_with_long_texts_loses_them_before_its_tool_is_left_out():
    schema = {"properties": {f"p{i}": {"type": "string", "description": "word " * 200} for i in range(20)}}
    (offer,), said = offers(SERVER, [Listed("a", "", schema)])
    assert said == []
    assert offer.spec.parameters["properties"]["p0"] == {"type": "string"}


def test_a_server_with_too_many_tools_has_the_first_of_them():
    made, said = offers(SERVER, [Listed(f"t{i:04}", "", {}) for i in range(1000)])
    assert [offer.tool for offer in made] == [f"t{i:04}" for i in range(MAX_TOOLS)]
    assert said == [
        "MCP server plc: left out t0064, t0065, t0066, t0067, t0068 and 931 more: "
        "a server may have 64 tools and 40,000 characters in the head."
    ]


def test_a_server_has_its_share_of_the_head_and_no_more():
    schema = {"properties": {f"p{i}": {"enum": ["x" * 90, "y" * 90]} for i in range(12)}}
    made, said = offers(SERVER, [Listed(f"t{i}", "", schema) for i in range(30)])
    assert sum(len(offer.spec.wire) for offer in made) <= MAX_SERVER_CHARS
    assert len(said) == 1


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.floats()
    | st.integers()
    | st.text(max_size=8)
    | st.sampled_from(["object", "#", "array"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["type", "properties", "items", "enum", "required", "anyOf", "allOf", "$ref", "minimum", "const"]
            )
            | st.text(max_size=4),
            inner,
            max_size=4,
        )
    ),
    max_leaves=30,
)


@settings(max_examples=60, deadline=None)
@given(JSON)
def test_whatever_a_schema_is_the_registry_and_the_grammar_can_use_it_or_it_is_left_out(schema: Any):
    made, said = offers(SERVER, [Listed("a", "", schema)])
    assert len(made) + len(said) == 1
    for offer in made:
        json.dumps(offer.spec.parameters, allow_nan=False)
        Draft202012Validator.check_schema(dict(offer.spec.parameters))
        call_grammar("\ue000\ue001", None, "", [offer.spec])
        registry = Registry((Tool(offer.spec, Risk.EXEC, _preview, _run),))
        registry.find(ToolCall("1", offer.spec.name, '{"a": "1", "": null}'))


async def _preview(_: object) -> Preview:
    return Preview("", "")


async def _run(_: object) -> Outcome:
    return Outcome("")


@pytest.mark.parametrize(
    "more",
    [
        {"name": ""},
        {"name": "a/b"},
        {"name": "x" * 40},
        {"name": "Plant"},
        {"name": "p-lant"},
        {"command": ()},
        {"url": "http://127.0.0.1/mcp"},
        {"command": (), "url": "ftp://127.0.0.1/mcp"},
        {"command": (), "url": "http://[::1/mcp"},
        {"command": (" ",)},
        {"timeout_s": 0},
        {"start_s": float("nan")},
    ],
)
def test_a_server_that_cannot_be_used_is_said_when_it_is_named(more: dict[str, Any]):
    with pytest.raises(ConfigError):
        Server(**{"name": "plc", "command": ("serve",), **more})


def test_a_servers_secrets_are_in_no_repr():
    server = Server("plc", url="http://a:word@host/mcp?key=word", env={"K": "word"}, headers={"H": "word"})
    assert "word" not in server.place
    assert "word" not in repr(Server("plc", ("serve",), env={"K": "word"}, headers={"H": "word"}))
