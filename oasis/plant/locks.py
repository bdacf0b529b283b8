"""Locks between processes: one writer of an audit, one write to an endpoint at a time. They end with their process."""

import asyncio
import hashlib
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from oasis.errors import WriteRefused
from oasis.plant.places import place_of

ENDPOINT_WAIT_S = 5.0
_POLL_S = 0.02


class Busy(Exception):
    """Somebody else holds the lock."""


@contextmanager
def held(path: Path, wait_s: float) -> Generator[None]:
    """Hold the lock file `path`, waiting so long for it. Raises Busy, and OSError where it cannot be made."""
    lock = _lock(path)
    try:
        lock.acquire(timeout=wait_s)
    except Timeout:
        raise Busy(path) from None
    try:
        yield
    finally:
        lock.release()


@asynccontextmanager
async def endpoint_held(folder: Path, url: str, wait_s: float = ENDPOINT_WAIT_S) -> AsyncGenerator[None]:
    """Hold the endpoint against every other Oasis that writes, waiting so long for it.

    Raises WriteRefused while another holds it, and where its lock cannot be made.
    """
    lock = _lock(folder / f"{hashlib.sha256(place_of(url).encode()).hexdigest()[:24]}.lock")
    loop = asyncio.get_running_loop()
    ends = loop.time() + wait_s
    try:
        while not _taken(lock):
            if loop.time() >= ends:
                raise WriteRefused(
                    f"Another Oasis has been writing to {url} for more than {wait_s:g} s; nothing was sent. "
                    "Wait for it to end, then plan the write again."
                )
            await asyncio.sleep(_POLL_S)
    except OSError as error:
        raise WriteRefused(
            f"The lock of {url} cannot be taken in {folder}: {error.strerror}; nothing was sent. "
            "Make the folder writable."
        ) from error
    try:
        yield
    finally:
        lock.release()


def _lock(path: Path) -> FileLock:
    return FileLock(path, mode=0o600, thread_local=False)


def _taken(lock: FileLock) -> bool:
    Path(lock.lock_file).parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        return False
    return True
