"""An interrupted process leaves no server, no warning, and does not hang."""

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest

from tests.tools.mcp.conftest import ROOT, Raw, call, opened

SCRIPT = """
import asyncio, sys
from pathlib import Path
from oasis.tools.mcp.server import Server
from oasis.tools.mcp.servers import connected

async def main():
    async with connected([Server("plc", tuple(sys.argv[2:]), start_s=60)], Path(sys.argv[1])) as mcp:
        running = [asyncio.create_task(tool.run({})) for tool in mcp.tools]
        await asyncio.gather(*running)

try:
    asyncio.run(main())
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.skipif(os.name == "nt", reason="an interrupt is sent as a POSIX signal")
async def test_a_process_that_is_interrupted_twice_leaves_no_server_and_no_warning(raw: Raw, tmp_path: Path):
    raw.lists("hang")
    command = [sys.executable, "-W", "always", "-c", SCRIPT, str(tmp_path), *raw.server("stubborn").command]
    child = await asyncio.create_subprocess_exec(
        *command, cwd=ROOT, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    await raw.until("hanging")
    child.send_signal(signal.SIGINT)
    await raw.until("asked")
    child.send_signal(signal.SIGINT)
    async with asyncio.timeout(90):
        said, errors = await child.communicate()
    assert (said.decode().strip(), errors.decode()) == ("interrupted", "")
    assert not raw.is_running()


async def test_a_task_that_is_cancelled_in_a_call_leaves_no_server(raw: Raw, tmp_path: Path):
    async def work() -> None:
        async with opened([raw.server()], tmp_path) as mcp:
            await call(mcp, "plc_hang")

    raw.lists("hang")
    working = asyncio.create_task(work())
    hanging = await raw.until("hanging")
    working.cancel()
    await asyncio.wait([working])
    assert working.cancelled()
    assert raw.lines("cancelled") == hanging
    assert not raw.is_running()
