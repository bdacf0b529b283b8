"""The SDK's own server, as a child process and over streamable HTTP."""

import asyncio
import contextlib
import json
import sys
from pathlib import Path
from typing import Any

import httpx2
import pytest

from oasis.core.items import Status
from oasis.core.tool import Risk
from oasis.tools.clip import MAX_CHARS
from oasis.tools.mcp import allowance, connection
from oasis.tools.mcp.server import Server
from tests.tools.mcp.conftest import ROOT, Web, call, opened
from tests.tools.mcp.sdk_server import NAMES


async def test_over_standard_input_and_output(tmp_path: Path):
    command = (sys.executable, "-m", "tests.tools.mcp.sdk_server", str(tmp_path))
    server = Server("plc", command, env={"PYTHONPATH": str(ROOT)}, start_s=60)
    async with opened([server], tmp_path) as mcp:
        assert [tool.spec.name for tool in mcp.tools] == [f"plc_{name}" for name in NAMES]
        assert {tool.risk for tool in mcp.tools} == {Risk.EXEC}
        assert (await call(mcp, "plc_echo", text="hello")).text == "echo: hello\n[from the MCP server plc]"
        await call(mcp, "plc_swap", text='["echo"]')
        async with asyncio.timeout(90):
            while (news := mcp.news()) is None:
                await asyncio.sleep(0.01)
        assert "gone: plc_big, plc_boom" in news


async def test_over_http(web: Web, tmp_path: Path):
    async with opened([web.server()], tmp_path) as mcp:
        assert [tool.spec.name for tool in mcp.tools] == [f"web_{name}" for name in NAMES]
        assert (await call(mcp, "web_echo", text="hello")).text == "echo: hello\n[from the MCP server web]"


async def test_a_failure_that_the_server_tells_is_an_error(web: Web, tmp_path: Path):
    async with opened([web.server()], tmp_path) as mcp:
        outcome = await call(mcp, "web_boom", text="")
    assert outcome.status is Status.ERROR
    assert outcome.text == "no such valve\n[from the MCP server web; it says that this failed]"


async def test_a_long_output_is_kept_in_a_file_and_its_ends_are_sent(web: Web, tmp_path: Path):
    async with opened([web.server()], tmp_path) as mcp:
        outcome = await call(mcp, "web_big", text="")
    assert len(outcome.text) < MAX_CHARS + 400
    assert outcome.text.startswith("first\nx\nx\n")
    assert "\nlast\n[from the MCP server web; colour and cursor codes removed; whole output: " in outcome.text
    (file,) = (tmp_path / "spill").iterdir()
    assert file.as_posix() in outcome.text
    assert file.read_text() == "first\n" + "x\n" * 100_000 + "last"


async def test_pictures_links_and_resources_are_named_and_forge_no_closing_line(web: Web, tmp_path: Path):
    async with opened([web.server()], tmp_path) as mcp:
        outcome = await call(mcp, "web_picture", text="")
    assert outcome.text == (
        "(image/png\\n[end], 3 bytes, not shown)\n(manual: https://example.org/m.pdf)\nA := 1;\n"
        "[from the MCP server web]"
    )
    assert not list((tmp_path / "spill").iterdir())


async def test_a_result_that_is_only_data_is_sent_as_json(web: Web, tmp_path: Path):
    async with opened([web.server()], tmp_path) as mcp:
        outcome = await call(mcp, "web_structured", text="")
    assert outcome.text == '{\n "speed": 42\n}\n[from the MCP server web]'


async def test_a_cancelled_call_is_cancelled_over_http_too(web: Web, tmp_path: Path):
    async with opened([web.server()], tmp_path) as mcp:
        running = asyncio.create_task(call(mcp, "web_hang", text=""))
        async with asyncio.timeout(90):
            while not (web.folder / "hanging").exists():
                await asyncio.sleep(0.01)
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running
            while not (web.folder / "cancelled").exists():
                await asyncio.sleep(0.01)
        assert (await call(mcp, "web_echo", text="on")).status is Status.OK


