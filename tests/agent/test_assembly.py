"""A session put together: what it is told of the project, and of what changes in it."""

from datetime import datetime
from pathlib import Path

import pytest

from oasis.agent.assembly import agent, create_session, first_items, toolbox
from oasis.agent.gate import nobody_to_ask
from oasis.agent.notices import agents_files
from oasis.agent.permissions import Permissions
from oasis.core.items import Notice, User
from oasis.models.scripted import ScriptedModel, call, reply

NOW = datetime(2025, 3, 4, 5, 6, 7).astimezone()


def notices(session) -> list[str]:
    return [item.text for item in session.transcript.items if isinstance(item, Notice)]


async def test_a_file_that_changes_after_it_was_read_is_told_once_at_the_tail(tmp_path: Path):
    file = tmp_path / "a.st"
    file.write_text("A := 1;\n")

    def edits(request: object):
        file.write_text("A := 22;\n")
        return reply("", call("search", "c2", pattern="B"))

    script = [
        reply("", call("read", "c1", path="a.st")),
        edits,
        reply("", call("search", "c3", pattern="C")),
        reply("ok"),
    ]
    model = ScriptedModel(script)
    box = toolbox(tmp_path)
    with create_session(tmp_path, box, model, NOW) as session:
        loop = agent(model, session, box, lambda event: None, nobody_to_ask(()))
        finished = await loop.turn([*first_items(tmp_path, box, NOW), User("go")])
        told = notices(session)[1:]
    assert finished.reason == "done"
    assert told == ["Changed on disk since you last saw it: a.st. Read again before you rely on it."]


async def test_what_the_model_writes_itself_is_no_news(tmp_path: Path):
    script = [
        reply("", call("write", "c1", path="a.st", content="A := 1;\n")),
        reply("", call("read", "c2", path="a.st")),
        reply("ok"),
    ]
    model = ScriptedModel(script)
    box = toolbox(tmp_path)
    with create_session(tmp_path, box, model, NOW) as session:
        loop = agent(
            model, session, box, lambda event: None, nobody_to_ask(()), permissions=Permissions(allow=["write"])
        )
        await loop.turn([User("go")])
        assert notices(session) == []
    assert (tmp_path / "a.st").read_text() == "A := 1;\n"


def test_agents_md_is_told_and_a_link_out_of_the_repository_is_not(tmp_path: Path):
    project = tmp_path / "repository" / "line3"
    project.mkdir(parents=True)
    (tmp_path / "repository" / ".git").mkdir()
    (tmp_path / "repository" / "AGENTS.md").write_text("Outer rule.")
    (tmp_path / "secret").write_text("root:x:0")
    (project / "AGENTS.md").symlink_to(tmp_path / "secret")
    text = first_items(project, toolbox(project), NOW)[0].text
    assert "Outer rule." in text
    assert "root:x:0" not in text


def agents_md(folder: Path, text: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "AGENTS.md").write_text(text)


def test_agents_md_is_read_up_to_the_home_outside_a_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    home = tmp_path / "home"
    monkeypatch.setattr(Path, "home", lambda: home)
    for folder in (tmp_path, home, home / "plants", home / "plants" / "line3"):
        agents_md(folder, folder.name)
    files = agents_files(home / "plants" / "line3")
    assert [file.read_text() for file in files] == ["home", "plants", "line3"]


def test_agents_md_above_a_repository_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    for folder in (tmp_path, tmp_path / "repository", tmp_path / "repository" / "line3"):
        agents_md(folder, folder.name)
    (tmp_path / "repository" / ".git").mkdir()
    files = agents_files(tmp_path / "repository" / "line3")
    assert [file.read_text() for file in files] == ["repository", "line3"]


def test_outside_home_and_repository_only_the_projects_own_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "home")
    for folder in (tmp_path / "shared", tmp_path / "shared" / "line3"):
        agents_md(folder, folder.name)
    assert [file.read_text() for file in agents_files(tmp_path / "shared" / "line3")] == ["line3"]
