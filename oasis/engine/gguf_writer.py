"""Writing a small GGUF file: metadata, then float tensors.

The format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md (version 3, little-endian).
"""

import struct
from collections.abc import Mapping, Sequence
from pathlib import Path

from oasis.gguf import MAGIC

Value = bool | int | float | str | Sequence[int] | Sequence[str]

_VERSION, _ALIGNMENT = 3, 32
_UINT32, _INT32, _FLOAT32, _BOOL, _STRING, _ARRAY = 4, 5, 6, 7, 8, 9
_F32 = 0
"""The tensor type of 32-bit floats."""


def write_gguf(
    path: Path, values: Mapping[str, Value], tensors: Mapping[str, tuple[tuple[int, ...], list[float]]]
) -> None:
    """Write a file that holds `values`, whole numbers as uint32 and in lists as int32, and `tensors` as 32-bit floats.

    A tensor is its shape, (rows out, columns in) or (size,), and its numbers row by row.
    """
    head = [MAGIC, struct.pack("<IQQ", _VERSION, len(tensors), len(values))]
    head += [part for key, value in values.items() for part in (_string(key), _value(value))]
    offset, data = 0, list[bytes]()
    for name, (shape, numbers) in tensors.items():
        dimensions = struct.pack(f"<I{len(shape)}Q", len(shape), *reversed(shape))
        head += [_string(name), dimensions, struct.pack("<IQ", _F32, offset)]
        data.append(_padded(struct.pack(f"<{len(numbers)}f", *numbers)))
        offset += len(data[-1])
    path.write_bytes(_padded(b"".join(head)) + b"".join(data))


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % _ALIGNMENT)


def _string(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def _value(value: Value) -> bytes:
    match value:
        case bool():
            return struct.pack("<I?", _BOOL, value)
        case int():
            return struct.pack("<II", _UINT32, value)
        case float():
            return struct.pack("<If", _FLOAT32, value)
        case str():
            return struct.pack("<I", _STRING) + _string(value)
        case _:
            return struct.pack("<I", _ARRAY) + _array(value)


def _array(values: Sequence[int] | Sequence[str]) -> bytes:
    texts = [_string(value) for value in values if isinstance(value, str)]
    if texts:
        return struct.pack("<IQ", _STRING, len(texts)) + b"".join(texts)
    return struct.pack(f"<IQ{len(values)}i", _INT32, len(values), *values)
