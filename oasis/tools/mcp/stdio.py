"""The connection to a server that is started as a child process: one JSON-RPC message a line.

The SDK's own stdio client keeps a line of any length in memory and prints the child's errors to the terminal; this
one bounds both. Shutdown is the protocol's: standard input closed, then SIGTERM, then the whole process group
killed (https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#shutdown).
"""

import asyncio
import contextlib
import shutil
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator
from typing import cast

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client.stdio import get_default_environment
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

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
    child = await asyncio.create_subprocess_exec(
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
    said: deque[bytes] = deque(maxlen=2)
    with into, incoming, outgoing, outof:
        async with anyio.create_task_group() as group:
            group.start_soon(_receive, child, into, allowance, why, said)
            group.start_soon(_send, cast(asyncio.StreamWriter, child.stdin), outof)
            group.start_soon(_listen, cast(asyncio.StreamReader, child.stderr), into, allowance, why, said)
            try:
                yield incoming, outgoing
            finally:
                with anyio.CancelScope(shield=True):
                    await _stop(child)
                group.cancel_scope.cancel()


async def _receive(
    child: asyncio.subprocess.Process,
    into: MemoryObjectSendStream[SessionMessage | Exception],
    allowance: Allowance,
    why: list[str],
    said: deque[bytes],
) -> None:
    """Pass on what is a message; what is none (a banner, a print) is left out. Ends with the child's output."""
    output = cast(asyncio.StreamReader, child.stdout)
    with into:
        try:
            async for line in _lines(output, allowance):
                with contextlib.suppress(ValueError):
                    message = jsonrpc_message_adapter.validate_json(line.decode("utf-8", "replace"), by_name=False)
                    await into.send(SessionMessage(message))
        except Flooded as flood:
            why.append(str(flood))
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            pass
        else:
            why.append(await _end(child, said))
    while await output.read(_BLOCK_BYTES):
        pass  # thrown away, so that a child that is still writing can come to its end


async def _lines(output: asyncio.StreamReader, allowance: Allowance) -> AsyncIterator[bytes]:
    """Lines without their ends. Raises Flooded for one that has no end, and for too many bytes."""
    parts: list[bytes] = []
    size = 0
    while block := await output.read(_BLOCK_BYTES):
        allowance.take_bytes(len(block))
        *ended, rest = block.split(b"\n")
        for line in ended:
            yield b"".join((*parts, line))
            parts, size = [], 0
        parts.append(rest)
        size += len(rest)
        if size > MAX_MESSAGE_BYTES:
            raise Flooded(f"it sent a message of more than {MAX_MESSAGE_BYTES >> 20} MiB")


async def _end(child: asyncio.subprocess.Process, said: deque[bytes]) -> str:
    """How the child ended, in words, with the last line it wrote to standard error."""
    await _is_gone(child)
    lines = b"".join(said).decode("utf-8", "replace").strip().splitlines()
    last = f"; its last words: {lines[-1]}" if lines else ""
    ended = "it closed its output" if child.returncode is None else f"it ended with exit code {child.returncode}"
    return f"{ended}{last}"


async def _send(into: asyncio.StreamWriter, outof: MemoryObjectReceiveStream[SessionMessage]) -> None:
    with outof, contextlib.suppress(OSError, anyio.ClosedResourceError):
        async for item in outof:
            into.write(item.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")
            await into.drain()


async def _listen(
    errors: asyncio.StreamReader,
    into: MemoryObjectSendStream[SessionMessage | Exception],
    allowance: Allowance,
    why: list[str],
    said: deque[bytes],
) -> None:
    """Keep the last of what the child writes to standard error; too much of it ends the connection."""
    try:
        while block := await errors.read(_BLOCK_BYTES):
            said.append(block[-2_000:])
            allowance.take_bytes(len(block))
    except Flooded as flood:
        why.append(str(flood))
        into.close()
    while await errors.read(_BLOCK_BYTES):
        pass


async def _stop(child: asyncio.subprocess.Process) -> None:
    """The child and what it started are gone after this, within about twice GRACE_S."""
    with contextlib.suppress(OSError):
        cast(asyncio.StreamWriter, child.stdin).close()
    if not await _is_gone(child):
        with contextlib.suppress(ProcessLookupError):
            child.terminate()
        await _is_gone(child)
    process.end_group(child.pid)
    await _is_gone(child)
    # A process that left the group may hold the pipes: asyncio then never closes its transport, and warns.
    child._transport.close()  # pyright: ignore


async def _is_gone(child: asyncio.subprocess.Process) -> bool:
    """Wait up to GRACE_S. `child.wait()` also waits for the pipes, which another process may hold."""
    with anyio.move_on_after(GRACE_S):
        while child.returncode is None:  # noqa: ASYNC110
            await anyio.sleep(_POLL_S)
    return child.returncode is not None
