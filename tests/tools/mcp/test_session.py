"""A session with the servers of the user's settings: their tools last, what changes there taken up at a compaction."""

from pathlib import Path

from oasis.agent.assembly import agent, create_session, toolbox, with_servers
from oasis.agent.gate import nobody_to_ask
from oasis.agent.permissions import Permissions
from oasis.config import McpServer, Settings
from oasis.core.items import Notice, Status, ToolOutput, User
from oasis.models.scripted import ScriptedModel, call, reply
from tests.agent.harness import NOW
from tests.tools.mcp.conftest import Raw


def settings(raw: Raw) -> Settings:
    return Settings(mcp={raw.name: McpServer(command=list(raw.server().command))})


async def test_a_changed_list_is_told_at_the_tail_and_taken_up_at_the_compaction(raw: Raw, tmp_path: Path):
    project = tmp_path / "project"
    project.mkdir()
    said: list[str] = []
    raw.lists("swap", "echo")
    raw.lists("swap", "echo", "new", file="next.json")
    script = [
        reply("", call("plc_swap", "c0")),
        *(reply("", call("plc_echo", f"c{n}", text=f"{n}" * 400)) for n in range(4)),
        reply("done"),
        reply("A summary of what was done."),
        reply("", call("plc_new", "c9", text="b")),
        reply("done"),
    ]
    model = ScriptedModel(script)
    async with with_servers(toolbox(project), settings(raw), said.append) as box:
        bare = toolbox(project).prefix
        assert box.prefix.wire.startswith(bare.wire)
        with create_session(project, box, model, NOW) as session:
            permissions = Permissions(allow=["plc_echo", "plc_new", "plc_swap"])
            loop = agent(model, session, box, lambda event: None, nobody_to_ask(()), permissions=permissions)
            await loop.turn([User("go")])
            assert "new: plc_new" in "".join(i.text for i in session.transcript.items if isinstance(i, Notice))
            before = session.transcript.prefix
            assert "plc_new" not in [tool.name for tool in before.tools]
            assert await loop.compact()
            await loop.turn([User("more")])
            after = session.transcript
    assert after.prefix.wire.startswith(bare.wire)
    assert "plc_new" in [tool.name for tool in after.prefix.tools]
    last = [item for item in after.items if isinstance(item, ToolOutput)][-1]
    assert (last.name, last.status) == ("plc_new", Status.OK)
    assert model.is_played_out
    assert said == []


async def test_a_server_that_is_down_is_named_and_left_out(raw: Raw, tmp_path: Path):
    said: list[str] = []
    down = Settings(mcp={"plc": McpServer(command=["no-such-program-anywhere"])})
    async with with_servers(toolbox(tmp_path), down, said.append) as box:
        assert box.prefix.wire == toolbox(tmp_path).prefix.wire
        assert [item for item in box.news() if isinstance(item, Notice)] == []
    assert len(said) == 1
    assert "plc" in said[0]
