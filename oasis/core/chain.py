"""Hash-chained JSON lines, as the session file and the audit are made of.

A line ends in `,"chain":"<32 hex digits>"}`: the first half of SHA-256 over the chain before it and the
line's bytes without that ending. Adding a line never touches another.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator
from typing import Any

_START = "0" * 32
_TAIL = len(',"chain":""}') + 32

Record = dict[str, Any]


def start() -> str:
    """The chain before the first record."""
    return _START


def link(chain: str, record: Record) -> tuple[bytes, str]:
    """The record's line, newline included, and the chain after it."""
    body = json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode()[:-1]
    after = _chained(chain, body)
    return body + b',"chain":"' + after.encode() + b'"}\n', after


def read(lines: Iterable[bytes], chain: str = _START) -> Iterator[tuple[Record | None, str, bool]]:
    """(record, chain after it, does it follow from the one before) for each line; record None where it was cut.

    Lines come without their line feed; `chain` is the one before the first of them.
    """
    for line in lines:
        body, tail = line[:-_TAIL], line[-_TAIL:]
        try:
            if not (tail.startswith(b',"chain":"') and tail.endswith(b'"}')):
                raise ValueError
            record = json.loads(body + b"}")
            after = tail[10:-2].decode()
        except (ValueError, RecursionError):
            yield None, chain, True
            continue
        is_linked = after == _chained(chain, body)
        chain = after
        yield record, chain, is_linked


def _chained(chain: str, body: bytes) -> str:
    return hashlib.sha256(chain.encode() + body).hexdigest()[:32]
