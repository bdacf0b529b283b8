"""Servers that start, that do not, and lists that change."""

import asyncio
import sys
from pathlib import Path

from oasis.core.items import Status
from oasis.tools.mcp.server import Server
from oasis.tools.mcp.servers import connected
from oasis.tools.mcp.toolset import Standing
from tests.tools.mcp.conftest import Raw, call, make_raw, opened


async def test_without_servers_nothing_is_imported(tmp_path: Path):
    code = (
        "import asyncio, sys\nfrom pathlib import Path\nfrom oasis.tools.mcp.servers import connected\n"
        "async def main():\n"
        "    async with connected((), Path('.')) as mcp:\n"
        "        print(mcp.tools, mcp.said, mcp.news(), 'mcp' in sys.modules)\n"
        "asyncio.run(main())"
    )
    child = await asyncio.create_subprocess_exec(sys.executable, "-c", code, stdout=asyncio.subprocess.PIPE)
    assert (await child.communicate())[0].decode().strip() == "() [] None False"


async def test_tools_are_sorted_by_server_then_tool(tmp_path: Path):
    one, two = make_raw(tmp_path, "zeta"), make_raw(tmp_path, "alpha")
    one.lists("b", "a")
    two.lists("d", "c")
    async with opened([one.server(), two.server()], tmp_path) as mcp:
        assert [tool.spec.name for tool in mcp.tools] == ["alpha_c", "alpha_d", "zeta_a", "zeta_b"]
        assert mcp.said == []


async def test_servers_that_are_down_are_named_and_left_out(raw: Raw, tmp_path: Path):
    missing, gone = Server("missing", ("/no/such/program",)), make_raw(tmp_path, "gone")
    web = Server("web", url="http://127.0.0.1:9/mcp?key=secret")
    async with opened([web, raw.server(), missing, gone.server("exit")], tmp_path) as mcp:
        assert [tool.spec.name for tool in mcp.tools] == ["plc_echo"]
        said = mcp.said
    assert said == [
        f"MCP server gone did not start ({sys.executable}): it ended with exit code 1; its last words: "
        "no licence found. It is left out of this session.",
        "MCP server missing did not start (/no/such/program): there is no such program. "
        "It is left out of this session.",
        "MCP server web did not start (http://127.0.0.1:9/mcp): All connection attempts failed. "
        "It is left out of this session.",
    ]


async def test_a_server_that_knows_of_no_tools_has_none(raw: Raw, tmp_path: Path):
    async with opened([raw.server("bare")], tmp_path) as mcp:
        assert (mcp.tools, mcp.said) == ((), [])


async def test_a_server_that_hangs_or_floods_at_its_start_is_left_out_and_ended(raw: Raw, tmp_path: Path):
    slow, loud = make_raw(tmp_path, "slow"), make_raw(tmp_path, "loud")
    async with opened([slow.server("hang", start_s=0.2), loud.server("endless"), raw.server()], tmp_path) as mcp:
        assert [tool.spec.name for tool in mcp.tools] == ["plc_echo"]
        said, standing = mcp.said, {one.name: one.fault for one in mcp.standing()}
    assert standing["slow"] == "it did not start within 0.2 s"
    assert [line.partition(" (")[0] for line in said] == [
        "MCP server loud did not start",
        "MCP server slow did not start within 0.2 s",
    ]
    assert "it sent a message of more than 16 MiB" in said[0]
    assert not slow.is_running()
    assert not loud.is_running()


async def test_a_start_that_is_interrupted_leaves_no_server(raw: Raw, tmp_path: Path):
    async def enter() -> None:
        async with opened([raw.server("hang", start_s=60)], tmp_path):
            pass

    entering = asyncio.create_task(enter())
    await raw.until("starts")
    entering.cancel()
    await asyncio.wait([entering])
    assert entering.cancelled()
    assert not raw.is_running()


async def test_two_servers_with_one_beginning_are_not_both_taken(tmp_path: Path):
    one, two = make_raw(tmp_path, "my-plc"), make_raw(tmp_path, "my_plc")
    async with connected([two.server(), one.server()], tmp_path) as mcp:
        assert [tool.spec.name for tool in mcp.tools] == ["myplc_echo"]
        assert mcp.said == [
            "MCP server my_plc was left out: its tools would have the names of those of my-plc. Rename one of the two."
        ]


async def test_a_changed_list_is_told_once_and_taken_up_at_the_next_epoch(raw: Raw, tmp_path: Path):
    raw.lists("swap", "old", "same")
    raw.lists(
        "swap", "new", {"name": "same", "description": "Is other.", "inputSchema": {"type": "object"}}, file="next.json"
    )
    async with opened([raw.server()], tmp_path) as mcp:
        before = mcp.tools
        assert mcp.news() is None
        await call(mcp, "plc_swap")
        await raw.until("listed", 2)
        async with asyncio.timeout(90):
            while (news := mcp.news()) is None:
                await asyncio.sleep(0.01)
        assert news == (
            "The MCP server plc changed its tools (new: plc_new; gone: plc_old; changed: plc_same). Yours stay as they "
            "are until the conversation is compacted or a new session begins; new ones cannot be called before, gone "
            "ones give an error."
        )
        assert mcp.news() is None
        assert mcp.tools is before
        assert [tool.spec.name for tool in mcp.take_up()] == ["plc_new", "plc_same", "plc_swap"]
        assert mcp.tools is not before
        assert mcp.news() is None


