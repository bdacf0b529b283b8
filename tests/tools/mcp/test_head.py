"""Whatever a server does, no byte before its tools moves, and a session goes on with the head it began with."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from oasis.agent.calls import CallRunner
from oasis.agent.gate import nobody_to_ask
from oasis.agent.loop import Agent
from oasis.agent.session import Session
from oasis.core.items import Notice, Status, ToolOutput, User
from oasis.core.prefix import Prefix
from oasis.core.tool import Tool
from oasis.models.scripted import ScriptedModel, reply
from oasis.models.scripted import call as written
from oasis.tools.mcp.toolset import Mcp
from oasis.tools.registry import Registry
from tests.agent.harness import NOW, allow_everything
from tests.tools.conftest import Project
from tests.tools.mcp.conftest import Raw, call, make_raw, opened


def head(project: Project, tools: Sequence[Tool]) -> bytes:
    return Prefix("System.", (*project.registry.specs, *(tool.spec for tool in tools))).wire


@pytest.mark.parametrize("start", ["", "exit", "hang", "endless"])
async def test_a_server_added_moves_no_byte_before_its_tools(project: Project, tmp_path: Path, start: str):
    one, two = make_raw(tmp_path, "alpha"), make_raw(tmp_path, "beta")
    async with opened([one.server()], tmp_path) as mcp:
        before = head(project, mcp.tools)
    async with opened([two.server(start, start_s=0.5 if start else 15), one.server()], tmp_path) as mcp:
        after = head(project, mcp.tools)
    assert before.startswith(head(project, ()))
    assert after.startswith(before)
    assert (after == before) is bool(start)


async def test_a_server_removed_moves_no_byte_before_its_tools(project: Project, tmp_path: Path):
    one, two = make_raw(tmp_path, "alpha"), make_raw(tmp_path, "beta")
    async with opened([one.server(), two.server()], tmp_path) as mcp:
        both = head(project, mcp.tools)
        alphas = head(project, mcp.tools[:1])
    async with opened([two.server()], tmp_path) as mcp:
        assert head(project, mcp.tools).startswith(head(project, ()))
        assert mcp.tools[0].spec.wire in both
    assert both.startswith(alphas)


@pytest.mark.parametrize("tool", ["die", "swap", "noise", "wrong"])
async def test_what_a_server_does_later_moves_no_byte(project: Project, raw: Raw, tmp_path: Path, tool: str):
    raw.lists(tool, "more")
    raw.lists("other", file="next.json")
    async with opened([raw.server()], tmp_path) as mcp:
        before = head(project, mcp.tools)
        await call(mcp, f"plc_{tool}")
        await call(mcp, "plc_more")
        mcp.news()
        assert head(project, mcp.tools) == before


async def test_the_order_in_which_a_server_lists_and_spells_moves_no_byte(project: Project, raw: Raw, tmp_path: Path):
    first = {"name": "a", "description": "A.", "inputSchema": {"type": "object", "properties": {"x": {}, "y": {}}}}
    turned = {"inputSchema": {"properties": {"y": {}, "x": {}}, "type": "object"}, "description": "A.", "name": "a"}
    raw.lists(first, "b")
    async with opened([raw.server()], tmp_path) as mcp:
        before = head(project, mcp.tools)
    raw.lists("b", turned)
    async with opened([raw.server()], tmp_path) as mcp:
        assert head(project, mcp.tools) == before


async def test_no_tool_of_a_server_has_the_name_of_another(project: Project, raw: Raw, tmp_path: Path):
    raw.lists("read", "bash", "_read")
    names = [tool.spec.name for tool in project.registry.tools]
    async with opened([raw.server()], tmp_path, taken=[*names, "plc_read"]) as mcp:
        made = [tool.spec.name for tool in mcp.tools]
    assert made[0].startswith("plc__read")
    assert made[1] == "plc_bash"
    assert made[2].startswith("plc_read_")
    assert len({*names, *made, "plc_read"}) == len(names) + 4


def agent(session: Session, model: ScriptedModel, registry: Registry, mcp: Mcp) -> Agent:
    def news() -> list[Notice]:
        said = mcp.news()
        return [Notice(said)] if said else []

    calls = CallRunner(registry, (allow_everything,), nobody_to_ask(()), lambda event: None)
    return Agent(model, session, calls, lambda event: None, news=news)


async def test_a_session_goes_on_over_a_death_a_changed_list_and_a_resume_without_the_server(
    project: Project, raw: Raw, tmp_path: Path
):
    others = [tool.spec.name for tool in project.registry.tools]
    raw.lists("die", "echo")
    async with opened([raw.server()], tmp_path, taken=others) as mcp:
        registry = Registry((*project.registry.tools, *mcp.tools))
        model = ScriptedModel([reply("", written("plc_die")), reply("", written("plc_echo", text="a")), reply("done")])
        with Session.create(tmp_path / "s", Prefix("System.", registry.specs), model, project.root, NOW) as session:
            first = agent(session, model, registry, mcp)
            raw.lists("die", "echo", "new")
            await first.turn([User("go")])
        outputs = [item for item in session.transcript.items if isinstance(item, ToolOutput)]
        notices = [item for item in session.transcript.items if isinstance(item, Notice)]
    assert [output.status for output in outputs] == [Status.UNKNOWN, Status.OK]
    assert [notice.text.partition(" (")[2][:13] for notice in notices] == ["new: plc_new)"]

    again = ScriptedModel([reply("", written("plc_echo", "c9", text="b")), reply("done")])
    async with opened([raw.server("exit")], tmp_path, taken=others) as mcp:
        session, _ = Session.resume(session.path, again)
        with session:
            specs = session.transcript.prefix.tools
            registry = Registry((*project.registry.tools, *mcp.keep(specs, others)))
            assert registry.specs == specs
            await agent(session, again, registry, mcp).turn([User("more")])
        last = [item for item in session.transcript.items if isinstance(item, ToolOutput)][-1]
    assert again.requests[0].wire.startswith(model.requests[-1].wire)
    assert last.text.startswith("MCP server plc did not start")
