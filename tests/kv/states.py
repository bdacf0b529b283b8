"""Saved states without an engine: files of the known form."""

import struct
from collections.abc import Sequence

from oasis.kv.chain import Segment, packed
from oasis.kv.fingerprint import Fingerprint
from oasis.kv.state_file import digest_of
from oasis.kv.store import Store
from oasis.kv.worth import Artifact, Kind

HERE = Fingerprint("model", "template")


def content(ids: Sequence[int], size: int = 0) -> bytes:
    """A state file with these ids, filled up to `size` bytes."""
    raw = struct.pack("<III", 0x67677371, 2, len(ids)) + packed(ids)
    return raw + bytes(max(0, size - len(raw)))


def write(
    store: Store,
    ids: Sequence[int],
    kind: Kind = Kind.SESSION,
    *,
    segments: Sequence[Segment] = (),
    size: int = 0,
    prefill_ms: float = 100.0,
    fingerprint: Fingerprint = HERE,
) -> Artifact:
    """Save a state as the engine would."""
    artifact = store.begin(kind, fingerprint)
    part = store.part(artifact)
    part.write_bytes(content(ids, size))
    store.finish(artifact, ids, segments, size=part.stat().st_size, digest=digest_of(part), prefill_ms=prefill_ms)
    return store.get(artifact)
