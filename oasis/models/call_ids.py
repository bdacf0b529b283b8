"""Ids for calls that came without one."""

from collections.abc import Callable

from oasis.core.transcript import Request


def call_ids(request: Request) -> Callable[[], str]:
    """Ids for the calls of the message that answers `request`: nine letters and digits, unique within an epoch."""
    count = 0

    def next_id() -> str:
        nonlocal count
        count += 1
        return f"c{len(request.chunks):06d}{count:02d}"

    return next_id
