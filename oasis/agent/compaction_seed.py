"""What the next epoch begins with: the opening, the summary, the last exchanges. Pure.

A transcript is batches and messages in turn: batch 0, message 0, batch 1, message 1, … An exchange is a message
with the batch that answers it, so a call is never separated from its output.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from oasis.core.items import Assistant, Item, NewItem, Notice, Status, ToolOutput, User
from oasis.core.transcript import Chunk, Transcript
from oasis.core.usage import Usage
from oasis.resources import text

_BYTES_PER_TOKEN = 3.5
_MARKUP_TOKENS = 8
_SUMMARY_SHARE = 12
_SUMMARY_TOKENS = (128, 2000)
_TAIL_SHARE = 4
_FULLEST = 0.85
_WORDS_PER_TOKEN = 0.6
_LONGEST = 1.25


def carried() -> str:
    """What stands before a summary in the next epoch."""
    return text("agent/prompts/carried.md")


def dropped() -> str:
    """What stands there in place of a summary."""
    return text("agent/prompts/dropped.md")


@dataclass(frozen=True, slots=True)
class Sizes:
    """Tokens of a transcript; counted where the lane sees tokens, otherwise from the last step's usage.

    upto     up to the end of each message of the model
    pending  after the last of them, about
    """

    head: int
    upto: tuple[int, ...]
    pending: int
    bytes_per_token: float

    @property
    def total(self) -> int:
        return (self.upto[-1] if self.upto else self.head) + self.pending

    def of(self, words: str) -> int:
        return int(len(words.encode()) / self.bytes_per_token) + _MARKUP_TOKENS


def sizes(transcript: Transcript, last: Usage | None) -> Sizes:
    """Measure a transcript. `last`: what the newest answered request of this epoch cost."""
    chunks = transcript.chunks
    sees_tokens = bool(chunks) and chunks[0].tokens is not None
    ratio = _ratio(transcript) if sees_tokens else _wire_ratio(transcript, last)

    def size(chunk: Chunk) -> int:
        return chunk.tokens if chunk.tokens is not None else int(len(chunk.wire) / ratio)

    head = size(chunks[0]) if chunks else 0
    if not sees_tokens:
        head += int(sum(len(tool.wire) for tool in transcript.prefix.tools) / ratio)
    sums = [head]
    for chunk in chunks[1:]:
        sums.append(sums[-1] + size(chunk))
    upto = tuple(sums[count - 1] for _, count in transcript.ends)
    waiting = sum(len(item.text.encode()) for item in transcript.pending)
    sealed = sums[-1] - upto[-1] if upto else sums[-1] - head
    pending = sealed + (int(1.1 * waiting / ratio) + _MARKUP_TOKENS if waiting else 0)
    return Sizes(head, upto, pending, ratio)


def _ratio(transcript: Transcript) -> float:
    """Bytes of text a token, over what is encoded."""
    encoded = transcript.items[: len(transcript.items) - len(transcript.pending)]
    count = sum(chunk.tokens or 0 for chunk in transcript.chunks[1:])
    said = sum(len((item.raw if isinstance(item, Assistant) else item.text).encode()) for item in encoded)
    return max(0.5, said / count) if count and said else _BYTES_PER_TOKEN


def _wire_ratio(transcript: Transcript, last: Usage | None) -> float:
    """Bytes of messages a token, as the last answered request showed it."""
    if last is None or not last.prompt_tokens or not transcript.ends:
        return _BYTES_PER_TOKEN
    sent = transcript.chunks[: transcript.ends[-1][1] - 1]
    tools = sum(len(tool.wire) for tool in transcript.prefix.tools)
    return max(0.5, (sum(len(chunk.wire) for chunk in sent) + tools) / last.prompt_tokens)


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a compaction may take.

    threshold  the prompt that is compacted
    room       the context, None where it is not known
    """

    threshold: int
    summary_tokens: int
    tail_tokens: int
    room: int | None

    @classmethod
    def of(cls, threshold: int, room: int | None) -> "Bounds":
        """Bounds for a context that is compacted at `threshold` tokens."""
        least, most = _SUMMARY_TOKENS
        summary = min(most, max(least, threshold // _SUMMARY_SHARE))
        return cls(threshold, summary, threshold // _TAIL_SHARE, room)

    @property
    def words(self) -> int:
        return int(self.summary_tokens * _WORDS_PER_TOKEN)

    @property
    def longest_tokens(self) -> int:
        """A summary longer than this is too long."""
        return int(_LONGEST * self.summary_tokens)

    @property
    def answer_tokens(self) -> int:
        """What the model may write in all where there is room: it may reason before the summary."""
        return 2 * self.summary_tokens


@dataclass(frozen=True, slots=True)
class Plan:
    """One compaction of a transcript.

    shown       messages of the model that the summary is made from; 0: there is no room to ask for one
    sees_tail   does it see what answers the last of them
    tail        number of the first message that is kept word for word
    """

    items: tuple[Item, ...]
    ends: tuple[tuple[int, int], ...]
    sizes: Sizes
    bounds: Bounds
    shown: int
    sees_tail: bool
    tail: int

    @property
    def kept(self) -> int:
        """Exchanges kept word for word."""
        return len(self.ends) - self.tail

    @property
    def unseen(self) -> int:
        """Exchanges that are neither kept nor in the summary."""
        seen = self.shown if self.sees_tail else self.shown - 1
        return max(0, self.tail - max(0, seen))

    @property
    def after_tokens(self) -> int:
        """Tokens of the next epoch's first prompt, about."""
        opening = self.sizes.of("\n\n".join(item.text for item in self.opening))
        return self.sizes.head + opening + self.bounds.summary_tokens + self._tail_tokens(self.tail)

    @property
    def opening(self) -> list[NewItem]:
        """What is said again before the last exchanges: the session's first notices and what the person last asked."""
        return [*self.notices, *self.asked]

    @property
    def notices(self) -> list[Notice]:
        first = self._first_batch
        leading = takewhile(lambda item: isinstance(item, Notice) and not _is_summary(item), first)
        return [item for item in leading if isinstance(item, Notice)]

    @property
    def asked(self) -> list[User]:
        """The last question before the exchanges kept, where it is not too long to be said again."""
        users = [item for item in self.items[: self.ends[self.tail][0]] if isinstance(item, User)]
        return [user for user in users[-1:] if self.sizes.of(user.text) <= self.bounds.tail_tokens]

    def seed(self, summary: str) -> list[Item]:
        """The next epoch's items. Without a summary the one before it stays."""
        if summary:
            told = [Notice(f"{carried()}\n\n{summary}")]
        else:
            before = [i for i in self._first_batch if isinstance(i, Notice) and i.text.startswith(carried())]
            told = [*before, Notice(dropped())]
        start = self.ends[self.tail][0] - 1
        return [*self.notices, *told, *self.asked, *self.items[start:]]

    def question(self, instruction: str) -> list[NewItem]:
        """What follows the messages shown: the outputs of the last one's calls, then the instruction."""
        waiting = [item for item in self.items[self.ends[self.shown - 1][0] :] if not isinstance(item, Assistant)]
        if self.sees_tail and any(isinstance(item, ToolOutput) for item in waiting):
            return [*waiting, Notice(instruction)]
        last = self.items[self.ends[self.shown - 1][0] - 1]
        calls = last.calls if isinstance(last, Assistant) else ()
        left_out = [ToolOutput(call.id, call.name, text("agent/prompts/unseen.md"), Status.OK) for call in calls]
        return [*left_out, Notice(instruction)]

    @property
    def _first_batch(self) -> Sequence[Item]:
        return self.items[: self.ends[0][0] - 1]

    def _tail_tokens(self, tail: int) -> int:
        return self.sizes.total - _before(self.sizes, self.items, self.ends, tail)


def _is_summary(item: Notice) -> bool:
    return item.text.startswith((carried(), dropped()))


def _before(sizes: Sizes, items: Sequence[Item], ends: Sequence[tuple[int, int]], message: int) -> int:
    """Tokens before a message of the model, about: those up to the one before it, and the batch between."""
    if message == 0:
        batch = items[: ends[0][0] - 1]
        start = sizes.head
    else:
        batch = items[ends[message - 1][0] : ends[message][0] - 1]
        start = sizes.upto[message - 1]
    said = sum(sizes.of(item.text) for item in batch)
    return min(sizes.upto[message], start + said)


def plan(
    transcript: Transcript, measured: Sizes, bounds: Bounds, instruction: str | None, most_shown: int | None = None
) -> Plan | None:
    """How to compact; None where nothing can be left out.

    The summary sees as much as leaves room for it; what it does not see is kept word for word, as far as that
    fits, and at least the last exchange is. `instruction` None: no summary is asked for, more exchanges are kept.
    `most_shown`: messages that the summary is made from, at most.
    """
    items, ends = transcript.items, transcript.ends
    count = len(ends)
    if count < 2:
        return None
    shown, sees_tail = _shown(measured, bounds, instruction, count)
    if most_shown is not None and most_shown < shown:
        shown, sees_tail = max(0, most_shown), False
    first_unseen = shown if sees_tail else max(0, shown - 1)

    def made(tail: int) -> Plan:
        return Plan(items, ends, measured, bounds, shown, sees_tail, tail)

    budget = bounds.tail_tokens if shown else 2 * bounds.tail_tokens
    tail = count - 1
    while tail > 1 and measured.total - _before(measured, items, ends, tail - 1) <= budget:
        tail -= 1
    if shown:
        tail = max(1, min(tail, first_unseen))
    most = _FULLEST * bounds.room if bounds.room else made(tail).after_tokens
    if not shown:
        most = min(most, _FULLEST * bounds.threshold)
    while tail < count - 1 and made(tail).after_tokens > most:
        tail += 1
    return made(tail)


def _shown(measured: Sizes, bounds: Bounds, instruction: str | None, count: int) -> tuple[int, bool]:
    """How many messages the summary can be made from, and whether what answers the last one fits too."""
    if instruction is None:
        return 0, False
    if bounds.room is None:
        return count, True
    need = measured.of(instruction) + bounds.longest_tokens
    if measured.total + need <= bounds.room:
        return count, True
    fitting = [number for number in range(2, count + 1) if measured.upto[number - 1] + need <= bounds.room]
    return (fitting[-1], False) if fitting else (0, False)
