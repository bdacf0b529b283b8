"""Sending an approved write once, so that its outcome is known or known to be unknown, whatever interrupts it."""

import asyncio
from collections.abc import Callable
from contextlib import suppress

from oasis.errors import OasisError
from oasis.plant.driver import Driver, Effect, Sent
from oasis.plant.plan import ApprovedWrite

GRACE_S = 2.0
"""How long an interrupted write may take to say how it ended before that is recorded as unknown."""


async def send_once(driver: Driver, approved: ApprovedWrite, record: Callable[[Sent], None]) -> Sent:
    """Send, and record the outcome, also when this is cancelled on the way."""
    task = asyncio.create_task(driver.write(approved))
    try:
        await asyncio.wait({task})
    except asyncio.CancelledError:
        await _settle(task)
        record(_result(task))
        raise
    sent = _result(task)
    record(sent)
    return sent


async def _settle(task: "asyncio.Task[Sent]") -> None:
    """Give an interrupted write a moment to say how it ended, then leave it."""
    with suppress(asyncio.CancelledError):
        await asyncio.wait({task}, timeout=GRACE_S)
    if not task.done():
        task.cancel()
        task.add_done_callback(lambda ended: ended.cancelled() or ended.exception())


def _result(task: "asyncio.Task[Sent]") -> Sent:
    """How the write ended. Whatever a driver did not say is unknown."""
    if not task.done() or task.cancelled():
        return Sent(Effect.UNKNOWN, "it was interrupted while it was on its way")
    fault = task.exception()
    if fault is None:
        return task.result()
    words = str(fault) if isinstance(fault, OasisError) else f"the driver failed ({type(fault).__name__})"
    return Sent(Effect.UNKNOWN, f"{words}; whether the device acted on it is not known")
