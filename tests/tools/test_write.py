"""`write`: a whole file or nothing."""

import errno
import os
import stat
from pathlib import Path

import pytest

from oasis.core.items import Status
from oasis.core.tool import Outcome, Preview
from oasis.errors import ToolFault
from oasis.tools import atomic
from tests.tools.conftest import Project


async def test_a_new_file_and_its_folders_are_made(project: Project):
    outcome = await project.call("write", path="out/new/a.st", content="A := 1;\n")
    assert outcome == Outcome("[out/new/a.st created: 1 lines, 8 bytes]")
    assert (project.root / "out/new/a.st").read_bytes() == b"A := 1;\n"


async def test_the_preview_is_the_diff(project: Project):
    project.put("a.st", "A\nB\nC\n")
    await project.call("read", path="a.st")
    preview = await project.preview("write", path="a.st", content="A\nX\nC\n")
    body = "--- a.st\n+++ a.st\n@@ -1,4 +1,4 @@\n A\n-B\n+X\n C\n "
    assert preview == Preview("Overwrite a.st", "a.st", body)
    assert (project.root / "a.st").read_bytes() == b"A\nB\nC\n"


async def test_control_characters_do_not_reach_a_terminal_through_the_preview(project: Project):
    preview = await project.preview("write", path="a.st", content="A\x1b[2J\n")
    assert "\x1b" not in preview.body
    assert "\\x1b[2J" in preview.body


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"A\r\nB\r\n", b"A\r\nX\r\n"),
        (b"\xef\xbb\xbfA\nB\n", b"\xef\xbb\xbfA\nX\n"),
        ("A\r\nB\r\n".encode("utf-16"), "A\r\nX\r\n".encode("utf-16")),
        (b"\xb0C\nB\n", b"A\nX\n"),
    ],
)
async def test_an_existing_file_keeps_its_encoding_mark_and_line_ends(project: Project, before: bytes, after: bytes):
    path = project.put("a.st", before)
    await project.call("read", path="a.st")
    assert (await project.call("write", path="a.st", content="A\nX\n")).status is Status.OK
    assert path.read_bytes() == after


async def test_a_character_the_encoding_has_not_is_an_error_and_the_file_stays(project: Project):
    path = project.put("a.awl", b"F\xf6rderband\n")
    await project.call("read", path="a.awl")
    outcome = await project.call("write", path="a.awl", content="→\n")
    assert outcome.status is Status.ERROR
    assert "Windows-1252 and '→' (U+2192) cannot be written" in outcome.text
    assert path.read_bytes() == b"F\xf6rderband\n"


async def test_a_file_that_was_not_read_is_not_overwritten(project: Project):
    path = project.put("a.st", "A\n")
    outcome = await project.call("write", path="a.st", content="B\n")
    assert outcome.status is Status.ERROR
    assert "a.st exists and it was not read since the session was begun or resumed" in outcome.text
    assert path.read_text() == "A\n"


async def test_a_file_that_changed_since_it_was_read_is_not_overwritten(project: Project):
    path = project.put("a.st", "A\n")
    await project.call("read", path="a.st")
    path.write_text("engineer\n")
    assert "changed on disk" in (await project.call("write", path="a.st", content="B\n")).text
    assert path.read_text() == "engineer\n"


async def test_a_file_read_in_part_is_overwritten_only_after_the_rest_was_read(project: Project):
    project.put("a.st", "".join(f"{n}\n" for n in range(10)))
    await project.call("read", path="a.st", lines=5)
    assert "only a part of it was read" in (await project.call("write", path="a.st", content="x\n")).text
    await project.call("read", path="a.st", **{"from": 6})
    assert (await project.call("write", path="a.st", content="x\n")).status is Status.OK


async def test_what_was_written_may_be_written_again(project: Project):
    await project.call("write", path="a.st", content="A\n")
    assert (await project.call("write", path="a.st", content="B\n")).text == "[a.st overwritten: 1 lines, 2 bytes]"


