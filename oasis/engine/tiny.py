"""Tiny models with random weights: the engine, its KV cache and its slots are real, what it writes is not.

One token is one byte, so a prompt of 20,000 bytes is 20,000 tokens. What it writes by itself is printable
ASCII. For tests and benchmarks.
"""

import hashlib
import math
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Literal, get_args

from oasis.engine.gguf_writer import Value, write_gguf
from oasis.errors import EngineFault

Kind = Literal["tiny-dense", "tiny-swa", "tiny-hybrid"]
KINDS: tuple[Kind, ...] = get_args(Kind)

CONTROL = ("<|begin|>", "<|im_start|>", "<|im_end|>", "<think>", "</think>", "<tool_call>", "</tool_call>")
"""Control tokens; their ids follow the 256 bytes, which are their own ids.

The engine takes one of them for the end of a message, so that a message always closes as the template closes it.
"""

_END = 256 + CONTROL.index("<|im_end|>")
_BOS = 256 + CONTROL.index("<|begin|>")
_ARCHITECTURE = {"tiny-dense": "llama", "tiny-swa": "gemma3", "tiny-hybrid": "lfm2"}
_TRAINED_TOKENS = 131072
_NORMAL, _CONTROL = 1, 3
_AMPLITUDE = 0.1 * math.sqrt(3)


@dataclass(frozen=True, slots=True)
class _Shape:
    layers: int = 2
    width: int = 32
    heads: int = 1
    hidden: int = 48
    window: int = 512
    convolution: int = 3

    @property
    def head_width(self) -> int:
        return self.width // self.heads


def tiny(kind: str, folder: Path) -> Path:
    """The model file of `kind` in `folder`, made where it is not there yet.

    tiny-dense   one layer that sees everything: a slot can go back to any place
    tiny-swa     sliding window of 512 tokens: a slot can go back a short way only
    tiny-hybrid  a convolution layer with a running state, then attention: a slot goes back to checkpoints only

    The file's name holds the digest of this recipe.
    """
    if kind not in KINDS:
        raise EngineFault(f"There is no tiny model {kind!r}. There are: {', '.join(KINDS)}.")
    path = folder / f"{kind}-{_recipe_digest()[:12]}.gguf"
    if path.exists():
        return path
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle, part = tempfile.mkstemp(prefix=f".{kind}-", suffix=".part", dir=folder)
    except OSError as error:
        raise EngineFault(f"{kind} was not made in {folder}: {error.strerror or error}.") from error
    os.close(handle)
    try:
        _write(kind, Path(part), _Shape(layers=1 if kind == "tiny-dense" else 2))
        Path(part).replace(path)
    finally:
        Path(part).unlink(missing_ok=True)
    return path


def _template() -> str:
    return Path(__file__).with_name("tiny.jinja").read_text(encoding="utf-8")


def _recipe_digest() -> str:
    recipe = (Path(__file__), Path(__file__).with_name("gguf_writer.py"), Path(__file__).with_name("tiny.jinja"))
    return hashlib.sha256(b"".join(file.read_bytes() for file in recipe)).hexdigest()


def _write(kind: str, path: Path, shape: _Shape) -> None:
    write_gguf(path, {**_described(kind, shape), **_spoken()}, _Weights(shape).filled(kind))


def _described(kind: str, shape: _Shape) -> dict[str, Value]:
    name = _ARCHITECTURE[kind]
    about: dict[str, Value] = {
        "context_length": _TRAINED_TOKENS,
        "embedding_length": shape.width,
        "block_count": shape.layers,
        "feed_forward_length": shape.hidden,
        "attention.head_count": shape.heads,
        "attention.layer_norm_rms_epsilon": 1e-5,
        "rope.freq_base": 1e6,
    }
    if kind == "tiny-hybrid":
        about["attention.head_count_kv"] = [0 if _is_convolution(kind, i) else 1 for i in range(shape.layers)]
        about["shortconv.l_cache"] = shape.convolution
    else:
        about["attention.head_count_kv"] = 1
        about["attention.key_length"] = about["attention.value_length"] = shape.head_width
        about["rope.dimension_count"] = shape.head_width
    if kind == "tiny-swa":
        about["attention.sliding_window"] = shape.window
    return {"general.architecture": name, "general.name": kind, **{f"{name}.{key}": about[key] for key in about}}


