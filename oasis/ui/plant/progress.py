"""How far a scan has come, on a terminal, while nothing else can be shown."""

import asyncio
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from oasis.plant.driver import Budget

_EVERY_S = 0.25


@asynccontextmanager
async def progress(budget: Budget) -> AsyncGenerator[None, None]:
    """A line on standard error that is gone afterwards; nothing where that is no terminal."""
    if not sys.stderr.isatty():
        yield
        return
    task = asyncio.create_task(_told(budget))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)


async def _told(budget: Budget) -> None:
    while True:
        await asyncio.sleep(_EVERY_S)
        line = f"{budget.spent} of {budget.requests} requests, {budget.elapsed_s:.0f} of {budget.seconds:g} s"
        print(f"\r\x1b[K{line}", end="", file=sys.stderr, flush=True)
