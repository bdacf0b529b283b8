"""Numbers that go up by one with every earlier call, carried on without rendering the history."""

import re
from collections.abc import Sequence

from oasis.dialect.parts import Part

_NUMBER = re.compile(r"(\d+)")


def carried_on(none: Sequence[Part], one: Sequence[Part], calls: int) -> list[Part]:
    """The piece after `calls` earlier calls, from the pieces after none and after one.

    A number in the markup that differs by d goes up by d with each call; everything else is the same in both.
    Raises ValueError when they differ in another way.
    """
    if len(none) != len(one):
        raise ValueError("the pieces differ by more than numbers")
    return [_carried_part(before, after, calls) for before, after in zip(none, one, strict=True)]


def _carried_part(before: Part, after: Part, calls: int) -> Part:
    if before == after:
        return before
    old, new = _NUMBER.split(before.text), _NUMBER.split(after.text)
    if before.is_content or len(old) != len(new) or old[::2] != new[::2]:
        raise ValueError("the pieces differ by more than numbers")
    made = [
        text if i % 2 == 0 or text == new[i] else str(int(text) + calls * (int(new[i]) - int(text)))
        for i, text in enumerate(old)
    ]
    return Part("".join(made), False)
