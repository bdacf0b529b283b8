"""The transcript: append-only by construction.

Items are frozen. Each is encoded once, with the others of its batch, when the next request is made;
a request is the head's bytes followed by the chunks'. There is no insert, replace or remove, and a model
only accepts a request that a transcript made. A compaction does not change a transcript: `next_epoch` begins
another one behind the same head.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from oasis.core.items import Assistant, Item, NewItem
from oasis.core.prefix import Prefix

_MADE_HERE = object()


@dataclass(frozen=True, slots=True)
class Chunk:
    """A run of the prompt, encoded once.

    `wire` is comma-separated token ids (token lane) or comma-separated message objects (chat lane).
    `tokens` counts the ids; None where the lane does not see tokens.
    """

    wire: bytes
    tokens: int | None


class Encoder(Protocol):
    """How a lane writes a prompt. Calls are ordered: the head once, then each batch once."""

    async def head(self, prefix: Prefix) -> Chunk:
        """The part of the prompt that is the same for every conversation with this prefix."""
        ...

    async def batch(self, prefix: Prefix, history: Sequence[Item], new: Sequence[NewItem]) -> Chunk:
        """Everything from the end of the model's last message to where it writes the next one.

        `history` is all before `new`; it is empty for the first batch, otherwise its last item is an Assistant.
        """
        ...


@dataclass(frozen=True, slots=True)
class Request:
    """One prompt, made by a Transcript.

    `new_tokens` counts what this request adds by identity: the head once, the new chunk, and the last token
    of the model's message before it where that was sampled but never decoded. In a later epoch's first request it is
    everything but the head. None where the lane does not see tokens.
    """

    prefix: Prefix
    epoch: int
    chunks: tuple[Chunk, ...]
    new_tokens: int | None
    digest: str
    made_by: object = field(repr=False)

    def __post_init__(self) -> None:
        if self.made_by is not _MADE_HERE:
            raise TypeError("a Request is made by Transcript.request() only")

    @property
    def wire(self) -> bytes:
        return b",".join(chunk.wire for chunk in self.chunks if chunk.wire)

    @property
    def tokens(self) -> int | None:
        """Prompt tokens presented; None where the lane does not see tokens."""
        counts = [chunk.tokens for chunk in self.chunks]
        return None if None in counts else sum(count or 0 for count in counts)


class Transcript:
    """One epoch of a conversation: a prefix and the items since."""

    def __init__(self, prefix: Prefix, encoder: Encoder, epoch: int = 0) -> None:
        self.prefix = prefix
        self.epoch = epoch
        self._encoder = encoder
        self._items: list[Item] = []
        self._pending: list[NewItem] = []
        self._chunks: list[Chunk] = []
        self._ends: list[tuple[int, int]] = []
        self._new_since_end: int | None = 0
        self._digest = hashlib.sha256(prefix.wire)
        self._new_tokens: int | None = 0

    @property
    def items(self) -> tuple[Item, ...]:
        return tuple(self._items)

    @property
    def pending(self) -> tuple[NewItem, ...]:
        """Items that no request has carried yet."""
        return tuple(self._pending)

    @property
    def chunks(self) -> tuple[Chunk, ...]:
        return tuple(self._chunks)

    @property
    def ends(self) -> tuple[tuple[int, int], ...]:
        """For each message of the model: how many items and how many chunks there are up to its end."""
        return tuple(self._ends)

    @property
    def digest(self) -> str:
        """Rolling digest of everything encoded so far."""
        return self._digest.hexdigest()

    @property
    def is_unanswered(self) -> bool:
        """Was a request made that no message of the model answers yet?"""
        return len(self._chunks) > 1 and not self._pending and not isinstance(self._items[-1], Assistant)

    def append(self, item: Item) -> None:
        """Add one item at the end.

        Raises ValueError for a message of the model that answers no request.
        """
        if not isinstance(item, Assistant):
            self._pending.append(item)
            self._items.append(item)
            return
        new_tokens = item.undecoded if item.wire and self._sees_tokens else self._new_tokens
        self._add_message(item)
        self._new_tokens = self._new_since_end = new_tokens

    def keep(self, item: Item) -> None:
        """Add one item of the epoch before. A message of the model is not in the KV cache here: all of it is new."""
        if not isinstance(item, Assistant):
            self.append(item)
            return
        self._add_message(item)
        self._count(self._chunks[-1])
        self._new_since_end = self._new_tokens

    def seal(self, chunk: Chunk) -> None:
        """Take over an encoded chunk: the head first, then one for all items pending.

        `request` does this; a session that is read back does it with the chunks it kept. The head of a later epoch
        is not new again.
        """
        is_head = not self._chunks
        if not is_head:
            self._pending.clear()
        self._add(chunk)
        if is_head and self.epoch and chunk.tokens is not None:
            return
        self._count(chunk)

    async def request(self) -> Request:
        """Encode what is pending and give the whole prompt. Twice in a row gives the same request."""
        await self._encode()
        return Request(self.prefix, self.epoch, self.chunks, self._new_tokens, self.digest, _MADE_HERE)

    def branch(self, messages: int) -> "Transcript":
        """A transcript of its own that goes on after the first `messages` messages of the model.

        Its prompt extends what the KV cache holds of this one up to there.
        """
        items, chunks = self._ends[messages - 1]
        branch = Transcript(self.prefix, self._encoder, self.epoch)
        branch._items, branch._ends = self._items[:items], self._ends[:messages]
        for chunk in self._chunks[:chunks]:
            branch._add(chunk)
        is_last = messages == len(self._ends)
        branch._new_tokens = self._new_since_end if is_last else 0 if self._sees_tokens else None
        branch._new_since_end = branch._new_tokens
        return branch

    async def next_epoch(self, seed: Sequence[Item], prefix: Prefix | None = None) -> "Transcript":
        """The transcript that goes on in place of this one: the same head, or that of `prefix`, then `seed`.

        Another head is new. What follows the last message of the model in `seed` is pending there. Each batch is
        encoded anew; messages of the model keep their wire.
        """
        head = prefix or self.prefix
        is_same = head.digest == self.prefix.digest
        after = Transcript(head, self._encoder, self.epoch + 1 if is_same else 0)
        after.seal(self._chunks[0] if self._chunks and is_same else await self._encoder.head(head))
        after.epoch = self.epoch + 1
        for item in seed:
            if isinstance(item, Assistant):
                await after._encode()
            after.keep(item)
        return after

    @property
    def _sees_tokens(self) -> bool:
        return bool(self._chunks) and self._chunks[0].tokens is not None

    async def _encode(self) -> None:
        if not self._chunks:
            self.seal(await self._encoder.head(self.prefix))
        if self._pending:
            new = self.pending
            history = self._items[: len(self._items) - len(new)]
            self.seal(await self._encoder.batch(self.prefix, history, new))

    def _add_message(self, message: Assistant) -> None:
        if self._pending or not self._chunks:
            raise ValueError("a message of the model answers a request; no request carries the items before it")
        self._items.append(message)
        ids = message.wire.count(b",") + 1 if message.wire else 0
        self._add(Chunk(message.wire, ids if self._sees_tokens else None))
        self._ends.append((len(self._items), len(self._chunks)))

    def _add(self, chunk: Chunk) -> None:
        self._chunks.append(chunk)
        self._digest.update(chunk.wire)

    def _count(self, chunk: Chunk) -> None:
        if self._new_tokens is not None:
            self._new_tokens = None if chunk.tokens is None else self._new_tokens + chunk.tokens
