"""Calls to servers that work, and to servers that do not."""

import asyncio
import json
from pathlib import Path

import psutil
import pytest

from oasis.core.items import Status
from oasis.core.tool import Risk
from oasis.tools.mcp import allowance
from tests.tools.mcp.conftest import Raw, call, opened


async def test_a_call_gives_what_the_server_said_and_names_it(raw: Raw, tmp_path: Path):
    async with opened([raw.server()], tmp_path) as mcp:
        outcome = await call(mcp, "plc_echo", text="hello")
    assert (outcome.text, outcome.status) == ("echo: hello\n[from the MCP server plc]", Status.OK)


async def test_a_server_is_gone_after_the_block(raw: Raw, tmp_path: Path):
    async with opened([raw.server()], tmp_path):
        assert raw.is_running()
    assert not raw.is_running()


async def test_a_server_that_ignores_the_end_is_killed(raw: Raw, tmp_path: Path):
    async with opened([raw.server("stubborn")], tmp_path):
        pass
    assert not raw.is_running()


async def test_a_process_that_left_the_servers_group_holds_nobody_up(raw: Raw, tmp_path: Path):
    async with opened([raw.server("daemon")], tmp_path) as mcp:
        assert (await call(mcp, "plc_echo")).status is Status.OK
        daemon = psutil.Process(int(raw.lines("daemons")[0]))
    was_running = daemon.is_running()
    daemon.kill()
    assert was_running
    assert not raw.is_running()


async def test_a_server_that_dies_in_a_call_leaves_it_unknown(raw: Raw, tmp_path: Path):
    raw.lists("die")
    async with opened([raw.server()], tmp_path) as mcp:
        outcome = await call(mcp, "plc_die")
    assert outcome.status is Status.UNKNOWN
    assert outcome.text == (
        "The MCP server plc ended while this ran (it ended with exit code 3; its last words: bearing overheated). "
        "Whether it took effect is unknown: check before repeating it. The next call starts the server again.\n[unknown]"
    )
    assert raw.lines("calls") == ["die {}"]


async def test_the_next_call_starts_a_dead_server_again(raw: Raw, tmp_path: Path):
    raw.lists("die", "echo")
    async with opened([raw.server()], tmp_path) as mcp:
        await call(mcp, "plc_die")
        outcome = await call(mcp, "plc_echo", text="back")
    assert outcome.text.startswith("echo: back")
    assert len(raw.lines("starts")) == 2


async def test_two_calls_at_once_start_a_dead_server_once(raw: Raw, tmp_path: Path):
    raw.lists("die", "echo")
    async with opened([raw.server()], tmp_path) as mcp:
        await call(mcp, "plc_die")
        both = await asyncio.gather(call(mcp, "plc_echo", text="a"), call(mcp, "plc_echo", text="b"))
    assert [outcome.status for outcome in both] == [Status.OK, Status.OK]
    assert len(raw.lines("starts")) == 2


async def test_a_server_that_does_not_start_again_is_an_error_and_is_given_up_in_the_end(raw: Raw, tmp_path: Path):
    raw.lists("die")
    async with opened([raw.server("once")], tmp_path) as mcp:
        await call(mcp, "plc_die")
        outcomes = [await call(mcp, "plc_die") for _ in range(5)]
    assert outcomes[0].text.startswith("MCP server plc did not start")
    assert "only once" in outcomes[0].text
    assert "started 3 times in vain" in outcomes[4].text
    assert {outcome.status for outcome in outcomes} == {Status.ERROR}
    assert len(raw.lines("starts")) == 4


async def test_a_call_that_takes_too_long_is_cancelled_at_the_server(raw: Raw, tmp_path: Path):
    raw.lists("hang", "echo")
    async with opened([raw.server(timeout_s=0.2)], tmp_path) as mcp:
        outcome = await call(mcp, "plc_hang")
        hanging = await raw.until("hanging")
        assert await raw.until("cancelled") == hanging
        after = await call(mcp, "plc_echo", text="on")
    assert outcome.text.startswith("The MCP server plc did not answer within 0.2 s. The call was cancelled;")
    assert outcome.status is Status.ERROR
    assert after.status is Status.OK


async def test_a_cancelled_call_is_cancelled_at_the_server(raw: Raw, tmp_path: Path):
    raw.lists("hang", "echo")
    async with opened([raw.server()], tmp_path) as mcp:
        running = asyncio.create_task(call(mcp, "plc_hang"))
        hanging = await raw.until("hanging")
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert await raw.until("cancelled") == hanging
        assert (await call(mcp, "plc_echo", text="on")).status is Status.OK