@pytest.mark.skipif(os.name == "nt", reason="POSIX modes")
async def test_the_mode_is_kept(project: Project):
    path = project.put("run.sh", "echo\n")
    path.chmod(0o750)
    await project.call("read", path="run.sh")
    await project.call("write", path="run.sh", content="echo 2\n")
    assert stat.S_IMODE(path.stat().st_mode) == 0o750


async def test_a_failed_write_leaves_the_old_file_and_nothing_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path = tmp_path / "a.st"
    path.write_text("old")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(ToolFault, match=r"st/a\.st was not written, .*: the disk is full"):
        atomic.replace(path, b"new", "st/a.st")
    assert [p.name for p in tmp_path.iterdir()] == ["a.st"]
    assert path.read_text() == "old"


async def test_a_binary_file_is_not_overwritten(project: Project):
    project.put("a.bin", bytes(range(256)))
    await project.call("read", path="a.bin")
    assert (await project.call("write", path="a.bin", content="x")).status is Status.ERROR


@pytest.mark.parametrize("name", ["write", "edit"])
async def test_a_file_is_not_taken_for_a_folder(project: Project, name: str):
    project.put("sub/file.st", "A\n")
    rest = {"content": "x"} if name == "write" else {"old": "A", "new": "B"}
    outcome = await project.call(name, path="sub/file.st/x/y", **rest)
    assert outcome.status is Status.ERROR
    assert "sub/file.st/x/y cannot be made: sub/file.st is a file, not a folder." in outcome.text


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (errno.EACCES, "may not be written by this user"),
        (errno.EROFS, "read-only"),
        (errno.ENOSPC, "the disk is full"),
        (errno.ENOTDIR, "is a file, not a folder"),
        (errno.EIO, os.strerror(errno.EIO)),
    ],
)
async def test_why_a_write_failed_is_told_apart_and_the_path_is_whole(
    project: Project, monkeypatch: pytest.MonkeyPatch, number: int, said: str
):
    def refuse(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("os.fsync", refuse)
    outcome = await project.call("write", path="sub/new.st", content="x")
    assert outcome.status is Status.ERROR
    assert outcome.text.startswith("sub/new.st was not written")
    assert said in outcome.text
    assert "another program" not in outcome.text


@pytest.mark.parametrize(
    "path",
    [
        "AGENTS.md",
        "sub/agents.md",
        ".oasis/notes.txt",
        ".OASIS/skills/x/SKILL.md",
        "skills/x/SKILL.md",
        "skills/x/more.md",
        "other/skill.md",
    ],
)
@pytest.mark.parametrize("name", ["write", "edit"])
async def test_instructions_for_later_sessions_need_a_rule_that_names_them(project: Project, name: str, path: str):
    if name == "edit":
        project.put(path, "A\n")
    preview = await project.preview(
        name, path=path, **({"content": "x"} if name == "write" else {"old": "A", "new": "B"})
    )
    assert preview.title == f"{'Create' if name == 'write' else 'Edit'} {path}: instructions for later sessions"
    assert preview.guards
    assert preview.subject == path


async def test_other_files_need_no_rule_of_their_own(project: Project):
    for path in ("a.st", "docs/agents.md.txt", "src/skills/x.st", "oasis/x"):
        assert not (await project.preview("write", path=path, content="x")).guards


@pytest.mark.skipif(os.name == "nt", reason="links need rights on Windows")
async def test_what_agents_md_links_to_is_instructions_too(project: Project):
    project.put("notes.md", "A\n")
    (project.root / "AGENTS.md").symlink_to("notes.md")
    assert (await project.preview("edit", path="notes.md", old="A", new="B")).guards


async def test_a_file_that_became_shorter_is_said_to_have_had_more_lines(project: Project):
    await project.call("write", path="a.st", content="A\nB\nC\n")
    assert (await project.call("write", path="a.st", content="A\n")).text.endswith("2 bytes; it had 3 lines]")