def _spoken() -> dict[str, Value]:
    """Vocabulary, control tokens and chat template. One merge that joins nothing keeps the loader content."""
    return {
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "gpt-2",
        "tokenizer.ggml.tokens": [*byte_symbols(), *CONTROL],
        "tokenizer.ggml.token_type": [_NORMAL] * 256 + [_CONTROL] * len(CONTROL),
        "tokenizer.ggml.merges": ["Q ~"],
        "tokenizer.ggml.bos_token_id": _BOS,
        "tokenizer.ggml.eos_token_id": _END,
        "tokenizer.ggml.add_bos_token": False,
        "tokenizer.chat_template": _template(),
    }


def byte_symbols() -> list[str]:
    """GPT-2's character for each byte: itself where it is printable Latin-1, else one counted up from U+0100."""
    spare = iter(range(0x100, 0x200))
    return [chr(b) if 33 <= b <= 126 or 161 <= b <= 172 or b >= 174 else chr(next(spare)) for b in range(256)]


def _is_convolution(kind: str, layer: int) -> bool:
    return kind == "tiny-hybrid" and layer % 2 == 0


class _Weights:
    """Tensors of one model, random from a fixed seed. Shapes are (rows out, columns in)."""

    def __init__(self, shape: _Shape) -> None:
        self._random = Random(20)
        self._shape = shape
        self._tensors: dict[str, tuple[tuple[int, ...], list[float]]] = {}

    def filled(self, kind: str) -> dict[str, tuple[tuple[int, ...], list[float]]]:
        width, vocabulary = self._shape.width, 256 + len(CONTROL)
        self._noise("token_embd", vocabulary, width)
        self._ones("token_embd_norm" if kind == "tiny-hybrid" else "output_norm", width)
        writable = {10, *range(32, 127), _END}
        output = [n if i // width in writable else 0.0 for i, n in enumerate(self._drawn(vocabulary * width))]
        self._tensors["output.weight"] = ((vocabulary, width), output)
        for layer in range(self._shape.layers):
            self._layer(kind, layer)
        return self._tensors

    def _layer(self, kind: str, layer: int) -> None:
        block, width, hidden = f"blk.{layer}.", self._shape.width, self._shape.hidden
        self._ones(block + "attn_norm", width)
        self._ones(block + "ffn_norm", width)
        if _is_convolution(kind, layer):
            self._noise(block + "shortconv.conv", width, self._shape.convolution)
            self._noise(block + "shortconv.in_proj", 3 * width, width)
            self._noise(block + "shortconv.out_proj", width, width)
        else:
            self._attention(kind, block)
        if kind == "tiny-swa":
            self._ones(block + "post_attention_norm", width)
            self._ones(block + "post_ffw_norm", width)
        self._noise(block + "ffn_gate", hidden, width)
        self._noise(block + "ffn_up", hidden, width)
        self._noise(block + "ffn_down", width, hidden)

    def _attention(self, kind: str, block: str) -> None:
        width, head_width = self._shape.width, self._shape.head_width
        self._noise(block + "attn_q", width, width)
        self._noise(block + "attn_k", head_width, width)
        self._noise(block + "attn_v", head_width, width)
        self._noise(block + "attn_output", width, width)
        if kind != "tiny-dense":
            self._ones(block + "attn_q_norm", head_width)
            self._ones(block + "attn_k_norm", head_width)

    def _drawn(self, count: int) -> list[float]:
        return [self._random.uniform(-_AMPLITUDE, _AMPLITUDE) for _ in range(count)]

    def _noise(self, name: str, *shape: int) -> None:
        self._tensors[name + ".weight"] = (shape, self._drawn(math.prod(shape)))

    def _ones(self, name: str, size: int) -> None:
        self._tensors[name + ".weight"] = ((size,), [1.0] * size)
