"""Ids for calls that came without one."""

from collections.abc import Callable

from oasis.core.transcript import Request

_EPOCHS = 24


def call_ids(request: Request) -> Callable[[], str]:
    """Ids for the calls of the message that answers `request`: nine letters and digits.

    They are unique within an epoch and to those of the epochs around it, whose last exchanges it keeps.
    """
    count = 0
    first = chr(ord("c") + request.epoch % _EPOCHS)

    def next_id() -> str:
        nonlocal count
        count += 1
        return f"{first}{len(request.chunks):06d}{count:02d}"

    return next_id
