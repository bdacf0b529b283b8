"""Which process owns something: its id and when it began, so that a reused id is not taken for it."""

import os
from dataclasses import dataclass
from functools import cache

_SAME_START_S = 0.05


@dataclass(frozen=True, slots=True)
class Owner:
    """A process on this machine."""

    pid: int
    created: float

    @property
    def is_alive(self) -> bool:
        import psutil  # noqa: PLC0415

        try:
            process = psutil.Process(self.pid)
            is_same = abs(process.create_time() - self.created) < _SAME_START_S
            return is_same and process.status() != psutil.STATUS_ZOMBIE
        except psutil.NoSuchProcess:
            return False
        except psutil.AccessDenied:
            return True


def this_process() -> Owner:
    """The process that asks."""
    return _began(os.getpid())


@cache
def _began(pid: int) -> Owner:
    import psutil  # noqa: PLC0415

    return Owner(pid, psutil.Process(pid).create_time())
