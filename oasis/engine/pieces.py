"""Ids that a stream leaves out, found from the text.

While a UTF-8 character is incomplete llama.cpp's server sends nothing; then it sends the character's text with the
last id alone (every version so far, seen in autumn 2026). How many ids are missing is known from its counter. What a
model writes freely is nearly always its tokenizer's own way; under a grammar it also writes single bytes.
"""

from collections.abc import Awaitable, Callable, Iterator, Mapping

Tokenise = Callable[[str], Awaitable[list[tuple[int, bytes]]]]
"""Ids of a text with the bytes of each, control tokens not recognised."""


class Pieces:
    """The parts into which one vocabulary cuts characters, learnt when they are first needed."""

    def __init__(self, tokenise: Tokenise) -> None:
        self._tokenise = tokenise
        self._ids: dict[bytes, int] = {}

    async def find(self, text: str, count: int, last: int) -> list[int] | None:
        """The `count` ids, ending with `last`, that make `text`; None where none are known.

        `text` is what a stream sent at once: it became complete UTF-8 with the last id and not before.
        """
        own = [id_ for id_, _ in await self._tokenise(text)]
        if len(own) == count and own[-1] == last:
            return own
        if not self._ids:
            self._ids = {piece: id_ for id_, piece in reversed(await self._tokenise(_probe()))}
        end = next((piece for piece, id_ in self._ids.items() if id_ == last), None)
        data = text.encode()
        if end is None or not data.endswith(end):
            return None
        return next(([*ids, last] for ids in _ways(data[: -len(end)], count - 1, self._ids)), None)


def _ways(data: bytes, count: int, known: Mapping[bytes, int]) -> Iterator[list[int]]:
    """The ways to make `data` of `count` pieces, longer pieces first."""
    if not count:
        if not data:
            yield []
        return
    for size in range(len(data) - count + 1, 0, -1):
        if data[:size] in known:
            for rest in _ways(data[size:], count - 1, known):
                yield [known[data[:size]], *rest]


def _probe() -> str:
    """Characters of every script and plane, a line each, so that every kind of cut is seen."""
    two_bytes = range(0x80, 0x800)
    three_bytes = (*range(0x800, 0xD800, 0x3D), *range(0xE000, 0x10000, 0x3D), *range(0x2000, 0x2800))
    four_bytes = (*range(0x1F300, 0x1FAFF, 7), *range(0x10000, 0x110000, 0x4041))
    return "\n".join(chr(point) for point in (*two_bytes, *three_bytes, *four_bytes))
