"""Servers in child processes: one without the SDK for every fault, the SDK's own over stdio and over HTTP."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from oasis.core.items import Status
from oasis.core.tool import Outcome
from oasis.errors import ToolFault
from oasis.tools.mcp import stdio
from oasis.tools.mcp.server import Server
from oasis.tools.mcp.servers import connected
from oasis.tools.mcp.toolset import Mcp

ROOT = Path(__file__).parents[3]
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}}


def listed(*names: str, **more: Any) -> list[dict[str, Any]]:
    """Tools as a server lists them."""
    return [{"name": name, "description": f"Does {name}.", "inputSchema": TEXT, **more} for name in names]


@dataclass(frozen=True)
class Raw:
    """A server without the SDK, its folder, and what it left there."""

    folder: Path
    name: str

    def server(self, start: str = "", **more: Any) -> Server:
        command = (sys.executable, "-S", "-E", str(Path(__file__).parent / "raw_server.py"), str(self.folder), start)
        return Server(self.name, command, **{"timeout_s": 60, "start_s": 60, **more})

    def lists(self, *tools: str | dict[str, Any], file: str = "tools.json") -> None:
        full = [tool for one in tools for tool in (listed(one) if isinstance(one, str) else [one])]
        (self.folder / file).write_text(json.dumps(full))

    def lines(self, file: str) -> list[str]:
        path = self.folder / file
        return path.read_text().splitlines() if path.exists() else []

    async def until(self, file: str, count: int = 1) -> list[str]:
        """The lines of `file` once there are `count` of them."""
        async with asyncio.timeout(90):
            while len(self.lines(file)) < count:
                await asyncio.sleep(0.01)
        return self.lines(file)

    def is_running(self) -> bool:
        """Does any of its processes still run?"""
        numbers = [int(line) for line in self.lines("starts")]
        return any(psutil.pid_exists(n) and psutil.Process(n).status() != psutil.STATUS_ZOMBIE for n in numbers)


@pytest.fixture(autouse=True)
def servers_have_little_time_to_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stdio, "GRACE_S", 0.2)


@pytest.fixture
def raw(tmp_path: Path) -> Raw:
    return make_raw(tmp_path, "plc")


def make_raw(folder: Path, name: str) -> Raw:
    made = Raw(folder / name, name)
    made.folder.mkdir()
    made.lists("echo")
    return made


def opened(servers: Sequence[Server], tmp_path: Path, **more: Any) -> AbstractAsyncContextManager[Mcp]:
    return connected(servers, tmp_path / "spill", **more)


async def call(mcp: Mcp, name: str, /, **arguments: Any) -> Outcome:
    """Call a tool as the loop does: a fault is an output."""
    tool = next(tool for tool in mcp.tools if tool.spec.name == name)
    try:
        return await tool.run(arguments)
    except ToolFault as fault:
        return Outcome(str(fault), Status.ERROR)


@dataclass
class Web:
    """The SDK's server on loopback, and its folder."""

    folder: Path
    child: subprocess.Popen[str]
    url: str

    def server(self, **more: Any) -> Server:
        return Server("web", url=self.url, **{"timeout_s": 60, "start_s": 60, **more})

    def end(self) -> None:
        self.child.kill()
        self.child.wait()
        if self.child.stdout:
            self.child.stdout.close()


def serve(folder: Path, port: int = 0) -> Web:
    command = [sys.executable, "-m", "tests.tools.mcp.sdk_server", str(folder), "--http", str(port)]
    child = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert child.stdout
    return Web(folder, child, f"http://127.0.0.1:{int(child.stdout.readline())}/mcp")


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    made = serve(tmp_path_factory.mktemp("web"))
    yield made
    made.end()
