"""Finding ids from the text they made."""

from collections.abc import Mapping

import pytest

from oasis.engine.pieces import Pieces

VOCABULARY: Mapping[bytes, int] = {
    **{bytes([byte]): byte for byte in range(256)},
    "ü".encode(): 300,
    "✓".encode()[:2]: 301,
    "°C".encode()[1:]: 302,
}


async def greedy(text: str) -> list[tuple[int, bytes]]:
    """A tokenizer that always takes the longest token; like a real one it sees whole characters."""
    data, found = text.encode(), list[tuple[int, bytes]]()
    while data:
        piece = next(data[:n] for n in range(3, 0, -1) if data[:n] in VOCABULARY)
        found.append((VOCABULARY[piece], piece))
        data = data[len(piece) :]
    return found


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("✓", [301, 0x93]),
        ("✓", [0xE2, 0x9C, 0x93]),
        ("ü", [0xC3, 0xBC]),
        ("😀", [0xF0, 0x9F, 0x98, 0x80]),
    ],
)
async def test_ids_are_found_from_text_count_and_last(text: str, ids: list[int]) -> None:
    assert await Pieces(greedy).find(text, len(ids), ids[-1]) == ids


@pytest.mark.parametrize(("text", "count", "last"), [("ü", 3, 0xBC), ("ü", 2, 999), ("ü", 2, 0xBD), ("", 2, 5)])
async def test_what_cannot_be_is_not_guessed(text: str, count: int, last: int) -> None:
    assert await Pieces(greedy).find(text, count, last) is None
