"""Which requests read a set of values: few, within the limits, never over what is not asked and not known."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

MOST_GAP = 16


class Span(NamedTuple):
    """A value's registers or bits. It is never read in two requests."""

    first: int
    size: int

    @property
    def end(self) -> int:
        return self.first + self.size


@dataclass(frozen=True, slots=True)
class Block:
    """One request, and the values it reads."""

    spans: tuple[Span, ...]

    @property
    def first(self) -> int:
        return self.spans[0].first

    @property
    def count(self) -> int:
        return max(span.end for span in self.spans) - self.first

    def halves(self) -> "tuple[Block, Block]":
        """The block in two, by its values. Only for more than one value."""
        middle = len(self.spans) // 2
        return Block(self.spans[:middle]), Block(self.spans[middle:])


@dataclass(slots=True)
class Known:
    """Addresses of one table that were read before, and so may be read over."""

    addresses: set[int] = field(default_factory=set[int])

    def add(self, first: int, count: int) -> None:
        self.addresses.update(range(first, first + count))

    def has(self, first: int, end: int) -> bool:
        return all(address in self.addresses for address in range(first, end))


def blocks(spans: Iterable[Span], most: int, known: Known) -> list[Block]:
    """The requests, in order of addresses.

    Values that touch or overlap share a request. A gap is read over only where it is short and was read before:
    reading an address that nobody asked for can fail, and on some devices it clears something.
    """
    made: list[Block] = []
    group: list[Span] = []
    end = 0
    for span in sorted(set(spans), key=lambda s: (s.first, -s.size)):
        is_near = span.first <= end or (span.first - end <= MOST_GAP and known.has(end, span.first))
        if group and is_near and max(end, span.end) - group[0].first <= most:
            group.append(span)
            end = max(end, span.end)
            continue
        made += [Block(tuple(group))] if group else []
        group, end = [span], span.end
    return [*made, Block(tuple(group))] if group else made
