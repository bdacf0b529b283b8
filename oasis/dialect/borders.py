"""Where pieces tokenised apart give other ids than the whole."""

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from oasis.core.items import Item, User
from oasis.dialect.check import PREFIX, conversation, template_raw
from oasis.dialect.dialect import Dialect, Part

Tokenise = Callable[[str, bool], Awaitable[list[int]]]
"""Ids of a text, with control tokens or without."""


@dataclass(frozen=True, slots=True)
class Border:
    """A border between two pieces, by the text around it and what it lies between."""

    before: str
    after: str
    between: str
    is_same: bool


async def examine_borders(dialect: Dialect, tokenise: Tokenise) -> list[Border]:
    """Every kind of border in a sample conversation, each once."""
    found: dict[tuple[str, str], Border] = {}
    for before, after, between in _pairs(dialect):
        key = before[-AROUND:], after[:AROUND]
        if key in found:
            continue
        near = before[-NEAR:], after[:NEAR]
        apart = [*await tokenise(near[0], True), *await tokenise(near[1], True)]
        whole = await tokenise("".join(near), True)
        found[key] = Border(*key, between, apart == whole)
    return list(found.values())


AROUND, NEAR = 24, 400
"""Characters shown, and characters tokenised, on either side."""


def _pairs(dialect: Dialect) -> Iterator[tuple[str, str, str]]:
    """Neighbouring pieces: of parts, of the head and the first batch, of a message and what follows it."""
    first = User("Map the device.")
    history: list[Item] = [first]
    head, batch = dialect.head(PREFIX), dialect.batch(PREFIX, [], [first])
    yield from _inside([*head, *batch])
    if head and batch:
        yield head[-1].text, batch[0].text, "head and first message"
    for step in conversation(dialect.render.form.is_parallel):
        after = dialect.rendering(PREFIX, [*history, step.message, *step.new])
        raw = template_raw(dialect, history, step.message, after) or dialect.ends.text_stop
        history.append(replace(step.message, raw=raw))
        batch = dialect.batch(PREFIX, history, step.new)
        if raw and batch:
            yield raw, batch[0].text, "the model's message and what follows"
        yield from _inside(batch)
        history += step.new


def _inside(parts: list[Part]) -> Iterator[tuple[str, str, str]]:
    for one, other in pairwise(parts):
        yield one.text, other.text, "markup and content" if other.is_content else "content and markup"
