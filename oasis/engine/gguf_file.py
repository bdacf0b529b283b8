"""What can be said of a GGUF file before an engine opens it."""

import struct
from pathlib import Path

from oasis.errors import EngineFault
from oasis.gguf import MAGIC, VERSIONS, metadata

_OTHERS = {b"PK\x03\x04": "a zip archive", b"vers": "a Git LFS pointer", b"<!DO": "a web page", b"<htm": "a web page"}


def check_model(path: Path) -> None:
    """Raise EngineFault where `path` is no GGUF model file: missing, a folder, unreadable, another format."""
    if path.is_dir():
        raise EngineFault(f"{path} is a folder. Name the model's .gguf file in it.")
    try:
        with path.open("rb") as file:
            head = file.read(8)
    except FileNotFoundError as error:
        raise EngineFault(f"There is no model file {path}. `oasis models list` lists those at hand.") from error
    except OSError as error:
        raise EngineFault(f"The model file {path} cannot be read: {error.strerror}.") from error
    if head[:4] != MAGIC:
        what = "empty" if not head else f"{_OTHERS.get(head[:4], 'something else')}, not a GGUF file"
        raise EngineFault(f"{path} is {what}. The engine reads GGUF models; download the model's .gguf file.")
    if len(head) < 8 or struct.unpack("<I", head[4:])[0] not in VERSIONS:
        raise EngineFault(f"{path} is a GGUF file of a version this engine does not read. Download it anew.")


def trained_context(path: Path) -> int | None:
    """Context the model was trained for, in tokens; None where the file does not say it before its tensors."""
    try:
        return next((int(value) for key, value in metadata(path) if key.endswith(".context_length")), None)
    except (OSError, ValueError, TypeError):
        return None
