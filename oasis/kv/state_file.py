"""A slot's state as llama.cpp writes it: the ids it holds, and a digest that says whether it is still the same.

Sequence state files (src/llama-context.cpp, `state_seq_save_file`) begin with a magic word, a version and counts,
followed by the token ids as 32-bit integers, then the memory itself.
"""

import hashlib
import os
import struct
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from oasis.kv.chain import unpacked

_MAGIC = 0x67677371
_COUNTS_WITHIN_WORDS = 16
_BLOCK_BYTES = 8 << 20
_WORKERS = 4


def ids_in(path: Path, tokens: int) -> list[int] | None:
    """The ids of a state that holds `tokens` of them; None where the file is not of the known form."""
    with path.open("rb") as file:
        raw = file.read(_COUNTS_WITHIN_WORDS * 4 + tokens * 4)
    words = min(_COUNTS_WITHIN_WORDS, len(raw) // 4)
    counts = struct.unpack_from(f"<{words}I", raw)
    if not counts or counts[0] != _MAGIC or tokens not in counts[2:]:
        return None
    begin = (counts.index(tokens, 2) + 1) * 4
    ids = unpacked(raw[begin : begin + tokens * 4])
    return ids if len(ids) == tokens else None


def digest_of(path: Path) -> str:
    """A digest that covers the size and every byte: blocks of 8 MiB are hashed side by side, then their digests."""
    size = path.stat().st_size
    whole = hashlib.blake2b(size.to_bytes(8, "little"), digest_size=32)
    with ThreadPoolExecutor(min(_WORKERS, os.cpu_count() or 1)) as pool:
        for digest in pool.map(partial(_block, path), range(0, size, _BLOCK_BYTES)):
            whole.update(digest)
    return whole.hexdigest()


def _block(path: Path, offset: int) -> bytes:
    with path.open("rb") as file:
        file.seek(offset)
        return hashlib.blake2b(file.read(_BLOCK_BYTES), digest_size=32).digest()
