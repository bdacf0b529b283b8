"""Replace a file as a whole, with a reason that a model can act on where that fails."""

import errno
from pathlib import Path

from oasis import atomic
from oasis.errors import ToolFault

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
    """Write `data` to `path`, `name` to the model, whole or not at all. Mode is kept, folders are made.

    Raises ToolFault when it cannot be written; the old file is then untouched.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        atomic.replace(path, data, keeps_mode=True)
    except OSError as fault:
        raise ToolFault(f"{name} was not written, what was there is as it was: {_reason(fault)}.") from fault


def _reason(fault: OSError) -> str:
    if getattr(fault, "winerror", None) in _OPEN_ELSEWHERE:
        return f"{fault.strerror}. If it is open in another program, close it there"
    return _REASONS.get(fault.errno or 0) or str(fault.strerror or fault)
