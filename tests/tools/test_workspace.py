"""Where nothing may be written, and how paths are read."""

import os
from pathlib import Path

import pytest

from oasis.core.items import Status
from tests.tools.conftest import Project

symlinks = pytest.mark.skipif(os.name == "nt", reason="links need rights on Windows")


@pytest.mark.parametrize(
    "path",
    [".git/config", ".git/hooks/pre-commit", "sub/.git/config", ".GIT/config", "src/../.git/HEAD", ".git\\config"],
)
async def test_the_inside_of_git_is_never_written(project: Project, path: str):
    outcome = await project.call("write", path=path, content="x")
    assert outcome.status is Status.ERROR
    assert "Git's own files" in outcome.text
    assert not (project.root / ".git").exists()


@pytest.mark.parametrize("path", ["oasis.toml", "OASIS.TOML", "src/../oasis.toml"])
async def test_the_project_s_settings_are_never_written(project: Project, path: str):
    outcome = await project.call("write", path=path, content="x")
    assert "belong to the engineer" in outcome.text
    assert list(project.root.iterdir()) == []


@symlinks
async def test_a_link_into_the_user_s_settings_is_no_way_there(project: Project, tmp_path: Path):
    (tmp_path / "settings").mkdir()
    (project.root / "link").symlink_to(tmp_path / "settings")
    assert "outside the project" in (await project.call("write", path="link/oasis.toml", content="x")).text
    assert list((tmp_path / "settings").iterdir()) == []


@symlinks
async def test_a_link_out_of_the_project_is_not_read_or_written(project: Project, tmp_path: Path):
    (tmp_path / "secret").write_text("secret")
    (project.root / "link").symlink_to(tmp_path / "secret")
    for name, rest in (("read", {}), ("edit", {"old": "secret", "new": "x"}), ("write", {"content": "x"})):
        outcome = await project.call(name, path="link", **rest)
        assert outcome.status is Status.ERROR
        assert "outside the project" in outcome.text
    assert (tmp_path / "secret").read_text() == "secret"


@symlinks
async def test_a_link_inside_the_project_stays_a_link(project: Project):
    target = project.put("real.st", "A\n")
    (project.root / "link.st").symlink_to(target)
    await project.call("edit", path="link.st", old="A", new="B")
    assert (project.root / "link.st").is_symlink()
    assert target.read_text() == "B\n"


@symlinks
async def test_a_circle_of_links_is_an_error_in_words(project: Project):
    (project.root / "a").symlink_to(project.root / "b")
    (project.root / "b").symlink_to(project.root / "a")
    assert (await project.call("read", path="a")).status is Status.ERROR


@pytest.mark.parametrize("path", ["", "  ", "a\0b", "x" * 5000, "../" * 40 + "etc/passwd", "~/x"])
async def test_an_unusable_path_is_an_error_in_words(project: Project, path: str):
    outcome = await project.call("read", path=path)
    assert outcome.status is Status.ERROR
    assert len(outcome.text) < 6000


@pytest.mark.skipif(os.name == "nt", reason="is a real path there")
@pytest.mark.parametrize("arguments", ['{"path": "E:\\Plant\\a.st"}', '{"path": "E:\\\\Plant\\\\a.st"}'])
async def test_a_windows_path_is_named_as_one_of_another_machine(project: Project, arguments: str):
    from oasis.core.items import ToolCall

    outcome = await project.send(ToolCall("1", "read", arguments))
    assert outcome.text.startswith(r"E:\Plant\a.st is a path of another machine or drive")


async def test_backslashes_that_json_took_for_control_characters_are_repaired(project: Project):
    from oasis.core.items import ToolCall

    project.put("Plant/temp/new.st", "A\n")
    outcome = await project.send(ToolCall("1", "read", r'{"path": "Plant\temp\new.st"}'))
    assert outcome.text.startswith("[Plant/temp/new.st lines 1-1 of 1")


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="needs a user who may not do everything")
async def test_a_read_only_file_is_not_replaced(project: Project):
    path = project.put("a.st", "A\n")
    path.chmod(0o444)
    assert "read-only" in (await project.call("edit", path="a.st", old="A", new="B")).text


@pytest.mark.skipif(os.name == "nt", reason="Windows has no named pipes in a folder")
async def test_a_file_that_became_a_pipe_is_news_and_holds_nobody_up(project: Project):
    (project.root / "a.st").write_text("A")
    await project.call("read", path="a.st")
    (project.root / "a.st").unlink()
    os.mkfifo(project.root / "a.st")
    assert project.workspace.changed() == [project.root / "a.st"]


async def test_a_file_that_is_in_another_folder_is_named_there(project: Project):
    project.put("st/Line.st", "x\n")
    text = (await project.call("read", path="Line.st")).text
    assert text == "There is no Line.st. There is: st/Line.st.\n[error]"
