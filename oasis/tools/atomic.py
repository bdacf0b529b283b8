"""Replace a file as a whole: whoever reads it sees the old or the new, and a crash leaves one of them."""

import contextlib
import itertools
import os
import stat
from pathlib import Path

from oasis.errors import ToolFault

_COUNT = itertools.count()


def replace(path: Path, data: bytes) -> None:
    """Write `data` to `path` by way of a new file beside it. Mode is kept, folders are made.

    Raises ToolFault when it cannot be written; the old file is then untouched.
    """
    temporary = path.with_name(f".{path.name[:100]}.{os.getpid()}-{next(_COUNT)}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _fill(temporary, data)
        _keep_mode(path, temporary)
        temporary.replace(path)
        _sync_folder(path.parent)
    except OSError as fault:
        raise ToolFault(
            f"{path.name} was not written, it is as it was: {fault.strerror or fault}. "
            "If it is open in another program, close it there."
        ) from fault
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


def _fill(temporary: Path, data: bytes) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    with os.fdopen(os.open(temporary, flags, 0o666), "wb") as file:
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


def _sync_folder(folder: Path) -> None:
    """Make the rename itself durable; Windows has no such call."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
