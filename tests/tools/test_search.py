"""`search`: what is in the project's files, in a fixed order, within its size."""

import os
from pathlib import Path

import pytest

from oasis import resources
from oasis.core.items import Status
from oasis.core.tool import Outcome
from oasis.tools import search
from tests.tools.conftest import Project


async def test_lines_are_found_in_every_encoding_in_order_of_paths(project: Project):
    project.put("b.csv", "Tag\r\nMotor Ä\r\n".encode("utf-16"))
    project.put("a.awl", b"x\n\nmotor \xc4\n")
    project.put("c/d.st", "\ufeffMOTOR Ä\n")
    outcome = await project.call("search", pattern="motor ä")
    text = "a.awl\n  3: motor Ä\nb.csv\n  2: Motor Ä\nc/d.st\n  1: MOTOR Ä\n[3 lines in 3 of 3 files]"
    assert outcome == Outcome(text)


async def test_a_glob_narrows_by_name_or_path(project: Project):
    for name in ("a.st", "src/b.st", "src/deep/c.ST", "src/d.xml"):
        project.put(name, "x\n")
    found = {}
    for glob in ("*.st", "src/*.st", "**/c.st", "src/**/*.xml"):
        found[glob] = (await project.call("search", pattern="", glob=glob)).text.split("\n")[:-1]
    assert found == {
        "*.st": ["a.st", "src/b.st", "src/deep/c.ST"],
        "src/*.st": ["src/b.st", "src/deep/c.ST"],
        "**/c.st": ["src/deep/c.ST"],
        "src/**/*.xml": ["src/d.xml"],
    }


async def test_what_git_ignores_is_left_out_also_by_nested_files(project: Project):
    for name in ("a.st", "out/b.st", "src/keep.st", "src/drop.st", ".git/c.st", "node_modules/d.st"):
        project.put(name, "x\n")
    project.put(".gitignore", "out/\ndrop.st\n")
    assert (await project.call("search", pattern="x")).text.endswith("[2 lines in 2 of 3 files]")
    project.put("src/.gitignore", "!drop.st\n")
    assert "src/drop.st" in (await project.call("search", pattern="x")).text
    assert "out/b.st" in (await project.call("search", pattern="x", path="out")).text


async def test_binary_files_are_left_out_and_counted(project: Project):
    project.put("a.bin", bytes(range(256)))
    assert (
        await project.call("search", pattern="x")
    ).text == "[0 lines in 0 of 1 files; 1 binary or unreadable files left out]"


async def test_more_than_can_be_shown_is_counted(project: Project):
    project.put("a.st", "x\n" * 5_000)
    text = (await project.call("search", pattern="x")).text
    assert text.endswith("[5000 lines in 1 of 1 files; the first 150 shown; narrow the pattern, path or glob]")
    assert len(text) < 16_000


async def test_a_match_in_a_line_of_a_megabyte_is_shown_with_what_is_around_it(project: Project):
    project.put("a.xml", "<v/>" * 300_000 + "<needle/>" + "<v/>" * 300_000)
    text = (await project.call("search", pattern="needle")).text
    assert "<needle/>" in text
    assert len(text) < 400


async def test_what_is_no_regular_expression_is_searched_as_it_stands(project: Project):
    project.put("a.st", "y := FB_Motor(x);\n")
    text = (await project.call("search", pattern="FB_Motor(")).text
    assert text.startswith("a.st\n  1: y := FB_Motor(x);\n[1 lines in 1 of 1 files; the pattern is no valid regular")
    assert "(missing ), unterminated subpattern at position 8)" in text


async def test_a_glob_as_pattern_or_as_path_is_told_where_it_belongs(project: Project):
    project.put("st/a.st", "x\n")
    assert "with this as glob and an empty pattern" in (await project.call("search", pattern="*.st")).text
    text = (await project.call("search", pattern="x", path="st/*.st")).text
    assert (
        text == 'path takes no wildcards; they are glob\'s. Search again with {"path": "st", "glob": "*.st"}.\n[error]'
    )


async def test_a_pattern_that_never_ends_is_ended(project: Project):
    project.put("a.txt", "a" * 60 + "!\n")
    tool = search.tool(project.workspace, limit_s=4.0)
    outcome = await tool.run({"pattern": "(a|aa)+$"})
    assert outcome.status is Status.ERROR
    assert outcome.text.endswith("stopped after 4 s at a.txt; use a simpler pattern or a narrower path]")


async def test_a_module_of_the_project_is_not_run_by_a_search(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    project.put("json.py", f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    project.put("oasis/tools/grep.py", f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    monkeypatch.chdir(project.root)
    assert (await project.call("search", pattern="ran")).text.endswith("[2 lines in 2 of 2 files]")
    assert not (tmp_path / "ran").exists()


@pytest.mark.skipif(os.name == "nt", reason="links need rights on Windows")
async def test_links_are_not_followed(project: Project, tmp_path: Path):
    (tmp_path / "secret.st").write_text("x")
    (project.root / "link.st").symlink_to(tmp_path / "secret.st")
    (project.root / "loop").symlink_to(project.root)
    assert (await project.call("search", pattern="x")).text == "[0 lines in 0 of 0 files]"


async def test_one_file_can_be_searched(project: Project):
    project.put("a.st", "x\n")
    project.put("b.st", "x\n")
    assert (await project.call("search", pattern="x", path="b.st")).text == "b.st\n  1: x\n[1 lines in 1 of 1 files]"


async def test_a_spilled_output_can_be_searched(project: Project):
    project.workspace.spill.mkdir()
    spilled = project.workspace.spill / "bash-1.txt"
    spilled.write_text("a\nneedle\n")
    text = (await project.call("search", pattern="needle", path=str(spilled))).text
    assert text == f"{spilled.as_posix()}\n  2: needle\n[1 lines in 1 of 1 files]"


async def test_names_with_line_breaks_and_stray_bytes_do_no_harm(project: Project):
    if os.name == "nt":
        pytest.skip("no such names there")
    (project.root / os.fsdecode(b"F\xf6rder\n.st")).write_text("x\n")
    outcome = await project.call("search", pattern="x")
    assert outcome.text.endswith("[1 lines in 1 of 1 files]")
    outcome.text.encode()


def test_the_description_says_that_case_is_ignored():
    assert "case ignored" in resources.tool_spec("search").parameters["properties"]["pattern"]["description"]


async def test_a_hit_in_a_long_line_has_the_column_that_read_goes_to(project: Project):
    project.put("a.xml", "<x/>\n" + "é" * 30_000 + "Motor" + "b" * 30_000 + "\n")
    text = (await project.call("search", pattern="motor")).text
    assert "\n  2:30001: …" in text
    assert "read goes there with from and column" in text.split("\n")[-1]
    shown = (await project.call("read", path="a.xml", **{"from": 2, "column": 30_001, "lines": 1})).text.split("\n")[1]
    assert shown.startswith("Motorbbb")


async def test_a_hit_in_a_short_line_has_its_line_alone(project: Project):
    project.put("a.st", "x\nMotor\n")
    assert (await project.call("search", pattern="motor")).text == "a.st\n  2: Motor\n[1 lines in 1 of 1 files]"
