"""Connections of test servers, all closed before their event loop ends."""

import asyncio
from contextlib import suppress


async def closed(writer: asyncio.StreamWriter) -> None:
    """Close a connection and wait until it is."""
    writer.close()
    with suppress(OSError, asyncio.CancelledError):
        await writer.wait_closed()


async def ended(tasks: set[asyncio.Task[None]]) -> None:
    """Cancel what still answers, and wait until its connections are closed."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
