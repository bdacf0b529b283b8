"""What can be said of a GGUF file before an engine opens it (format: ggml's docs/gguf.md, versions 2 and 3)."""

import struct
from pathlib import Path
from typing import BinaryIO

from oasis.errors import EngineFault

_MAGIC = b"GGUF"
_OTHERS = {b"PK\x03\x04": "a zip archive", b"vers": "a Git LFS pointer", b"<!DO": "a web page", b"<htm": "a web page"}
_FORMATS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY = 8, 9
_LONGEST_BYTES = 64 << 20


def check_model(path: Path) -> None:
    """Raise EngineFault where `path` is no GGUF model file: missing, a folder, unreadable, another format."""
    if path.is_dir():
        raise EngineFault(f"{path} is a folder. Name the model's .gguf file in it.")
    try:
        with path.open("rb") as file:
            head = file.read(8)
    except FileNotFoundError as error:
        raise EngineFault(f"There is no model file {path}. `oasis models ls` lists those at hand.") from error
    except OSError as error:
        raise EngineFault(f"The model file {path} cannot be read: {error.strerror}.") from error
    if head[:4] != _MAGIC:
        what = "empty" if not head else f"{_OTHERS.get(head[:4], 'something else')}, not a GGUF file"
        raise EngineFault(f"{path} is {what}. The engine reads GGUF models; download the model's .gguf file.")
    if len(head) < 8 or struct.unpack("<I", head[4:])[0] not in (2, 3):
        raise EngineFault(f"{path} is a GGUF file of a version this engine does not read. Download it anew.")


def trained_context(path: Path) -> int | None:
    """Context the model was trained for, in tokens; None where the file does not say it before its tensors."""
    try:
        with path.open("rb") as file:
            _, _, _, fields = struct.unpack("<4sIQQ", _exactly(file, 24))
            for _ in range(fields):
                key, kind = _string(file), _number(file, "I")
                if key.endswith(b".context_length") and kind in _FORMATS:
                    return int(_number(file, _FORMATS[kind]))
                _skip(file, kind)
    except (OSError, EOFError, struct.error):
        return None
    return None


def _skip(file: BinaryIO, kind: int) -> None:
    if kind == _STRING:
        _string(file)
    elif kind == _ARRAY:
        inner, count = _number(file, "I"), _number(file, "Q")
        if inner in _FORMATS:
            file.seek(count * struct.calcsize(_FORMATS[inner]), 1)
        else:
            for _ in range(count):
                _skip(file, inner)
    elif kind in _FORMATS:
        _exactly(file, struct.calcsize(_FORMATS[kind]))
    else:
        raise EOFError


def _number(file: BinaryIO, form: str) -> int:
    return struct.unpack(f"<{form}", _exactly(file, struct.calcsize(form)))[0]


def _string(file: BinaryIO) -> bytes:
    return _exactly(file, _number(file, "Q"))


def _exactly(file: BinaryIO, size: int) -> bytes:
    """`size` bytes. Raises EOFError where the file ends before, or where no sane header is so long."""
    data = file.read(size) if size <= _LONGEST_BYTES else b""
    if len(data) != size:
        raise EOFError
    return data
