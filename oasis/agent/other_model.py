"""Going on with another model: what its first prompt holds, and what that costs before it is done.

Tokens of one model mean nothing to another, so the conversation is told to the new one as text, in a notice.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from oasis.core.items import Assistant, Item, NewItem, Notice, ToolOutput, User
from oasis.core.prefix import Prefix

_BYTES_PER_TOKEN = 3.5
_MAX_OUTPUT_CHARS = 1_500
_MAX_ARGUMENT_CHARS = 600
_SHARE = 0.5
_MAX_CHARS = 120_000
_OPENING = (
    "This conversation was held with another model until now. What was said and done, in order; files may have changed "
    "since they were read:"
)


@dataclass(frozen=True, slots=True)
class Price:
    """Tokens that a change would have computed, estimated from bytes; seconds at the present rate where it is known."""

    tokens: int
    seconds: float | None

    def words(self) -> str:
        """For the person, before they decide."""
        took = f", about {self.seconds:,.0f} s at the present model's rate" if self.seconds else ""
        return f"A new epoch begins: about {self.tokens:,} tokens are computed anew{took}."


def price(prefix: Prefix, seed: Sequence[NewItem], ms_per_token: float | None) -> Price:
    """What the first prompt of the new epoch costs: the head and `seed`."""
    tokens = round(len(prefix.wire) / _BYTES_PER_TOKEN + sum(_tokens(item.text) for item in seed))
    return Price(tokens, tokens * ms_per_token / 1000 if ms_per_token else None)


def seed_for(items: Sequence[Item], context_tokens: int | None) -> list[NewItem]:
    """The notices that the session began with, then the conversation as text, its end at most half the context."""
    opening: list[NewItem] = []
    for item in items:
        if not isinstance(item, Notice):
            break
        opening.append(item)
    told = "\n\n".join(text for item in items[len(opening) :] if (text := _told(item)))
    room = int((context_tokens or 0) * _SHARE)
    if len(end := _end(told, room)) < len(told):
        told = f"[the beginning is left out]\n{end}"
    return [*opening, Notice(f"{_OPENING}\n\n{told}")] if told else opening


def _end(text: str, tokens: int) -> str:
    """As much of the text's end as has room in so many tokens, or in what is told at most where 0 of them are known."""
    end = text[-(int(tokens * _BYTES_PER_TOKEN) or _MAX_CHARS) :]
    needed = _tokens(end)
    return end[-max(1, int(len(end) * tokens / needed)) :] if 0 < tokens < needed else end


def _tokens(text: str) -> float:
    """An estimate: many models have a token for each digit."""
    digits = sum(map(str.isdigit, text))
    return digits + (len(text.encode()) - digits) / _BYTES_PER_TOKEN


def _told(item: Item) -> str:
    match item:
        case User():
            return f"Engineer: {item.text}"
        case Notice():
            return f"Notice: {item.text}"
        case ToolOutput():
            return f"Output of {item.name} ({item.status}): {_clipped(item.text, _MAX_OUTPUT_CHARS)}"
        case Assistant():
            calls = [f"Call {call.name} {_clipped(call.arguments, _MAX_ARGUMENT_CHARS)}" for call in item.calls]
            return "\n".join([*([f"Model: {item.text.strip()}"] if item.text.strip() else []), *calls])


def _clipped(text: str, chars: int) -> str:
    return text if len(text) <= chars else f"{text[:chars]} [… {len(text) - chars:,} characters left out]"
