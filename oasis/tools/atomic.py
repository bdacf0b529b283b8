"""Replace a file as a whole: whoever reads it sees the old or the new, and a crash leaves one of them."""

import contextlib
import errno
import itertools
import os
import stat
from pathlib import Path

from oasis.errors import ToolFault

_COUNT = itertools.count()
_REASONS = {
    errno.ENOTDIR: "a part of its path is a file, not a folder. Choose another path",
    errno.EEXIST: "a part of its path is a file, not a folder. Choose another path",
    errno.EACCES: "its folder may not be written by this user. Ask the engineer, or choose another folder",
    errno.EPERM: "its folder may not be written by this user. Ask the engineer, or choose another folder",
    errno.EROFS: "it is on a file system that is read-only. Choose another folder",
    errno.ENOSPC: "the disk is full. Ask the engineer to make room",
    errno.EDQUOT: "the user's disk quota is used up. Ask the engineer to make room",
    errno.ENAMETOOLONG: "its name is too long. Choose a shorter one",
}
_OPEN_ELSEWHERE = {5, 32, 33}  # Windows: access denied, sharing violation, lock violation


def replace(path: Path, data: bytes, name: str) -> None:
    """Write `data` to `path`, `name` to the model, by way of a new file beside it. Mode is kept, folders are made.

    Raises ToolFault when it cannot be written; the old file is then untouched.
    """
    temporary = path.with_name(f".{path.name[:30]}.{os.getpid()}-{next(_COUNT)}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _fill(temporary, data)
        _keep_mode(path, temporary)
        temporary.replace(path)
        _sync_folder(path.parent)
    except OSError as fault:
        raise ToolFault(f"{name} was not written, what was there is as it was: {_reason(fault)}.") from fault
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


def _reason(fault: OSError) -> str:
    if getattr(fault, "winerror", None) in _OPEN_ELSEWHERE:
        return f"{fault.strerror}. If it is open in another program, close it there"
    return _REASONS.get(fault.errno or 0) or str(fault.strerror or fault)


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
