"""Whatever ends a run in a terminal, the terminal is as it was."""

import asyncio
import os
import re
import signal
import sys
from pathlib import Path

import pytest

from tests.models.server import answer, delta, serving, sse, stream

if sys.platform == "win32":
    pytest.skip("a pty is POSIX's", allow_module_level=True)

import pty
import termios

SET = re.compile(rb"\x1b\[\?([0-9;]+)([hl])")


def left_on(output: bytes) -> set[bytes]:
    """Terminal modes that were changed and not put back: bracketed paste, mouse, alternate screen, hidden cursor."""
    modes: dict[bytes, bytes] = {}
    for names, value in SET.findall(output):
        modes |= dict.fromkeys(names.split(b";"), value)
    return {name for name, value in modes.items() if value == (b"l" if name == b"25" else b"h")}


async def run_in_terminal(folder: Path, url: str, end: signal.Signals | None) -> tuple[int, bytes, bool]:
    """(exit code, all that came, is the tty's setting what it was) of a run that gets `end` in mid-message."""
    master, slave = pty.openpty()
    before = termios.tcgetattr(slave)
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), "TERM": "xterm-256color"}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "oasis.cli.main", "run", "do it", "--server", url),
        cwd=folder,
        env=environment,
        stdin=slave,
        stdout=slave,
        stderr=slave,
    )
    output, loop, writing = bytearray(), asyncio.get_running_loop(), asyncio.Event()

    def read() -> None:
        output.extend(os.read(master, 65536))
        if b"writing" in output:
            writing.set()

    loop.add_reader(master, read)
    async with asyncio.timeout(100):
        if end is not None:
            await writing.wait()
            process.send_signal(end)
        code = await process.wait()
    await asyncio.sleep(0)
    loop.remove_reader(master)
    is_same = termios.tcgetattr(slave) == before
    os.close(master)
    os.close(slave)
    return code, bytes(output), is_same


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
async def test_a_signal_in_mid_message_leaves_the_terminal_sane(tmp_path: Path, end: signal.Signals):
    never = asyncio.Event()
    async with serving(stream(sse(delta(content="half")), never)) as server:
        code, output, is_same = await run_in_terminal(tmp_path, server.url, end)
        never.set()
    assert code == (-9 if end is signal.SIGKILL else 130)
    assert left_on(output) == set()
    assert is_same
    assert b"Traceback" not in output


async def test_a_run_that_fails_leaves_the_terminal_sane(tmp_path: Path):
    async with serving(*[answer("401 Unauthorized", {"error": {"message": "no key"}})]) as server:
        code, output, is_same = await run_in_terminal(tmp_path, server.url, None)
    assert code == 6
    assert left_on(output) == set()
    assert is_same
