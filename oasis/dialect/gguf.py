"""The chat template and its tokens out of a GGUF file's metadata."""

from dataclasses import dataclass
from pathlib import Path

from oasis.errors import DialectFault
from oasis.gguf import metadata


@dataclass(frozen=True, slots=True)
class ChatMetadata:
    """What a GGUF says of its chat: the template and the texts of its bos and eos tokens."""

    template: str
    bos: str
    eos: str


def read_chat(path: Path) -> ChatMetadata:
    """Read them. Raises DialectFault for another format or a file without a template, OSError from the system."""
    try:
        values = dict(metadata(path))
    except ValueError as error:
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
