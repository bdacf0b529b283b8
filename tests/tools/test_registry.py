"""From what a model wrote to a tool that is run, or to words that help it."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oasis.core.arguments import Written, read_object
from oasis.core.items import Status, ToolCall
from oasis.core.tool import Arguments, Outcome, Preview, Risk, Tool, ToolSpec
from oasis.tools import meant
from oasis.tools.builtin import builtin
from oasis.tools.registry import Registry
from oasis.tools.skill import Skills
from oasis.tools.workspace import Workspace
from tests.tools.conftest import Project

SCHEMA = {
    "type": "object",
    "properties": {
        "n": {"type": "integer"},
        "x": {"type": "number"},
        "on": {"type": "boolean"},
        "s": {"type": "string"},
        "tags": {"type": "array", "items": {"type": "string"}},
    },
    "additionalProperties": False,
}


async def _preview(_: Arguments) -> Preview:
    return Preview("", "")


async def _run(_: Arguments) -> Outcome:
    return Outcome("ran")


ONE = Registry((Tool(ToolSpec("one", "", SCHEMA), Risk.READ, _preview, _run),))


def found(text: str) -> Arguments | Outcome:
    result = ONE.find(ToolCall("1", "one", text))
    return result if isinstance(result, Outcome) else result[1]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ('{"n": "5"}', {"n": 5}),
        ('{"n": 5.0}', {"n": 5}),
        ('{"x": "2.5"}', {"x": 2.5}),
        ('{"on": "True"}', {"on": True}),
        ('{"s": 5}', {"s": "5"}),
        ('{"tags": "a"}', {"tags": ["a"]}),
        ('{"tags": [1, "b"]}', {"tags": ["1", "b"]}),
        ('{"n": null, "s": "a"}', {"s": "a"}),
        ('{"s": "two\nlines"}', {"s": "two\nlines"}),
        ('{"s": "E:\\Plant\\a.st"}', {"s": "E:\\Plant\\a.st"}),
        ("{}", {}),
    ],
)
def test_what_has_one_reading_only_is_taken(written: str, meant: Arguments):
    assert found(written) == meant


@pytest.mark.parametrize(
    "written", ['{"a": ', '""', "[]", "", "null", "5", '{"n": "five"}', '{"n": 5.5}', '{"y": 1}', "{" * 100_000]
)
def test_what_does_not_fit_is_not_run_and_the_arguments_are_named(written: str):
    outcome = found(written)
    assert isinstance(outcome, Outcome)
    assert outcome.status is Status.ERROR
    assert outcome.text.startswith("Not run: ")
    assert '"n" (integer), "x" (number), "on" (boolean), "s" (string), "tags" (list of string)' in outcome.text
    assert outcome.text.endswith("\n[not run]")
    assert len(outcome.text) <= 600


def test_a_cut_off_call_names_what_was_wrong():
    outcome = found('{"n": ')
    assert isinstance(outcome, Outcome)
    assert outcome.text.startswith(
        "Not run: the arguments are not JSON: Expecting value at line 1 column 7. Call one again"
    )


async def test_a_call_with_a_fault_is_never_run_and_the_file_stays(project: Project):
    path = project.put("a.st", "A\n")
    arguments = json.dumps({"path": "a.st", "old": "A", "new": "B"})
    outcome = await project.send(ToolCall("1", "edit", arguments, fault="the message was cut off at its token limit"))
    assert outcome.status is Status.ERROR
    assert outcome.text.startswith("Not run: the message was cut off at its token limit. Call edit again")
    assert path.read_text() == "A\n"


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("raed", "read"),
        ("read_file", "read"),
        ("ListDir", "read"),
        ("edit_file", "edit"),
        ("str_replace_editor", "edit"),
        ("create_file", "write"),
        ("grep", "search"),
        ("run_terminal_cmd", "bash"),
    ],
)
async def test_an_unknown_tool_is_answered_with_the_nearest(project: Project, name: str, near: str):
    outcome = await project.send(ToolCall("1", name, "{}"))
    assert outcome == Outcome(
        f"Not run: there is no tool '{name}'. Nearest: {near}. The tools are: read, write, edit, search, bash, skill.\n[not run]",
        Status.ERROR,
    )


async def test_a_tool_that_nothing_is_like_is_answered_with_the_tools_alone(project: Project):
    outcome = await project.send(ToolCall("1", "zzz", "{}"))
    assert outcome.text.startswith("Not run: there is no tool 'zzz'. The tools are: read, ")


async def test_a_skill_called_as_a_tool_is_answered_with_how_it_is_read(project: Project):
    outcome = await project.send(ToolCall("1", "long-conversion-job", "{}"))
    assert 'It is a skill: call skill with {"name": "long-conversion-job"}.' in outcome.text


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("modbus_read", "plant_read"),
        ("scan_devices", "plant_scan"),
        ("opcua_browse", "plant_scan"),
        ("read_file", "read"),
    ],
)
def test_the_name_of_a_protocol_s_tool_means_the_plant_s(name: str, near: str):
    specs = [ToolSpec(one, "", {}) for one in ("read", "write", "bash", "plant_scan", "plant_read", "plant_write")]
    assert meant.tool(name, specs) == f"Nearest: {near}."


@pytest.mark.parametrize(
    ("there", "hint"),
    [((), "with a pack, which the engineer chooses"), (("plant_scan", "plant_read"), "with a site file, which the")],
)
def test_writing_to_a_device_that_cannot_be_is_not_taken_for_writing_a_file(there: tuple[str, ...], hint: str):
    specs = [ToolSpec(one, "", {}) for one in ("read", "write", *there)]
    for name in ("plant_write", "modbus_write_register", "write_coil"):
        assert hint in meant.tool(name, specs)
        assert "Nearest" not in meant.tool(name, specs)


async def test_a_list_written_as_text_is_read_as_the_list():
    seen: list[object] = []

    async def run(arguments: Arguments) -> Outcome:
        seen.append(arguments["items"])
        return Outcome("")

    async def preview(arguments: Arguments) -> Preview:
        return Preview("", "")

    items = {"type": "array", "items": {"type": "string"}}
    spec = ToolSpec("take", "", {"type": "object", "properties": {"items": items}, "required": ["items"]})
    registry = Registry((Tool(spec, Risk.READ, preview, run),))
    for text in ('["input 0", "input 1"]', "input 0", "[not a list"):
        found = registry.find(ToolCall("1", "take", json.dumps({"items": text})))
        assert isinstance(found, tuple)
        await found[0].run(found[1])
    assert seen == [["input 0", "input 1"], ["input 0"], ["[not a list"]]


@pytest.mark.parametrize(
    "name", ["Read", " read ", "functions.read", "default_api.read", "tool.read", "read<|channel|>commentary"]
)
async def test_a_name_in_other_case_or_with_what_a_server_left_in_it_is_the_tool(project: Project, name: str):
    project.put("a.st", "A\n")
    assert (await project.send(ToolCall("1", name, '{"path": "a.st"}'))).status is Status.OK


def test_every_built_in_tool_refuses_wrong_arguments_within_600_characters(project: Project):
    for tool in project.registry.tools:
        outcome = project.registry.find(ToolCall("1", tool.spec.name, '{"wrong": 1}'))
        assert isinstance(outcome, Outcome)
        assert len(outcome.text) <= 600
        assert all(name in outcome.text for name in tool.spec.parameters["required"])


def test_the_tools_stand_in_their_order_and_skill_is_last(project: Project):
    assert [spec.name for spec in project.registry.specs] == ["read", "write", "edit", "search", "bash", "skill"]
    assert {t.spec.name: t.risk for t in project.registry.tools} == {
        "read": Risk.READ,
        "write": Risk.WRITE,
        "edit": Risk.WRITE,
        "search": Risk.READ,
        "bash": Risk.EXEC,
        "skill": Risk.READ,
    }


def test_the_specifications_are_the_same_for_every_project(project: Project, tmp_path: Path):
    other = Workspace(tmp_path / "elsewhere", tmp_path / "s2")
    project.put(".oasis/skills/own/SKILL.md", "---\nname: own\ndescription: d\n---\nx")
    from oasis import resources

    specs = [t.spec.wire for t in builtin(other, Skills(resources.skills_folder(), (), project.root))]
    assert specs == [spec.wire for spec in project.registry.specs]


@given(st.dictionaries(st.text(max_size=5), st.one_of(st.text(), st.integers(), st.booleans(), st.none()), max_size=4))
def test_every_json_object_is_read_as_itself(value: dict[str, object]):
    assert read_object(json.dumps(value)) == Written(value, {})


@given(st.text(max_size=60))
def test_any_text_is_an_object_or_an_error_in_words(text: str):
    try:
        assert isinstance(read_object(text), Written)
    except ValueError as fault:
        assert str(fault).startswith("the arguments are")


@given(st.dictionaries(st.sampled_from(["path", "content"]), st.text(max_size=30), min_size=1), st.data())
def test_a_cut_off_object_is_never_read(value: dict[str, str], data: st.DataObject):
    text = json.dumps(value)
    cut = text[: data.draw(st.integers(0, len(text) - 1))]
    with pytest.raises(ValueError, match="the arguments are"):
        read_object(cut)
