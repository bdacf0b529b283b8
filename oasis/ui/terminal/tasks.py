"""What runs beside the input. A fault in it is told; one that nobody foresaw ends the session."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from oasis.errors import OasisError


class Tasks:
    """The work that goes on. `say` prints a line, `end` ends the session with an exit code."""

    def __init__(self, say: Callable[[str], None], end: Callable[[int], None]) -> None:
        self.fault: BaseException | None = None
        self._say, self._end = say, end
        self._running: set[asyncio.Task[None]] = set()

    def keep(self, work: Coroutine[Any, Any, None]) -> None:
        """Run something beside the input."""
        task = asyncio.ensure_future(work)
        self._running.add(task)
        task.add_done_callback(self._done)

    def end_with(self, fault: BaseException) -> None:
        """The session ends for this fault."""
        self.fault = self.fault or fault
        self._end(1)

    def unforeseen(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """What the loop found nobody to hear."""
        fault = context.get("exception")
        if isinstance(fault, BaseException):
            self.end_with(fault)

    def cancel(self) -> None:
        """Stop all of it; its faults count no more."""
        for task in self._running:
            task.remove_done_callback(self._done)
            task.cancel()

    async def ended(self) -> None:
        """Wait for what was cancelled."""
        await asyncio.gather(*self._running, return_exceptions=True)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        fault = None if task.cancelled() else task.exception()
        if isinstance(fault, OasisError):
            self._say(str(fault))
        elif fault is not None:
            self.end_with(fault)
