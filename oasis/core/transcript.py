"""The transcript: append-only by construction.

Items are frozen. Each is encoded once, with the others of its batch, when the next request is made;
a request is the head's bytes followed by the chunks'. There is no insert, replace or remove, and a model
only accepts a request that a transcript made.
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
    of the model's message before it where that was sampled but never decoded. None where the lane does not see tokens.
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
        if self._pending or not self._chunks:
            raise ValueError("a message of the model answers a request; no request carries the items before it")
        self._items.append(item)
        sees_tokens = self._chunks[0].tokens is not None
        self._add(Chunk(item.wire, (item.wire.count(b",") + 1 if item.wire else 0) if sees_tokens else None))
        if sees_tokens and item.wire:
            self._new_tokens = item.undecoded

    def seal(self, chunk: Chunk) -> None:
        """Take over an encoded chunk: the head first, then one for all items pending.

        `request` does this; a session that is read back does it with the chunks it kept.
        """
        if self._chunks:
            self._pending.clear()
        self._add(chunk)
        if self._new_tokens is not None:
            self._new_tokens = None if chunk.tokens is None else self._new_tokens + chunk.tokens

    async def request(self) -> Request:
        """Encode what is pending and give the whole prompt. Twice in a row gives the same request."""
        if not self._chunks:
            self.seal(await self._encoder.head(self.prefix))
        if self._pending:
            new = self.pending
            history = self._items[: len(self._items) - len(new)]
            self.seal(await self._encoder.batch(self.prefix, history, new))
        return Request(self.prefix, self.epoch, self.chunks, self._new_tokens, self.digest, _MADE_HERE)

    def _add(self, chunk: Chunk) -> None:
        self._chunks.append(chunk)
        self._digest.update(chunk.wire)
