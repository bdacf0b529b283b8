"""Between a slot of the engine and the store: a state is written, checked and kept, or checked and restored."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from oasis.engine.llama import LlamaClient
from oasis.errors import KvFault, ServerFault, ServerUnreachable
from oasis.kv.chain import Segment, key_of
from oasis.kv.fingerprint import Fingerprint
from oasis.kv.state_file import digest_of, ids_in
from oasis.kv.store import Store
from oasis.kv.worth import Artifact, Kind

_RING = {Kind.HEAD: 2, Kind.FILES: 2, Kind.SESSION: 4}
"""How many file names are used on a server whose slot folder is not seen, by kind."""


class Diverged(KvFault):
    """The slot holds something else than what the session sent and received; `ids` are what it holds."""

    def __init__(self, ids: Sequence[int]) -> None:
        super().__init__("The slot holds something else than this session; its state was not kept.")
        self.ids = ids


@dataclass(frozen=True)
class Transfer:
    """States of one engine. `place` "": its slot folder is the store's; else a server whose folder is not seen."""

    client: LlamaClient
    store: Store
    fingerprint: Fingerprint
    place: str = ""

    async def save(
        self,
        slot: int,
        kind: Kind,
        ids: Sequence[int],
        segments: Sequence[Segment] = (),
        *,
        ms_per_token: float = 0.0,
        written: Callable[[], None] = lambda: None,
    ) -> int:
        """Keep what the slot holds, which should be `ids` or a beginning of it; how many tokens that is.

        `written` is called when the engine has done its part and the slot may be used again.

        Raises Diverged, KvFault (no room, a write that was cut short), ServerUnreachable.
        """
        if not self.place:
            self._make_room(len(ids))
        artifact = self.store.begin(kind, self.fingerprint, place=self.place, name=self._ring_name(kind))
        is_kept = False
        try:
            name = artifact if self.place else self.store.part(artifact).name
            answer = await self.client.save(slot, name)
            tokens, size = int(answer.get("n_saved") or 0), int(answer.get("n_written") or 0)
            held = await self._held(artifact, tokens, size, ids)
            written()
            digest = "" if self.place else await asyncio.to_thread(digest_of, self.store.part(artifact))
            within = [segment for segment in segments if segment.end <= tokens]
            self.store.finish(artifact, held, within, size=size, digest=digest, prefill_ms=tokens * ms_per_token)
            is_kept = True
        except ServerUnreachable:
            raise
        except ServerFault as fault:
            raise KvFault(f"The engine did not save slot {slot}. Is the disk full? {fault}") from fault
        except OSError as error:
            raise KvFault(f"The state in slot {slot} was not kept: {error.strerror}. Is the disk full?") from error
        finally:
            if not is_kept:
                with suppress(KvFault):  # the fault that led here is the one to tell
                    self.store.abandon(artifact)
        self._tidy(artifact, held, kind)
        return tokens

    async def restore(self, slot: int, artifact: Artifact) -> bool:
        """Fill the slot from a saved state. False, with the slot empty and the state dropped, where it cannot be used.

        Raises ServerUnreachable.
        """
        if not self.place and not await asyncio.to_thread(self.is_whole, artifact):
            self.store.remove(artifact)
            self.store.count("damaged")
            return False
        try:
            answer = await self.client.restore(slot, artifact.file_name)
            if int(answer.get("n_restored") or 0) == artifact.tokens:
                self.store.used(artifact)
                return True
        except ServerUnreachable:
            raise
        except ServerFault:
            pass
        self.store.remove(artifact)
        with suppress(ServerFault):  # an old server has no erase; its own comparison of tokens decides what is reused
            await self.client.erase(slot)
        return False

    def is_whole(self, artifact: Artifact) -> bool:
        """Is the file the one that was saved: size and digest, and do the ids in it have the row's key?"""
        path = self.store.path(artifact)
        try:
            if path.stat().st_size != artifact.bytes or digest_of(path) != artifact.digest:
                return False
            ids = ids_in(path, artifact.tokens)
        except OSError:
            return False
        return ids is not None and key_of(ids) == artifact.key

    async def _held(self, artifact: str, tokens: int, size: int, ids: Sequence[int]) -> Sequence[int]:
        """The ids of a state just written; those in the file itself where it is seen."""
        if self.place:
            if not 0 < tokens <= len(ids):
                raise Diverged(())
            return ids[:tokens]
        part = self.store.part(artifact)
        if not tokens or part.stat().st_size != size:
            raise KvFault("The engine wrote less than the whole state; nothing of it is kept. Is the disk full?")
        held = await asyncio.to_thread(ids_in, part, tokens)
        if held is None:
            raise KvFault("The engine writes states in a form that Oasis does not know; they are not kept.")
        if list(ids[:tokens]) != held:
            raise Diverged(held)
        return held

    def _make_room(self, tokens: int) -> None:
        """Drop what is worth least until the state fits, judged by the largest state for each token so far."""
        same = [a for a in self.store.all() if a.fingerprint == self.fingerprint.digest and not a.place and a.tokens]
        needed = max((a.bytes * tokens // a.tokens for a in same), default=0)
        self.store.make_room(needed)
        if not self.store.has_room(needed):
            raise KvFault(
                f"A state of about {needed >> 20} MiB does not fit the budget or the disk; it is not saved. "
                "Make room, or set kv_budget in your oasis.toml."
            )

    def _ring_name(self, kind: Kind) -> str:
        """On a server whose folder is not seen: a name never used, else that of the state not used for longest."""
        if not self.place:
            return ""
        stem = f"oasis-{self.store.identity}-{self.fingerprint.digest[:8]}-{kind}"
        names = [f"{stem}-{n}.bin" for n in range(_RING[kind])]
        used = {a.id: a for a in self.store.all() if a.place == self.place}
        return min(names, key=lambda name: used[name].last_use if name in used else -1.0)

    def _tidy(self, artifact: str, ids: Sequence[int], kind: Kind) -> None:
        if kind is Kind.SESSION:
            self.store.superseded(artifact, ids)
        if not self.place:
            self.store.make_room()
