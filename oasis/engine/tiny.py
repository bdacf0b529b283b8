"""Tiny models with random weights: the engine, its KV cache and its slots are real, what it writes is not.

One token is one byte, so a prompt of 20,000 bytes is 20,000 tokens. What it writes by itself is printable
ASCII. For tests and benchmarks; made with the packages gguf and numpy (extra `dev`).
"""

import hashlib
import importlib
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from oasis.errors import EngineFault

Kind = Literal["tiny-dense", "tiny-swa", "tiny-hybrid"]
KINDS: tuple[Kind, ...] = get_args(Kind)

CONTROL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>", "<think>", "</think>", "<tool_call>", "</tool_call>")
"""Control tokens; their ids follow the 256 bytes, which are their own ids."""

_END = 256 + CONTROL.index("<|im_end|>")
_BOS = 256 + CONTROL.index("<|endoftext|>")
_ARCHITECTURE = {"tiny-dense": "llama", "tiny-swa": "gemma3", "tiny-hybrid": "lfm2"}
_TRAINED_TOKENS = 131072


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

    The file's name holds the digest of this recipe. Raises EngineFault where gguf or numpy is missing.
    """
    if kind not in KINDS:
        raise EngineFault(f"There is no tiny model {kind!r}. There are: {', '.join(KINDS)}.")
    path = folder / f"{kind}-{_recipe_digest()[:12]}.gguf"
    if path.exists():
        return path
    folder.mkdir(parents=True, exist_ok=True)
    handle, part = tempfile.mkstemp(prefix=f".{kind}-", suffix=".part", dir=folder)
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
    return hashlib.sha256(Path(__file__).read_bytes() + _template().encode()).hexdigest()


def _library(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise EngineFault(
            f"Making a tiny model needs the package {name}. Run: pip install 'oasis-agent[dev]'"
        ) from error


def _write(kind: str, path: Path, shape: _Shape) -> None:
    gguf, numpy = _library("gguf"), _library("numpy")
    writer = gguf.GGUFWriter(path, _ARCHITECTURE[kind])
    _describe(writer, kind, shape)
    _speak(writer, gguf)
    _Weights(writer, numpy, shape).fill(kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _describe(writer: Any, kind: str, shape: _Shape) -> None:
    writer.add_name(kind)
    writer.add_context_length(_TRAINED_TOKENS)
    writer.add_embedding_length(shape.width)
    writer.add_block_count(shape.layers)
    writer.add_feed_forward_length(shape.hidden)
    writer.add_head_count(shape.heads)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_freq_base(1e6)
    if kind == "tiny-hybrid":
        writer.add_head_count_kv([0 if _is_convolution(kind, i) else 1 for i in range(shape.layers)])
        writer.add_shortconv_l_cache(shape.convolution)
    else:
        writer.add_head_count_kv(1)
        writer.add_key_length(shape.head_width)
        writer.add_value_length(shape.head_width)
        writer.add_rope_dimension_count(shape.head_width)
    if kind == "tiny-swa":
        writer.add_sliding_window(shape.window)


def _speak(writer: Any, gguf: Any) -> None:
    """Vocabulary, control tokens and chat template. One merge that joins nothing keeps the loader content."""
    tokens = [*byte_symbols(), *CONTROL]
    kinds = gguf.TokenType
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(tokens)
    writer.add_token_types([kinds.NORMAL] * 256 + [kinds.CONTROL] * len(CONTROL))
    writer.add_token_merges(["Q ~"])
    writer.add_bos_token_id(_BOS)
    writer.add_eos_token_id(_END)
    writer.add_add_bos_token(False)
    writer.add_chat_template(_template())


def byte_symbols() -> list[str]:
    """GPT-2's character for each byte: itself where it is printable Latin-1, else one counted up from U+0100."""
    spare = iter(range(0x100, 0x200))
    return [chr(b) if 33 <= b <= 126 or 161 <= b <= 172 or b >= 174 else chr(next(spare)) for b in range(256)]


def _is_convolution(kind: str, layer: int) -> bool:
    return kind == "tiny-hybrid" and layer % 2 == 0


class _Weights:
    """Tensors of one model, random from a fixed seed. Shapes are (rows out, columns in)."""

    def __init__(self, writer: Any, numpy: Any, shape: _Shape) -> None:
        self._writer = writer
        self._numpy = numpy
        self._random = numpy.random.default_rng(20)
        self._shape = shape

    def fill(self, kind: str) -> None:
        width, vocabulary = self._shape.width, 256 + len(CONTROL)
        self._noise("token_embd", vocabulary, width)
        self._ones("token_embd_norm" if kind == "tiny-hybrid" else "output_norm", width)
        output = self._drawn(vocabulary, width)
        writable = [10, *range(32, 127), _END]
        output[[i for i in range(vocabulary) if i not in writable]] = 0
        self._writer.add_tensor("output.weight", output)
        for layer in range(self._shape.layers):
            self._layer(kind, layer)

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

    def _drawn(self, *shape: int) -> Any:
        return (self._random.standard_normal(shape) * 0.1).astype(self._numpy.float32)

    def _noise(self, name: str, *shape: int) -> None:
        self._writer.add_tensor(name + ".weight", self._drawn(*shape))

    def _ones(self, name: str, size: int) -> None:
        self._writer.add_tensor(name + ".weight", self._numpy.ones(size, self._numpy.float32))