@pytest.mark.parametrize(
    ("tool", "why"),
    [
        ("flood", "it sent more than 300 messages"),
        ("endless", "it sent a message of more than 16 MiB"),
        ("loud", "it sent more than 64 MiB"),
    ],
)
async def test_a_flooding_server_is_ended_and_its_tools_stay_as_they_are(
    raw: Raw, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tool: str, why: str
):
    monkeypatch.setattr(allowance, "MAX_MESSAGES", 300)
    raw.lists(tool, "echo")
    async with opened([raw.server()], tmp_path) as mcp:
        before = [tool.spec.wire for tool in mcp.tools]
        outcome = await call(mcp, f"plc_{tool}")
        after = await call(mcp, "plc_echo", text="on")
        assert [tool.spec.wire for tool in mcp.tools] == before
    assert why in outcome.text
    assert outcome.status is Status.UNKNOWN
    assert after.status is Status.OK


async def test_what_is_no_message_is_left_out(raw: Raw, tmp_path: Path):
    raw.lists("noise")
    async with opened([raw.server()], tmp_path) as mcp:
        assert (await call(mcp, "plc_noise")).text == "noise: done\n[from the MCP server plc]"


async def test_half_a_character_is_replaced_and_the_answer_arrives(raw: Raw, tmp_path: Path):
    raw.lists("half")
    async with opened([raw.server()], tmp_path) as mcp:
        assert (await call(mcp, "plc_half")).text == "half \ufffd, whole \U0001f600\n[from the MCP server plc]"


async def test_a_server_that_asks_for_the_model_or_the_person_is_refused(raw: Raw, tmp_path: Path):
    raw.lists("ask")
    async with opened([raw.server()], tmp_path) as mcp:
        await call(mcp, "plc_ask")
        answers = [json.loads(line) for line in await raw.until("answers", 3)]
    assert all("error" in answer for answer in answers)


async def test_a_refusal_is_told_on_one_line_without_controls(raw: Raw, tmp_path: Path):
    raw.lists("refuse")
    async with opened([raw.server()], tmp_path) as mcp:
        outcome = await call(mcp, "plc_refuse")
    assert outcome.text == "The MCP server plc refused: no such argument\n[error]"


async def test_an_answer_that_is_no_result_is_an_error(raw: Raw, tmp_path: Path):
    raw.lists("wrong")
    async with opened([raw.server()], tmp_path) as mcp:
        outcome = await call(mcp, "plc_wrong")
    assert outcome.text.startswith("The MCP server plc answered with no tool result")


async def test_a_server_sees_no_key_of_the_user_but_what_its_settings_give(
    raw: Raw, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("PLANT_API_KEY", "not for servers")
    raw.lists("env")
    async with opened([raw.server(env={"LINE": "7"})], tmp_path) as mcp:
        outcome = await call(mcp, "plc_env")
    assert "not for servers" not in outcome.text
    assert '"LINE": "7"' in outcome.text


async def test_a_call_waits_for_nobody_that_does_not_read(raw: Raw, tmp_path: Path):
    raw.lists("deaf")
    async with opened([raw.server(timeout_s=0.3)], tmp_path) as mcp:
        outcomes = await asyncio.gather(*(call(mcp, "plc_deaf", text="x" * 100_000) for _ in range(5)))
    assert {outcome.text.partition(" within")[0] for outcome in outcomes} == {"The MCP server plc did not answer"}
    assert not raw.is_running()


async def test_only_the_users_word_makes_a_tool_read(raw: Raw, tmp_path: Path):
    raw.lists(
        {"name": "look", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}},
        {"name": "hinted", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}},
    )
    async with opened([raw.server(read_only=("look",))], tmp_path) as mcp:
        assert {tool.spec.name: tool.risk for tool in mcp.tools} == {"plc_hinted": Risk.EXEC, "plc_look": Risk.READ}


async def test_a_preview_shows_the_server_the_tool_and_every_argument(raw: Raw, tmp_path: Path):
    async with opened([raw.server()], tmp_path) as mcp:
        preview = await mcp.tools[0].preview({"text": "a\x1b[31m\nb"})
    assert preview.title == r'MCP plc: echo {"text": "a\u001b[31m\nb"}'
    assert preview.subject == r'{"text": "a\u001b[31m\nb"}'
    assert preview.body == '{\n  "text": "a\\u001b[31m\\nb"\n}'
