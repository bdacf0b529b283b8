"""One leased slot: what it holds, filling it from saved states, saving what is in it."""

import asyncio
import json
from collections.abc import Callable, Collection, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial

from filelock import AsyncFileLock

from oasis.engine.llama import LlamaClient
from oasis.errors import KvFault, ServerFault
from oasis.kv.chain import Grown, Segment, key_of, keys_at
from oasis.kv.fingerprint import Fingerprint
from oasis.kv.slots import Lease, Slots
from oasis.kv.store import Store
from oasis.kv.transfer import Diverged, Transfer
from oasis.kv.verify import Verdict, verify
from oasis.kv.worth import Artifact, Kind

_RATE_TOKENS = 32
_APART = 72
"""Tokens after which the engine makes another checkpoint: 64, and what it leaves between that and a prompt's end."""


@dataclass
class Prefilled:
    """What was computed that no reply has told of: tokens of prompt and the milliseconds they took."""

    tokens: int = 0
    ms: float = 0.0


class LeasedSlot:
    """A slot of a server, held by one session; `held` are the ids known to be in it."""

    def __init__(
        self,
        client: LlamaClient,
        store: Store,
        fingerprint: Fingerprint,
        slots: Collection[int],
        *,
        place: str,
        can_save: bool,
        is_windowed: bool,
        say: Callable[[str], None],
    ) -> None:
        self.can_save = can_save
        self.is_windowed = is_windowed
        self.client = client
        self.held: list[int] = []
        self.is_in_doubt = False
        self.promised = 0
        self.prefilled = Prefilled()
        self._measured = Prefilled()
        self._prompted = 0
        self._engine = asyncio.Lock()
        self.lease: Lease | None = None
        self._store = store
        self._fingerprint = fingerprint
        self._all_slots = sorted(slots)
        self._place = place
        self._say = say
        self.on_progress: Callable[[int, int, int], None] = lambda total, cached, done: None
        self._transfer = Transfer(client, store, fingerprint, place)
        self._slots = Slots(store.database, client.base_url)

    async def begin(self) -> bool:
        """Mark the slot as at work; another is leased where this one was taken. False where all are at work.

        Waits for a save that has begun, until the engine has written.
        """
        async with self._engine:
            pass
        if self.lease is not None and self._slots.begin(self.lease):
            return True
        self.lease, self.held = None, []
        if await self.acquire() is None or self.lease is None:
            return False
        return self._slots.begin(self.lease)

    def end(self, session: Grown, prompted: int, undecoded: int) -> None:
        """Mark the slot as idle; the session but for its last `undecoded` tokens is in it.

        The last prompt was the first `prompted` of them.
        """
        self._prompted = prompted
        self.held, self.is_in_doubt = session.ids[: len(session.ids) - undecoded], False
        if self.lease is not None:
            self._slots.end(self.lease, session.data, len(self.held))

    def release(self) -> None:
        """Give the slot back; what it holds stays known."""
        if self.lease is not None:
            self._slots.release(self.lease)
            if not self._place:
                self._slots.forget()
        self.lease = None

    async def acquire(self) -> int | None:
        """Lease a free slot, else the one idle longest, whose state is saved first. None where all are at work."""
        shown = await self.client.slots()
        busy = [slot["id"] for slot in shown if slot.get("is_processing")]
        loss = {slot["id"]: int(slot.get("n_prompt_tokens") or 0) for slot in shown}
        self.lease = self._slots.lease(self._all_slots, busy, loss)
        if self.lease is None:
            return None
        if self.lease.taken_from and self.can_save and loss.get(self.lease.slot):
            await self._save_other(self.lease.taken_from)
        return self.lease.slot

    async def open_head(self, ids: Sequence[int]) -> int:
        """Have the head in the slot: restored, or computed and saved the first time. The tokens now in the slot.

        Sessions that meet a new head at once compute it once.
        """
        async with AsyncFileLock(self._store.folder / f"head-{key_of(ids)[:16]}.lock"):
            known = self._store.exact(self._fingerprint, ids, place=self._place)
            if known and await self._restored(known, ids):
                return known.tokens
            self._say(f"The head of {len(ids):,} tokens is computed and saved, once for this model.")
            await self.prefill(ids)
            try:
                await self._transfer.save(
                    *(self._slot, Kind.HEAD, ids, [Segment(len(ids))]), ms_per_token=self.ms_per_token
                )
            except KvFault as fault:
                self._say(f"The head was not saved, the next session computes it again: {fault}")
        return len(ids)

    async def restore(self, ids: Sequence[int]) -> int:
        """Tokens that `ids` begins with, now in the slot; 0 where nothing is known to be."""
        if self.lease is None and await self.acquire() is None:
            return 0
        if self.held and self.is_in_doubt and not await self._still_holds(self._slot, len(self.held)):
            self.held = []
        if self.held and list(ids[: len(self.held)]) == self.held:
            return len(self.held)
        if found := await self._left_in_a_slot(ids):
            return found
        for artifact in self._store.find(self._fingerprint, ids, place=self._place) if self.can_save else ():
            if await self._restored(artifact, ids):
                return artifact.tokens
        return 0

    async def save(self, ids: Sequence[int], kind: Kind, segments: Sequence[Segment] = ()) -> int:
        """Keep the state of exactly `ids`, computing what of them is not in the slot yet; how many tokens.

        At the end of a message that is the token which closed it. A slot that is ahead of `ids` (a message that was
        cut off) is brought back to it.
        """
        await self._engine.acquire()
        with ExitStack() as stack:
            stack.callback(self._engine.release)
            if self.is_windowed and kind is Kind.SESSION:
                await self._checkpoint(ids)
            elif list(ids) != self.held:
                await self.prefill(ids)
            save = partial(
                self._transfer.save,
                *(self._slot, kind, ids, segments),
                ms_per_token=self.ms_per_token,
                written=stack.close,
            )
            try:
                return await save()
            except Diverged:
                await self.prefill(ids)
                return await save()

    async def _checkpoint(self, ids: Sequence[int]) -> None:
        """Have the slot hold exactly `ids`, with a checkpoint near their end.

        A restored sliding window goes on from a checkpoint only (llama.cpp of autumn 2026 takes the saved window for
        one token too short). One is made near the end of a prompt, unless the last is nearer than 64 tokens: then the
        slot goes back by so many first, which drops that one.
        """
        if self._prompted < len(ids) < self._prompted + _APART and len(ids) > 2 * _APART:
            await self.prefill(ids[: len(ids) - _APART])
        await self.prefill(ids)

    async def prefill(self, ids: Sequence[int]) -> None:
        """Have the slot hold exactly `ids`; `on_progress` is told how far it is. Raises ServerFault."""
        settings = {
            "stream": True,
            "cache_prompt": True,
            "n_predict": 0,
            "id_slot": self._slot,
            "return_progress": True,
        }
        body = json.dumps({"prompt": list(ids), **settings}).encode()
        self.held = []
        async for chunk in self.client.complete(body):
            if progress := chunk.get("prompt_progress"):
                self.on_progress(progress["total"], progress["cache"], progress["processed"])
            if chunk.get("stop"):
                computed, ms = int(chunk["timings"]["prompt_n"]), float(chunk["timings"]["prompt_ms"])
                self.prefilled.tokens += computed
                self.prefilled.ms += ms
                self.learn_rate(computed, ms)
        self.held = list(ids)

    async def verify(self, artifact: Artifact) -> Verdict:
        """See oasis.kv.verify; the slot is empty afterwards."""
        self.held = []
        return await verify(self.client, self._store, self._transfer, artifact, self._slot)

    def saved(self) -> list[Artifact]:
        """The states of this engine's fingerprint and place."""
        return [
            artifact
            for artifact in self._store.all()
            if artifact.fingerprint == self._fingerprint.digest and artifact.place == self._place
        ]

    def learn_rate(self, computed_tokens: int, ms: float) -> None:
        """Remember how long a token takes, from a prefill long enough to tell."""
        if computed_tokens >= _RATE_TOKENS:
            self._measured.tokens += computed_tokens
            self._measured.ms += ms

    @property
    def ms_per_token(self) -> float:
        """What a token of prompt takes to compute, measured here and when the longest head was saved."""
        heads = [a for a in self.saved() if a.kind is Kind.HEAD and a.prefill_ms]
        head = max(heads, key=lambda a: a.tokens, default=None)
        tokens = self._measured.tokens + (head.tokens if head else 0)
        return (self._measured.ms + (head.prefill_ms if head else 0.0)) / max(1, tokens)

    @property
    def bytes_per_token(self) -> float:
        """What a token takes on disk, by the states saved so far; 0 where there is none."""
        return max((a.bytes / a.tokens for a in self.saved() if a.tokens), default=0.0)

    @property
    def _slot(self) -> int:
        if self.lease is None:
            raise KvFault("Every slot of the server is at work; nothing was saved or restored.")
        return self.lease.slot

    async def _restored(self, artifact: Artifact, ids: Sequence[int]) -> bool:
        """Restore one state; what came of it is counted and, where it went wrong, said."""
        self.held = []
        if not await self._transfer.restore(self._slot, artifact):
            self._store.count("unusable")
            self._say(
                f"The saved {artifact.kind} state of {artifact.tokens:,} tokens could not be used and was dropped. "
                "What it held is computed again."
            )
            return False
        self._store.count("restores")
        self._store.count("promised_tokens", artifact.tokens)
        self._store.count("prefill_ms_saved", artifact.prefill_ms)
        self.held, self.promised = list(ids[: artifact.tokens]), artifact.tokens
        lost = len(ids) - artifact.tokens
        if artifact.kind is Kind.SESSION:
            self._say(f"Restored {artifact.tokens:,} of {len(ids):,} tokens; the {lost:,} since are computed.")
        return True

    async def _save_other(self, session: Sequence[int]) -> None:
        """Save the session whose slot was taken, as it would have been saved by its own process."""
        own = Prefilled(self.prefilled.tokens, self.prefilled.ms)
        self._prompted = len(session) - 1
        try:
            await self.save(session, Kind.SESSION)
        except (KvFault, ServerFault) as fault:
            self._say(f"The session whose slot was taken could not be saved and will be computed again: {fault}")
        self.held, self.prefilled = [], own

    async def _left_in_a_slot(self, ids: Sequence[int]) -> int:
        """Go over to a free slot that still holds a beginning of `ids`; its tokens, 0 where there is none."""
        left = [held for held in self._slots.free_with() if held.tokens < len(ids) and held.slot in self._all_slots]
        keys = keys_at(ids, {held.tokens for held in left})
        for held in left:
            if keys[held.tokens] != held.key or not await self._still_holds(held.slot, held.tokens):
                continue
            if lease := self._slots.take(held.slot):
                self.release()
                self.lease, self.held = lease, list(ids[: held.tokens])
                self._slots.begin(lease)
                return held.tokens
        return 0

    async def _still_holds(self, slot: int, tokens: int) -> bool:
        """Does the server show at least as many tokens in the slot? It may have begun anew."""
        shown = {s["id"]: s for s in await self.client.slots()}
        return slot in shown and int(shown[slot].get("n_prompt_tokens") or 0) >= tokens
