"""What a kept state saves, on real engines: an excess of at most 16 tokens, and honest rows."""

from pathlib import Path

import pytest

from oasis.core.prefix import Prefix
from oasis.core.tool import ToolSpec
from oasis.engine.weights import find_model
from oasis.measure.kept import SCENARIOS
from oasis.measure.place import Place

pytestmark = pytest.mark.engine
PREFIX = Prefix(
    "You are a test of kept states. " * 30, (ToolSpec("read", "Reads.", {"type": "object", "properties": {}}),)
)


@pytest.mark.parametrize(
    ("scenario", "engine", "checkpoints"),
    [
        ("restart", "tiny-swa", 32),
        ("restart", "tiny-hybrid", 0),
        ("newsession", "tiny-hybrid", 0),
        ("fork", "tiny-dense", 32),
        ("compaction", "tiny-hybrid", 0),
    ],
)
async def test_only_what_is_new_is_computed(tmp_path: Path, scenario: str, engine: str, checkpoints: int):
    slots = 2 if scenario == "fork" else 1
    place = Place(find_model(engine), tmp_path, PREFIX, slots, checkpoints, context=32768, threads=1)
    await place.start()
    try:
        rows = await SCENARIOS[scenario](place)
    finally:
        await place.stop()
    assert rows
    for row in rows:
        assert row.excess <= 16, row
        assert row.cold == row.presented
    kept = rows[1:] if scenario in ("newsession", "fork") else rows
    assert all(row.computed < row.cold for row in kept)
