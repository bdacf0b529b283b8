"""`oasis` in a real pty, its screen read by pyte."""

import asyncio
import fcntl
import os
import pty
import re
import signal
import struct
import sys
import termios
from asyncio.subprocess import Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pyte

REPOSITORY = Path(__file__).parents[2]
LIMIT_S = 60
_SET = re.compile(rb"\x1b\[\?([0-9;]+)([hl])")
_DRAWN = b"\x1b[?25h"
"""What each drawing ends with: the cursor is shown."""
_VARIES = (
    (re.compile(r"\d{8}-\d{6}-[0-9a-f]{6}"), "SESSION"),
    (re.compile(r"127\.0\.0\.1:\d+"), "127.0.0.1:PORT"),
    (re.compile(r"\b[\d,.]+ (ms|s|min)\b"), "N s"),
    (re.compile(r"token   [0-9a-f]{8}"), "token   TOKEN"),
    (re.compile(r"\d{4}-\d\d-\d\d"), "DATE"),
    (re.compile(r"/\S*/project\b"), "PROJECT"),
)


def steady(text: str) -> str:
    """The text with what differs from run to run under one name: times, ports, ids, folders."""
    for pattern, name in _VARIES:
        text = pattern.sub(name, text)
    return text


def left_on(output: bytes) -> set[bytes]:
    """Terminal modes that are not as a terminal begins: pasting, mouse, alternate screen; no cursor, no wrapping."""
    modes: dict[bytes, bytes] = {}
    for names, value in _SET.findall(output):
        modes |= dict.fromkeys(names.split(b";"), value)
    return {name for name, value in modes.items() if value == (b"l" if name in (b"25", b"7") else b"h")}


class PtySession:
    """A child process on a pty of its own and the screen that it has drawn."""

    def __init__(self, columns: int, rows: int) -> None:
        self.screen = pyte.HistoryScreen(columns, rows, history=100_000, ratio=0.5)
        self.output = bytearray()
        self._stream = pyte.ByteStream(self.screen)
        self._master, self.slave = pty.openpty()
        self._came = asyncio.Event()
        self._set_size(columns, rows)
        self.modes_before = termios.tcgetattr(self.slave)
        self.process: Process

    async def start(self, folder: Path, *arguments: str, **environment: str) -> None:
        await self.start_program([sys.executable, "-m", "oasis.cli.main", *arguments], folder, **environment)

    async def start_program(self, command: list[str], folder: Path, **environment: str) -> None:
        inherited = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "TMUX")}
        given = {"PYTHONPATH": str(REPOSITORY), "TERM": "xterm-256color", "LANG": "C.UTF-8", **environment}
        self.process = await asyncio.create_subprocess_exec(
            *command,
            cwd=folder,
            env={**inherited, **given},
            stdin=self.slave,
            stdout=self.slave,
            stderr=self.slave,
            start_new_session=True,
        )
        asyncio.get_running_loop().add_reader(self._master, self._read)

    @property
    def shown(self) -> str:
        """What the screen shows now."""
        return "\n".join(line.rstrip() for line in self.screen.display).rstrip()

    @property
    def scrolled(self) -> list[str]:
        """The lines that have left the screen at its top."""
        rows = self.screen.history.top
        return ["".join(row[n].data for n in range(self.screen.columns)).rstrip() for row in rows]

    @property
    def text(self) -> str:
        """Everything from the first line on."""
        return "\n".join([*self.scrolled, self.shown])

    @property
    def end(self) -> str:
        """As many of the last lines as the screen has rows, however far a menu has made it scroll meanwhile."""
        return "\n".join(self.text.split("\n")[-self.screen.lines :])

    def send(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    async def until(self, *texts: str, gone: str = "") -> None:
        """Wait until all of these are to be seen, `gone` is not, and the screen is drawn to its end."""
        try:
            async with asyncio.timeout(LIMIT_S):
                while not self._shows(texts, gone):
                    self._came.clear()
                    waiting = asyncio.ensure_future(self._came.wait())
                    ended = asyncio.ensure_future(self.process.wait())
                    await asyncio.wait([waiting, ended], return_when=asyncio.FIRST_COMPLETED)
                    waiting.cancel()
                    if ended.done() and not all(text in self.text for text in texts):
                        raise AssertionError(f"ended with {self.process.returncode} before {texts!r}:\n{self.text}")
                    ended.cancel()
        except TimeoutError:
            raise AssertionError(f"never came: {texts!r} (or stayed: {gone!r}) in\n{self.text}") from None

    def _shows(self, texts: tuple[str, ...], gone: str) -> bool:
        is_whole = self.output.endswith(_DRAWN)
        return is_whole and all(text in self.text for text in texts) and not (gone and gone in self.shown)

    async def ended(self) -> int:
        try:
            async with asyncio.timeout(LIMIT_S):
                code = await self.process.wait()
        except TimeoutError:
            raise AssertionError(f"did not end:\n{self.text}") from None
        await asyncio.sleep(0)
        self._drain()
        return code

    def resize(self, columns: int, rows: int) -> None:
        """As a window that is made another size: the tty first, then the signal."""
        self._set_size(columns, rows)
        self.screen.resize(rows, columns)
        self.process.send_signal(signal.SIGWINCH)

    def hang_up(self) -> None:
        """The terminal is gone."""
        asyncio.get_running_loop().remove_reader(self._master)
        os.close(self._master)
        os.close(self.slave)
        self._master = self.slave = -1

    @property
    def is_sane(self) -> bool:
        """Is the tty as it was, the cursor seen, pasting, mouse and the alternate screen off?"""
        return termios.tcgetattr(self.slave) == self.modes_before and not left_on(bytes(self.output))

    async def close(self) -> None:
        if self.process.returncode is None:
            self.process.kill()
            await self.process.wait()
        if self._master >= 0:
            asyncio.get_running_loop().remove_reader(self._master)
            os.close(self._master)
            os.close(self.slave)

    def _set_size(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def _read(self) -> None:
        data = os.read(self._master, 65536)
        self.output += data
        self._stream.feed(data)
        self._came.set()

    def _drain(self) -> None:
        os.set_blocking(self._master, False)
        try:
            while True:
                self._read()
        except BlockingIOError:
            pass


@asynccontextmanager
async def terminal(
    folder: Path, *arguments: str, columns: int = 80, rows: int = 24, **environment: str
) -> AsyncIterator[PtySession]:
    """`oasis` with these arguments in a terminal of this size; killed where a test leaves it running."""
    session = PtySession(columns, rows)
    await session.start(folder, *arguments, **environment)
    try:
        yield session
    finally:
        await session.close()