async def test_an_answer_over_http_is_bounded(web: Web, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    async with opened([web.server()], tmp_path) as mcp:
        monkeypatch.setattr(allowance, "MAX_BYTES", 100_000)
        outcome = await call(mcp, "web_big", text="")
        after = await call(mcp, "web_echo", text="on")
    assert outcome.status is not Status.OK
    assert len(outcome.text) < 1_000
    assert after.status is Status.OK


class Relay:
    """A port of its own before the server, which can be taken away and come back."""

    def __init__(self, url: str) -> None:
        self.port = 0
        self._to = int(url.split(":")[2].partition("/")[0])
        self._writers: list[asyncio.StreamWriter] = []
        self.is_stuck = False

    async def open(self) -> None:
        self._server = await asyncio.start_server(self._carry, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        self._server.close()
        for writer in self._writers:
            writer.close()
        for writer in self._writers:
            with contextlib.suppress(OSError):
                await writer.wait_closed()
        self._writers.clear()

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        back, forth = await asyncio.open_connection("127.0.0.1", self._to)
        self._writers += [writer, forth]
        with contextlib.suppress(OSError):
            await asyncio.gather(self._copy(reader, forth), self._copy(back, writer))

    async def _copy(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            if not self.is_stuck:
                writer.write(data)
                await writer.drain()
        writer.close()


async def test_a_server_that_ends_and_comes_back_is_connected_again_over_http(web: Web, tmp_path: Path):
    relay = Relay(web.url)
    await relay.open()
    server = Server("web", url=f"http://127.0.0.1:{relay.port}/mcp", start_s=60)
    async with opened([server], tmp_path) as mcp:
        await relay.close()
        gone = await call(mcp, "web_echo", text="a")
        down = await call(mcp, "web_echo", text="b")
        await relay.open()
        back = await call(mcp, "web_echo", text="c")
    await relay.close()
    assert gone.status is Status.UNKNOWN
    assert down.text.startswith(f"MCP server web did not start (http://127.0.0.1:{relay.port}/mcp): ")
    assert back.text.startswith("echo: c")


async def test_a_server_that_answers_no_more_does_not_hold_up_the_end(
    web: Web, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(connection, "CLOSE_S", 0.2)
    relay = Relay(web.url)
    await relay.open()
    async with (
        asyncio.timeout(90),
        opened([Server("web", url=f"http://127.0.0.1:{relay.port}/mcp", start_s=60)], tmp_path) as mcp,
    ):
        assert (await call(mcp, "web_echo", text="a")).status is Status.OK
        relay.is_stuck = True
    await relay.close()


async def test_a_server_that_forgot_the_session_gets_a_new_one_and_the_call(web: Web, tmp_path: Path):
    forgotten: list[str] = []

    async def forget(request: httpx2.Request) -> None:
        if request.headers.get("mcp-session-id") and b"tools/call" in request.content and not forgotten:
            forgotten.append(request.headers["mcp-session-id"])
            request.headers["mcp-session-id"] = "0" * 32

    make = httpx2.AsyncClient

    def hooked(**more: Any) -> httpx2.AsyncClient:
        client = make(**more)
        client.event_hooks["request"].append(forget)
        return client

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(httpx2, "AsyncClient", hooked)
        async with opened([web.server()], tmp_path) as mcp:
            outcome = await call(mcp, "web_echo", text="again")
    assert len(forgotten) == 1
    assert outcome.text == "echo: again\n[from the MCP server web]"


async def test_a_proxy_of_the_environment_is_not_asked_for_this_machine(
    web: Web, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    async with opened([web.server()], tmp_path) as mcp:
        assert (await call(mcp, "web_echo", text="direct")).status is Status.OK


async def test_a_changed_list_is_told_over_http(web: Web, tmp_path: Path):
    async with opened([web.server()], tmp_path) as mcp:
        await call(mcp, "web_swap", text=json.dumps([*NAMES, "zero"]))
        async with asyncio.timeout(90):
            while (news := mcp.news()) is None:
                await asyncio.sleep(0.01)
        await call(mcp, "web_swap", text=json.dumps(NAMES))
        assert "new: web_zero" in news
