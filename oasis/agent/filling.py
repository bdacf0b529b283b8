"""What fills the context, as numbers: parts, their tokens, what is free."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

SYSTEM = "system text"
BUILT_IN = "built-in tools"
PACKS = "packs' tools"
SERVERS = "MCP servers' tools"
FIRST = "first notices"
SUMMARY = "summary"
USER = "what you wrote"
TEXT = "the model's text"
REASONING = "the model's reasoning"
CALLS = "tool calls"
OUTPUTS = "tool outputs"
NOTICES = "later notices"

ORDER = (SYSTEM, BUILT_IN, PACKS, SERVERS, FIRST, SUMMARY, USER, TEXT, REASONING, CALLS, OUTPUTS, NOTICES)


@dataclass(frozen=True, slots=True)
class Part:
    """One part and its tokens; `detail`: what it consists of (tools by name), the largest first."""

    name: str
    tokens: int
    detail: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Filling:
    """What fills a context.

    parts      those that take room, in the order in which ORDER names them
    limit      the context in tokens, None where it is not known
    is_exact   whether what was sent is counted; within a message the tokens are shared out by bytes all the same
    waiting    tokens of what no request has carried yet, estimated in both lanes
    """

    parts: tuple[Part, ...]
    limit: int | None
    is_exact: bool
    waiting: int = 0

    @property
    def used(self) -> int:
        return sum(part.tokens for part in self.parts)

    @property
    def free(self) -> int | None:
        """Tokens left; None where the limit is not known."""
        return None if self.limit is None else max(0, self.limit - self.used)

    @property
    def said(self) -> str:
        """How the numbers were got, in one line."""
        if self.is_exact:
            waiting = f" About {self.waiting:,} of them wait to be sent." if self.waiting else ""
            return f"Counted in the prompt's tokens; within a message they are shared out by bytes.{waiting}"
        return "Estimated from bytes and the last prompt's size: this server shows no tokens."


class Tally:
    """Adds up tokens by part and, within a part, by name."""

    def __init__(self) -> None:
        self._tokens: Counter[str] = Counter()
        self._detail: dict[str, Counter[str]] = {}

    def add(self, part: str, tokens: int, name: str = "") -> None:
        self._tokens[part] += tokens
        if name:
            self._detail.setdefault(part, Counter())[name] += tokens

    def share(self, tokens: int, weights: Mapping[tuple[str, str], int]) -> None:
        """Share `tokens` out over (part, name) by weight, to the last token; where all weigh nothing, the first."""
        whole = sum(weights.values())
        given = 0
        rest: list[tuple[float, tuple[str, str]]] = []
        for key, weight in weights.items():
            exact = tokens * weight / whole if whole else 0.0
            self.add(key[0], int(exact), key[1])
            given += int(exact)
            rest.append((exact - int(exact), key))
        rest.sort(key=lambda entry: -entry[0])
        for number in range(tokens - given):
            part, name = rest[number % len(rest)][1] if whole else rest[0][1]
            self.add(part, 1, name)

    def parts(self) -> tuple[Part, ...]:
        """The parts that take any room."""
        return tuple(
            Part(name, self._tokens[name], tuple(self._detail.get(name, Counter[str]()).most_common()))
            for name in ORDER
            if self._tokens[name]
        )
