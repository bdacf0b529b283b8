"""Files whose text is in saved states: a state goes stale when one of its files changes."""

import asyncio
import importlib
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from oasis.errors import KvFault
from oasis.kv.fingerprint import file_sha256
from oasis.kv.store import Store

_GATHER_MS = 200
_LOOK_AGAIN_S = 30.0


def check_sources(store: Store, only: Iterable[Path] | None = None) -> int:
    """Compare the files in saved states with what they are now; how many states went stale.

    `only`: the files that may have changed; None: all.
    """
    wanted = None if only is None else {str(path) for path in only}
    paths = {source.path for source in store.sources() if wanted is None or source.path in wanted}
    return sum(store.mark_changed(path, sha256_or_none(Path(path))) for path in sorted(paths))


def sha256_or_none(path: Path) -> str:
    """The sha256 of a file; "" where it is gone or cannot be read."""
    try:
        return file_sha256(path)
    except OSError:
        return ""


async def watch(store: Store, stop: asyncio.Event, told: Callable[[int], None] = lambda _: None) -> None:
    """Mark states stale as their files change, until `stop`; `told` how many, each time something was looked at.

    Folders are watched rather than files, since editors replace a file by another.
    """
    awatch: Any = importlib.import_module("watchfiles").awatch

    while not stop.is_set():
        with suppress(KvFault):
            told(check_sources(store))
        folders = _folders(store)
        if not folders:
            with suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), _LOOK_AGAIN_S)
            continue
        async for changes in awatch(
            *folders, stop_event=stop, debounce=_GATHER_MS, recursive=False, yield_on_timeout=True
        ):
            with suppress(KvFault):
                told(check_sources(store, [Path(path) for _, path in changes]))
            if _folders(store) != folders:
                break


def _folders(store: Store) -> set[Path]:
    """Where the sources lie, as far as the folders exist."""
    folders = {Path(source.path).parent for source in store.sources()}
    return {folder for folder in folders if folder.is_dir()}
