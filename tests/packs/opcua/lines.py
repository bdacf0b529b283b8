"""The packaging line in a thread of its own, so that tests with loops of their own share it; a relay before a server."""

import asyncio
import contextlib
import threading
from collections.abc import AsyncGenerator, Coroutine, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from oasis_opcua.driver import OpcUaDriver
from oasis_opcua.simulator.line import Faults, Line, running_line

from oasis.plant.values import Reading

INPUTS = Path(__file__).parents[4] / "shared" / "inputs" / "opcua"
LINE = "nsu=urn:oasis:packaging-line"
SPEED = f"{LINE};s=Line1.Conveyor.Speed"
SETPOINT = f"{LINE};s=Line1.Conveyor.SpeedSetpoint"
START_S = 90


@dataclass(frozen=True, slots=True)
class Shared:
    """A line that runs in another thread."""

    line: Line
    loop: asyncio.AbstractEventLoop

    @property
    def url(self) -> str:
        return self.line.url

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        """Do something on the server's side."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(START_S)


@contextmanager
def line_in_thread(faults: Faults | None = None, nodesets: Sequence[Path] = (), big: bool = False) -> Generator[Shared]:
    """Run a line until the context is left; what it raises is raised here."""
    running: list[Shared] = []
    failed: list[BaseException] = []
    is_up = threading.Event()
    over: list[asyncio.Event] = []

    async def serve() -> None:
        over.append(asyncio.Event())
        async with running_line(faults=faults or Faults(), nodesets=nodesets, big=big) as line:
            running.append(Shared(line, asyncio.get_running_loop()))
            is_up.set()
            await over[0].wait()

    def work() -> None:
        try:
            asyncio.run(serve())
        except BaseException as fault:
            failed.append(fault)
        finally:
            is_up.set()

    thread = threading.Thread(target=work, name="line")
    thread.start()
    is_up.wait()
    if not running:
        thread.join()
        raise failed[0]
    try:
        yield running[0]
    finally:
        running[0].loop.call_soon_threadsafe(over[0].set)
        thread.join()
    if failed:
        raise failed[0]


async def first_of(driver: OpcUaDriver, texts: Sequence[str]) -> list[Reading]:
    """The first reading of each item while they are watched."""
    readings: list[Reading] = []
    async with asyncio.timeout(START_S), contextlib.aclosing(watched(driver, texts)) as seen:
        async for reading in seen:
            readings.append(reading)
            if len(readings) == len(texts):
                break
    return readings


async def watched(driver: OpcUaDriver, texts: Sequence[str]) -> AsyncGenerator[Reading]:
    async for reading in driver.watch([driver.point(text) for text in texts], START_S, 0.1):
        yield reading


class Relay:
    """Forwards connections to `port`, as a forwarded port does; connections can be cut and sent elsewhere."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.here = 0
        self._writers: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    def cut(self) -> None:
        """Break every connection."""
        for writer in self._writers:
            writer.transport.abort()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection("127.0.0.1", self.port)
        self._writers |= {writer, back}
        task = asyncio.current_task()
        if task:
            self._tasks.add(task)
        try:
            await asyncio.gather(self._pump(reader, back), self._pump(there, writer))
        finally:
            for end in (writer, back):
                self._writers.discard(end)
                end.close()

    async def _pump(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await source.read(65_536):
                sink.write(data)
                await sink.drain()
        with contextlib.suppress(OSError):
            sink.close()


@asynccontextmanager
async def relay(port: int) -> AsyncGenerator[Relay]:
    made = Relay(port)
    server = await asyncio.start_server(made.serve, "127.0.0.1", 0)
    made.here = server.sockets[0].getsockname()[1]
    try:
        yield made
    finally:
        server.close()
        made.cut()
        await server.wait_closed()
        await asyncio.gather(*made._tasks, return_exceptions=True)
