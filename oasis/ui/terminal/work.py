"""Work that the person can interrupt."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

Result = TypeVar("Result")


class Work:
    """One piece of work at a time."""

    def __init__(self) -> None:
        self._task: asyncio.Task[Any] | None = None

    @property
    def is_going_on(self) -> bool:
        return self._task is not None and not self._task.done()

    async def done(self, work: Coroutine[Any, Any, Result]) -> Result | None:
        """What came of it; None where the person interrupted it. Raises what the work raises."""
        self._task = task = asyncio.ensure_future(work)
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError:
            task.cancel()
            await asyncio.wait([task])
            raise
        return None if task.cancelled() else task.result()

    def interrupt(self) -> bool:
        """Stop what goes on; False where nothing does."""
        if self._task is None or self._task.done():
            return False
        self._task.cancel()
        return True

    async def end(self) -> None:
        """Stop what goes on, and wait until it has ended."""
        if self._task is not None and self.interrupt():
            await asyncio.wait([self._task])
