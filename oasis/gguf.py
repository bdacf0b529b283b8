"""The metadata of a GGUF file, read without its tensors.

The format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md (versions 2 and 3, little-endian).
"""

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

MAGIC = b"GGUF"
VERSIONS = (2, 3)

_NUMBERS = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d"}
_STRING, _ARRAY = 8, 9
_LONGEST_BYTES = 64 << 20


def metadata(path: Path) -> Iterator[tuple[str, Any]]:
    """Keys and values in the file's order; an array of numbers comes as an empty list, it is passed over.

    Raises ValueError where the file is damaged, cut short or no GGUF; OSError from the system.
    """
    with path.open("rb") as file:
        try:
            if file.read(4) != MAGIC or _number(file, "<I") not in VERSIONS:
                raise ValueError("no GGUF header of version 2 or 3")
            _number(file, "<Q")
            for _ in range(_number(file, "<Q")):
                key = _string(file)
                yield key, _value(file, _number(file, "<I"))
        except struct.error as error:
            raise ValueError(str(error)) from error


def _value(file: BinaryIO, kind: int) -> Any:
    if kind == _STRING:
        return _string(file)
    if kind == _ARRAY:
        inner, count = _number(file, "<I"), _number(file, "<Q")
        if inner in _NUMBERS:
            file.seek(struct.calcsize(_NUMBERS[inner]) * count, 1)
            return []
        return [_value(file, inner) for _ in range(count)]
    if kind not in _NUMBERS:
        raise ValueError(f"a value of unknown type {kind}")
    return _number(file, _NUMBERS[kind])


def _number(file: BinaryIO, form: str) -> Any:
    return struct.unpack(form, _exactly(file, struct.calcsize(form)))[0]


def _string(file: BinaryIO) -> str:
    return _exactly(file, _number(file, "<Q")).decode("utf-8", errors="replace")


def _exactly(file: BinaryIO, size: int) -> bytes:
    """`size` bytes. Raises ValueError where the file ends before, or where no sane header is so long."""
    data = file.read(size) if size <= _LONGEST_BYTES else b""
    if len(data) != size:
        raise ValueError("the file ends early, or a length in it cannot be right")
    return data
