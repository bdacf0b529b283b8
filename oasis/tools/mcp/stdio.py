"""The connection to a server that is started as a child process: one JSON-RPC message a line.

The SDK's own stdio client keeps a line of any length in memory and prints the child's errors to the terminal; this
one bounds both. Shutdown is the protocol's: standard input closed, then SIGTERM, then the whole process group
killed (https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#shutdown).
"""

import asyncio
import contextlib
import json
import shutil
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator
from typing import cast

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client.stdio import get_default_environment
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from oasis.core.sound import sound
from oasis.tools import process
from oasis.tools.mcp.allowance import MAX_MESSAGE_BYTES, Allowance, Flooded
from oasis.tools.mcp.server import Server

GRACE_S = 1.0
_POLL_S = 0.02
_BLOCK_BYTES = 1 << 16
_UNSENT_MESSAGES = 256

Incoming = MemoryObjectReceiveStream[SessionMessage | Exception]
Outgoing = MemoryObjectSendStream[SessionMessage]


@contextlib.asynccontextmanager
async def stdio(
    server: Server, allowance: Allowance, why: list[str]
) -> AsyncGenerator[tuple[Incoming, Outgoing], None]:
    """Start `server` and carry its messages. Why the connection ended, where it did by itself, goes into `why`.

    Raises OSError where it cannot be started.
    """
    program = shutil.which(server.command[0]) or server.command[0]
    process_ = await asyncio.create_subprocess_exec(
        program,
        *server.command[1:],
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**get_default_environment(), **server.env},
        **process.OWN_GROUP,
    )
    into, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outgoing, outof = anyio.create_memory_object_stream[SessionMessage](_UNSENT_MESSAGES)
    child = _Child(process_, into, allowance, why)
    with into, incoming, outgoing, outof:
        async with anyio.create_task_group() as group:
            group.start_soon(child.receive)
            group.start_soon(child.send, outof)
            group.start_soon(child.listen)
            try:
                yield incoming, outgoing
            finally:
                with anyio.CancelScope(shield=True):
                    await child.stop()
                group.cancel_scope.cancel()


class _Child:
    """The process and its three pipes."""

    def __init__(
        self,
        process_: asyncio.subprocess.Process,
        into: MemoryObjectSendStream[SessionMessage | Exception],
        allowance: Allowance,
        why: list[str],
    ) -> None:
        self._process = process_
        self._input = cast(asyncio.StreamWriter, process_.stdin)
        self._output = cast(asyncio.StreamReader, process_.stdout)
        self._errors = cast(asyncio.StreamReader, process_.stderr)
        self._into = into
        self._allowance = allowance
        self._why = why
        self._said: deque[bytes] = deque(maxlen=2)
        self._has_said_all = anyio.Event()
        self._is_flooding = False

    async def receive(self) -> None:
        """Pass on what is a message; what is none (a banner, a print) is left out. Ends with the child's output."""
        with self._into:
            try:
                async for line in self._lines():
                    if message := _message(line.decode("utf-8", "replace")):
                        await self._into.send(message)
            except Flooded as flood:
                self._note(flood)
            except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                pass
            else:
                self._why.append(await self._end())
        await _drain(self._output)

    async def send(self, outof: MemoryObjectReceiveStream[SessionMessage]) -> None:
        """Write each message as a line."""
        with outof, contextlib.suppress(OSError, anyio.ClosedResourceError):
            async for item in outof:
                self._input.write(item.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")
                await self._input.drain()

    async def listen(self) -> None:
        """Keep the last of what the child writes to standard error; too much of it ends the connection."""
        try:
            while block := await self._errors.read(_BLOCK_BYTES):
                self._said.append(block[-2_000:])
                self._allowance.take_bytes(len(block))
        except Flooded as flood:
            self._note(flood)
            self._into.close()
        self._has_said_all.set()
        await _drain(self._errors)

    async def stop(self) -> None:
        """The child and what it started are gone after this, within about twice GRACE_S; at once after a flood."""
        try:
            await self._end_politely()
        finally:
            process.end_group(self._process.pid)
            try:
                await self._is_gone()
            finally:
                # A process that left the group may hold the pipes: asyncio then never closes its transport, and warns.
                self._process._transport.close()  # pyright: ignore

    async def _end_politely(self) -> None:
        with contextlib.suppress(OSError):
            self._input.close()
        if not self._is_flooding and not await self._is_gone():
            with contextlib.suppress(ProcessLookupError):
                self._process.terminate()
            await self._is_gone()

    def _note(self, flood: Flooded) -> None:
        self._why.append(str(flood))
        self._is_flooding = True

    async def _lines(self) -> AsyncIterator[bytes]:
        """Lines without their ends. Raises Flooded for one that has no end, and for too many bytes."""
        parts: list[bytes] = []
        size = 0
        while block := await self._output.read(_BLOCK_BYTES):
            self._allowance.take_bytes(len(block))
            *ended, rest = block.split(b"\n")
            for line in ended:
                yield b"".join((*parts, line))
                parts, size = [], 0
            parts.append(rest)
            size += len(rest)
            if size > MAX_MESSAGE_BYTES:
                raise Flooded(f"it sent a message of more than {MAX_MESSAGE_BYTES >> 20} MiB")

    async def _end(self) -> str:
        """How the child ended, in words, with the last line it wrote to standard error."""
        is_gone = await self._is_gone()
        with anyio.move_on_after(GRACE_S):
            await self._has_said_all.wait()
        lines = b"".join(self._said).decode("utf-8", "replace").strip().splitlines()
        last = f"; its last words: {lines[-1]}" if lines else ""
        return f"it ended with exit code {self._process.returncode}{last}" if is_gone else f"it closed its output{last}"

    async def _is_gone(self) -> bool:
        """Wait up to GRACE_S. `Process.wait` also waits for the pipes, which another process may hold."""
        with anyio.move_on_after(GRACE_S):
            while self._process.returncode is None:  # noqa: ASYNC110
                await anyio.sleep(_POLL_S)
        return self._process.returncode is not None


def _message(line: str) -> SessionMessage | None:
    """The message of a line; None for what is none. Halves of characters (`\\ud800`) are no JSON to the SDK: mended."""
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError:
        pass
    try:
        mended = sound(json.dumps(json.loads(line), ensure_ascii=False))
        return SessionMessage(jsonrpc_message_adapter.validate_json(mended, by_name=False))
    except (ValueError, RecursionError):
        return None


async def _drain(pipe: asyncio.StreamReader) -> None:
    """Throw away what still comes, so that a child that is writing can come to its end."""
    while await pipe.read(_BLOCK_BYTES):
        pass
