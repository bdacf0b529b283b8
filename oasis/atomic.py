"""Replace a file as a whole: whoever reads it sees the old or the new, and a crash leaves one of them."""

import contextlib
import itertools
import os
import stat
from pathlib import Path

_COUNT = itertools.count()


def replace(path: Path, data: bytes, *, mode: int = 0o666, keeps_mode: bool = False) -> None:
    """Write `data` to `path` by way of a new file beside it, synced to disk.

    `mode` is that of a new file, less the umask; with `keeps_mode` an old one's mode and owner stay. Raises OSError;
    the old file is then untouched.
    """
    temporary = path.with_name(f".{path.name[:30]}.{os.getpid()}-{next(_COUNT)}.tmp")
    try:
        _fill(temporary, data, mode)
        if keeps_mode:
            _keep_mode(path, temporary)
        temporary.replace(path)
        sync_folder(path.parent)
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


def sync_folder(folder: Path) -> None:
    """Make a new name in the folder durable; Windows has no such call."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _fill(temporary: Path, data: bytes, mode: int) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    with os.fdopen(os.open(temporary, flags, mode), "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _keep_mode(old: Path, new: Path) -> None:
    if not old.exists():
        return
    before = old.stat()
    new.chmod(stat.S_IMODE(before.st_mode))
    if hasattr(os, "chown"):
        with contextlib.suppress(PermissionError):
            os.chown(new, before.st_uid, before.st_gid)
