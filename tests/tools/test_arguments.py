"""What a model wrote as arguments: repaired where that is safe, refused in words where it would do damage."""

import pytest

from oasis.core.arguments import Written, read_object
from oasis.core.items import Status, ToolCall
from tests.tools.conftest import Project


@pytest.mark.parametrize(
    ("text", "read"),
    [
        (r'{"path": "C:\temp\x.st"}', Written({"path": "C:\temp\\x.st"}, {"path": r"\x"})),
        (r'{"path": "a\.b", "content": "C:\\x"}', Written({"path": r"a\.b", "content": r"C:\x"}, {"path": r"\."})),
        (r'{"a": ["\q", {"b": "\w"}]}', Written({"a": [r"\q", {"b": r"\w"}]}, {"a": r"\q"})),
        (r'{"a": "\ud800"}', Written({"a": "\ufffd"}, {"a": r"\ud800"})),
        (r'{"a": "\ud83d\ude00"}', Written({"a": "\U0001f600"}, {})),
        (r'{"\ud800": {"\udc00": 1}}', Written({"\ufffd": {"\ufffd": 1}}, {"\ufffd": r"\udc00"})),
        (r'"{\"a\": \"x\\ny\"}"', Written({"a": "x\ny"}, {})),
        ('```json\n{"a": "```"}\n```', Written({"a": "```"}, {})),
        ('{"a": "\ue000\\q"}', Written({"a": "\ue000\\q"}, {"a": r"\q"})),
        (r'{"a": "\ue000\q"}', Written({"a": "\ue000\\q"}, {"a": r"\q"})),
    ],
)
def test_what_was_repaired_is_told_for_each_argument(text: str, read: Written):
    assert read_object(text) == read


@pytest.mark.parametrize(
    ("tool", "arguments", "fault"),
    [
        ("write", r'{"path": "new.st", "content": "C:\temp\\x (*\qb*)"}', r"content has \q in it"),
        ("write", r'{"path": "new.st", "content": "x\ud800"}', r"content has \ud800 in it, which is half a character"),
        ("write", r'{"path": "new.st", "content": "\u12"}', r"content has \u in it, which is no JSON escape"),
        ("edit", r'{"path": "a.st", "old": "A", "new": "\d"}', r"new has \d in it"),
        ("edit", r'{"path": "a.st", "old": "\A", "new": "B"}', r"old has \A in it"),
        ("bash", r'{"command": "touch new.st; grep -E \d a.st"}', r"command has \d in it"),
    ],
)
async def test_a_half_broken_text_is_refused_and_nothing_is_written(
    project: Project, tool: str, arguments: str, fault: str
):
    path = project.put("a.st", "A\n")
    outcome = await project.send(ToolCall("1", tool, arguments))
    assert outcome.status is Status.ERROR
    assert outcome.text.startswith(f"Not run: {fault}")
    assert ("half" in fault) or "Write each backslash as \\\\ and" in outcome.text
    assert [p.name for p in project.root.iterdir()] == ["a.st"]
    assert path.read_text() == "A\n"


async def test_a_broken_escape_in_a_path_does_not_refuse_a_content_that_is_whole(project: Project):
    call = ToolCall("1", "write", r'{"path": "src\x.st", "content": "a\\b\n"}')
    assert (await project.send(call)).status is Status.OK
    assert (project.root / "src" / "x.st").read_text() == "a\\b\n"


async def test_a_backspace_in_a_pattern_is_a_word_boundary_and_that_is_said(project: Project):
    project.put("a.st", "xMotor\nMotor\n")
    outcome = await project.send(ToolCall("1", "search", r'{"pattern": "\bMotor\b"}'))
    assert outcome.text == (
        "a.st\n  2: Motor\n"
        r"[1 lines in 1 of 1 files; a backspace in the pattern was read as \b; write \\b in JSON]"
    )


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("read", '{"file_path": "a"}', 'unknown argument "file_path": did you mean "path"?'),
        ("read", '{"filename": "a"}', 'unknown argument "filename": did you mean "path"?'),
        ("read", '{"path": "a", "start_line": 5}', 'unknown argument "start_line": did you mean "from"? Call read'),
        ("search", '{"query": "a"}', 'unknown argument "query": did you mean "pattern"?'),
        (
            "edit",
            '{"file": "a", "old_string": "b", "new_string": "c"}',
            'unknown argument "file": did you mean "path"?; unknown argument "old_string": did you mean "old"?',
        ),
        ("bash", '{"cmd": "ls"}', 'unknown argument "cmd": did you mean "command"?'),
        (
            "edit",
            '{"path": "a", "old_string": "a", "new_string": "b"}',
            'unknown argument "old_string": did you mean "old"?; unknown argument "new_string": did you mean "new"?',
        ),
        ("read", '{"path": "a", "zzz": 1}', 'unknown argument "zzz"'),
        ("edit", '{"path": "a", "old": "b"}', 'argument "new" is missing'),
    ],
)
async def test_a_wrong_argument_name_is_answered_with_the_one_meant_on_one_line(
    project: Project, tool: str, arguments: str, said: str
):
    text = (await project.send(ToolCall("1", tool, arguments))).text
    assert text.startswith(f"Not run: {said}")
    assert text.count("\n") == 1
    assert "additionalProperties" not in text
    assert len(text) < 300


@pytest.mark.parametrize(
    "text", [r'"{\"a\": "', r'"{\"a\": \"x"', '```json\n{"a": 1\n```', '```json\n{"a": 1}', '"[]"', '""']
)
def test_what_is_wrapped_and_cut_off_is_not_completed(text: str):
    with pytest.raises(ValueError, match="the arguments are"):
        read_object(text)
