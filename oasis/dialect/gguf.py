"""The chat template and its tokens out of a GGUF file's metadata, without reading a tensor.

The format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md (versions 2 and 3, little-endian).
"""

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final

from oasis.errors import DialectFault

_NUMBERS: Final = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d"}
_STRING, _ARRAY = 8, 9
_LONGEST = 1 << 30


@dataclass(frozen=True, slots=True)
class ChatMetadata:
    """What a GGUF says of its chat: the template and the texts of its bos and eos tokens."""

    template: str
    bos: str
    eos: str


def read_chat(path: Path) -> ChatMetadata:
    """Read them. Raises DialectFault for another format or a file without a template, OSError from the system."""
    try:
        with path.open("rb") as file:
            values = _key_values(file)
    except (struct.error, ValueError, UnicodeDecodeError, EOFError) as error:
        raise DialectFault(
            f"{path.name} cannot be read as a GGUF model file ({error}).\n"
            "It is cut short, damaged, or of another format.\n"
            "Download it again, or name a .jinja file."
        ) from error
    template = values.get("tokenizer.chat_template")
    if not isinstance(template, str):
        raise DialectFault(
            f"{path.name} holds no chat template.\n"
            "It may be a base model that was never taught a conversation.\n"
            "Use an instruct version of the model."
        )
    tokens: list[str] = values.get("tokenizer.ggml.tokens", [])
    bos, eos = (_token(tokens, values.get(f"tokenizer.ggml.{name}_token_id")) for name in ("bos", "eos"))
    return ChatMetadata(template, bos, eos)


def _token(tokens: list[str], number: object) -> str:
    return tokens[number] if isinstance(number, int) and 0 <= number < len(tokens) else ""


def _key_values(file: BinaryIO) -> dict[str, Any]:
    magic, version = file.read(4), _number(file, "<I")
    if magic != b"GGUF" or version not in (2, 3):
        raise ValueError("no GGUF header of version 2 or 3")
    _number(file, "<Q")
    return dict(_pair(file) for _ in range(_number(file, "<Q")))


def _pair(file: BinaryIO) -> tuple[str, Any]:
    key = _string(file)
    return key, _value(file, _number(file, "<I"))


def _value(file: BinaryIO, kind: int) -> Any:
    if kind == _STRING:
        return _string(file)
    if kind == _ARRAY:
        inner, count = _number(file, "<I"), _number(file, "<Q")
        if inner in _NUMBERS:
            _bytes(file, struct.calcsize(_NUMBERS[inner]) * count)
            return []
        return [_value(file, inner) for _ in range(count)]
    if kind not in _NUMBERS:
        raise ValueError(f"a value of unknown type {kind}")
    return _number(file, _NUMBERS[kind])


def _number(file: BinaryIO, form: str) -> Any:
    return struct.unpack(form, _bytes(file, struct.calcsize(form)))[0]


def _string(file: BinaryIO) -> str:
    return _bytes(file, _number(file, "<Q")).decode("utf-8", errors="replace")


def _bytes(file: BinaryIO, count: int) -> bytes:
    if count > _LONGEST:
        raise ValueError("a length that cannot be right")
    read = file.read(count)
    if len(read) < count:
        raise EOFError("the file ends early")
    return read