async def test_a_server_without_a_handshake_is_spoken_to_in_the_protocol_it_knows(raw: Raw, tmp_path: Path):
    raw.lists("swap", "echo")
    raw.lists("swap", file="next.json")
    async with opened([raw.server("modern")], tmp_path) as mcp:
        assert (await call(mcp, "plc_echo", text="new")).text == "echo: new\n[from the MCP server plc]"
        await raw.until("listening")
        await call(mcp, "plc_swap")
        async with asyncio.timeout(90):
            while (news := mcp.news()) is None:
                await asyncio.sleep(0.01)
    assert "gone: plc_echo" in news


async def test_how_each_server_does_can_be_asked(tmp_path: Path):
    up, dying, down = make_raw(tmp_path, "up"), make_raw(tmp_path, "dying"), Server("down", ("/no/such/program",))
    dying.lists("die")
    async with opened([up.server(), dying.server(), down], tmp_path) as mcp:
        await call(mcp, "dying_die")
        assert mcp.standing() == (
            Standing("down", "/no/such/program", False, (), "there is no such program"),
            Standing(
                "dying",
                sys.executable,
                False,
                ("dying_die",),
                "it ended with exit code 3; its last words: bearing overheated",
            ),
            Standing("up", sys.executable, True, ("up_echo",), ""),
        )


async def test_a_server_that_comes_back_with_another_list_is_told(raw: Raw, tmp_path: Path):
    raw.lists("die", "echo")
    async with opened([raw.server()], tmp_path) as mcp:
        await call(mcp, "plc_die")
        raw.lists("echo", "more")
        assert (await call(mcp, "plc_echo")).status is Status.OK
        assert "new: plc_more; gone: plc_die" in (mcp.news() or "")


async def test_a_resumed_session_keeps_its_specs_and_its_calls_go_to_the_server(raw: Raw, tmp_path: Path):
    raw.lists("echo")
    async with opened([raw.server()], tmp_path) as mcp:
        specs = [tool.spec for tool in mcp.tools]
    raw.lists({"name": "echo", "description": "Was changed.", "inputSchema": {"type": "object"}}, "more")
    async with opened([raw.server()], tmp_path) as mcp:
        kept = mcp.keep(specs, others=())
        assert [tool.spec for tool in kept] == specs
        assert mcp.tools == kept
        assert "(new: plc_more; changed: plc_echo)" in (mcp.news() or "")
        assert mcp.news() is None
        assert (await kept[0].run({"text": "again"})).text.startswith("echo: again")


async def test_a_resumed_session_keeps_the_specs_of_a_server_that_is_gone(raw: Raw, tmp_path: Path):
    other = make_raw(tmp_path, "other")
    async with opened([raw.server(), other.server()], tmp_path) as mcp:
        specs = [tool.spec for tool in mcp.tools]
    async with opened([raw.server("exit")], tmp_path) as mcp:
        assert mcp.tools == ()
        assert [tool.spec for tool in mcp.keep(specs, others=())] == specs
        assert mcp.news() == (
            "Not connected in this run: other_echo. A call to one of them gives an error.\n"
            "The MCP server plc does not run now. A call to one of its tools tries to start it."
        )
        assert mcp.news() is None
        gone, down = await call(mcp, "other_echo"), await call(mcp, "plc_echo")
    assert gone.text.startswith("other_echo is not there in this run: the MCP server or pack that it came from is not")
    assert down.text.startswith("MCP server plc did not start")
    assert (gone.status, down.status) == (Status.ERROR, Status.ERROR)


async def test_a_resumed_sessions_tool_that_is_gone_from_its_server_gives_an_error(raw: Raw, tmp_path: Path):
    async with opened([raw.server()], tmp_path) as mcp:
        specs = [tool.spec for tool in mcp.tools]
    raw.lists("more")
    async with opened([raw.server()], tmp_path) as mcp:
        mcp.keep(specs, others=())
        outcome = await call(mcp, "plc_echo")
    assert outcome.text == "The MCP server plc has no tool plc_echo any more.\n[error]"
    assert raw.lines("calls") == []


async def test_tools_of_others_are_not_kept_twice(raw: Raw, tmp_path: Path):
    async with opened([raw.server()], tmp_path) as mcp:
        assert mcp.keep([tool.spec for tool in mcp.tools], others={"plc_echo"}) == ()
