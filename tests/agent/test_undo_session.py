"""Undo in a whole session: what the model is told, and what it may do then."""

from datetime import datetime
from pathlib import Path

from oasis.agent.assembly import agent, create_session, toolbox
from oasis.agent.folders import undo_folder
from oasis.agent.gate import nobody_to_ask
from oasis.agent.permissions import Permissions
from oasis.agent.sessions import remove
from oasis.agent.undo import Undo
from oasis.core.items import Notice, Status, ToolOutput, User
from oasis.models.scripted import ScriptedModel, call, reply

NOW = datetime(2025, 3, 4, 5, 6, 7).astimezone()


async def test_after_an_undo_the_model_is_told_at_the_tail_and_has_to_read_again(tmp_path: Path):
    project = tmp_path / "plant"
    project.mkdir()
    (project / "a.st").write_text("A := 1;\n")
    model = ScriptedModel(
        [
            reply("", call("read", "c1", path="a.st")),
            reply("", call("edit", "c2", path="a.st", old="1", new="2")),
            reply("Changed."),
            reply("", call("write", "c3", path="a.st", content="A := 3;\n")),
            reply("I have to read it."),
        ]
    )
    box = toolbox(project)
    with create_session(project, box, model, NOW) as session:
        loop = agent(
            model, session, box, lambda _: None, nobody_to_ask(()), permissions=Permissions(allow=["edit", "write"])
        )
        await loop.turn([User("Set it to 2.")])
        before = model.requests[-1].wire
        assert (project / "a.st").read_text() == "A := 2;\n"
        undone = Undo(box.workspace, undo_folder() / session.id).undo()
        await loop.turn([undone.notice, User("Set it to 3.")])
        items = session.transcript.items
    assert (project / "a.st").read_text() == "A := 1;\n"
    assert model.requests[-1].wire.startswith(before)
    assert [item.text for item in items if isinstance(item, Notice)] == [
        "The engineer undid your last changes to files. As before: a.st. Read a file again before you rely on it."
    ]
    last = [item for item in items if isinstance(item, ToolOutput)][-1]
    assert last.status is Status.ERROR and "changed on disk since it was read" in last.text


async def test_a_session_that_is_removed_leaves_no_snapshots(tmp_path: Path):
    project = tmp_path / "plant"
    project.mkdir()
    model = ScriptedModel([reply("", call("write", "c1", path="a.st", content="secret")), reply("ok")])
    box = toolbox(project)
    with create_session(project, box, model, NOW) as session:
        loop = agent(model, session, box, lambda _: None, nobody_to_ask(()), permissions=Permissions(allow=["write"]))
        await loop.turn([User("go")])
        folder = undo_folder() / session.id
        assert folder.is_dir()
    remove(session.path)
    assert not folder.exists()
