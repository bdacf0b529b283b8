"""What a session uses: a slot of its own, the longest saved state its prompt extends, its state saved in idle time."""

import asyncio
from collections.abc import Callable, Collection, Generator, Sequence
from contextlib import contextmanager, suppress

from oasis.engine.llama import LlamaClient
from oasis.errors import KvFault, ServerFault
from oasis.kv.chain import Grown, Segment
from oasis.kv.fingerprint import Fingerprint
from oasis.kv.leased import LeasedSlot, Prefilled
from oasis.kv.store import Store
from oasis.kv.verify import Verdict
from oasis.kv.watch import check_sources, watch
from oasis.kv.worth import Artifact, Kind

IDLE_S = 15.0
MISS_TOKENS = 16
"""A restore that leads to so much less reuse than it promised is a miss."""
_EXIT_LIMIT_S = 60.0
_IDLE_BYTES_PER_S = 100e6


class Runtime:
    """The KV runtime of one session on one llama.cpp server.

    No fault in saving or restoring ends a session: it is said, and the engine computes what it must.
    """

    def __init__(
        self,
        client: LlamaClient,
        store: Store,
        fingerprint: Fingerprint,
        *,
        slots: Collection[int],
        place: str = "",
        can_save: bool = True,
        is_windowed: bool = False,
        idle_s: float = IDLE_S,
        say: Callable[[str], None] = lambda _: None,
    ) -> None:
        """`slots`: ids of the server's slots. `place`: see Store. `idle_s`: a session idle for so long is saved.

        Without `can_save` there are leases only. `is_windowed`: the model attends to a sliding window.
        """
        self.store = store
        self._say = say
        self._idle_s = idle_s
        self._leased = LeasedSlot(
            client, store, fingerprint, slots, place=place, can_save=can_save, is_windowed=is_windowed, say=say
        )
        self._is_answered = True
        self._prompt = Grown()
        self._session: list[int] = []
        self._saved: list[int] = []
        self._idle: asyncio.Task[None] | None = None
        self._saving: asyncio.Task[None] | None = None
        self._one_save = asyncio.Lock()
        self._stop = asyncio.Event()
        self._watching: asyncio.Task[None] | None = None

    @property
    def slot(self) -> int | None:
        """The slot this session holds; None while it has none."""
        return self._leased.lease.slot if self._leased.lease else None

    @property
    def held_tokens(self) -> int:
        """Tokens known to be in the slot."""
        return len(self._leased.held)

    async def open(self) -> int | None:
        """Lease a slot, and begin to watch files whose text is in saved states. None where all slots are at work."""
        with self._forgiven("No slot was leased"):
            check_sources(self.store)
            if self.store.sources():
                self._watching = asyncio.create_task(watch(self.store, self._stop))
            return await self._leased.acquire()
        return None

    async def open_head(self, ids: Sequence[int]) -> int:
        """Have the head in the slot: restored, or computed and saved the first time. The tokens now in the slot."""
        with self._forgiven("The head was not opened"):
            return await self._leased.open_head(ids)
        return 0

    async def restore(self, ids: Sequence[int]) -> int:
        """Tokens that `ids` begins with, now in the slot; 0 where nothing is known to be.

        What the slot holds stays where `ids` extends it; else the longest saved state that `ids` strictly extends
        is restored.
        """
        with self._forgiven("Nothing was restored"):
            return await self._leased.restore(ids)
        return 0

    async def save(self, ids: Sequence[int], kind: Kind, segments: Sequence[Segment] = ()) -> int:
        """Keep the state of exactly `ids`, computing what of them the slot does not hold; how many tokens were kept.

        `segments`: where text of files stands in it.
        """
        if not self._leased.can_save:
            return 0
        with self._forgiven("The state was not saved"):
            return await self._leased.save(ids, kind, segments)
        return 0

    async def ready(self, wire: bytes, head_tokens: int) -> int | None:
        """Before a request: the slot to use, holding as much of the prompt as can be had. None: the server chooses.

        `wire`: the prompt's ids as a Transcript writes them; the first `head_tokens` of them are the head.
        """
        self._rest()
        with self._forgiven("Nothing was restored"):
            if not await self._leased.begin():
                return None
            ids, was_answered = self._prompt.follow(wire), self._is_answered
            self._leased.is_in_doubt, self._is_answered = not was_answered, False
            if await self._leased.restore(ids) < head_tokens < len(ids) and self._leased.can_save:
                await self._leased.open_head(ids[:head_tokens])
        return self.slot

    def done(self, wire: bytes, undecoded: int, *, cached_tokens: int, computed_tokens: int, prefill_ms: float) -> None:
        """After a message: the slot holds `wire` but for its last `undecoded` tokens.

        Of the prompt so many tokens were reused and computed.
        """
        promised, self._leased.promised = self._leased.promised, 0
        self._leased.learn_rate(computed_tokens, prefill_ms)
        with self._forgiven("Nothing was counted"):
            if promised:
                self.store.count("reused_tokens", min(promised, cached_tokens))
            if cached_tokens < promised - MISS_TOKENS:
                self.store.count("misses")
                self._say(
                    f"A miss: a restored state of {promised:,} tokens led to {cached_tokens:,} reused. The engine "
                    "computed the rest again; `oasis kv verify` tries the saved states."
                )
        self.left(wire, undecoded, cached_tokens + computed_tokens)

    def left(self, wire: bytes, undecoded: int = 0, prompted: int = 0) -> None:
        """The slot is idle; it holds `wire` but for the last `undecoded`, or more where a message was cut off.

        The last prompt was the first `prompted` of its tokens, where that is known.
        """
        self._session, self._is_answered = self._prompt.follow(wire), True
        with self._forgiven("The lease was not kept up"):
            self._leased.end(self._prompt, prompted, undecoded)
        self._rest()
        self._idle = asyncio.create_task(self._save_when_idle())

    async def verify(self, artifact: Artifact) -> Verdict:
        """Compare a saved state's continuation with a cold one, in this session's slot. Raises KvFault, ServerFault."""
        return await self._leased.verify(artifact)

    def saved(self) -> list[Artifact]:
        """The states that this engine can use."""
        return self._leased.saved()

    def tell_progress(self, to: Callable[[int, int, int], None]) -> None:
        """Tell `to` how far a prefill beside any message is: tokens in all, reused, done."""
        self._leased.on_progress = to

    def take_prefilled(self) -> Prefilled:
        """What was computed beside any message, told once."""
        told, self._leased.prefilled = self._leased.prefilled, Prefilled()
        return told

    async def close(self) -> None:
        """Save the session and give the slot back. The server has to be there still."""
        self._rest()
        self._stop.set()
        if self._watching is not None:
            self._watching.cancel()
            with suppress(asyncio.CancelledError):
                await self._watching
        try:
            async with asyncio.timeout(_EXIT_LIMIT_S):
                await self._save_session()
        except TimeoutError:
            self._say("The session's state took too long to save; a resume computes its prompt again.")
        with self._forgiven("The slot was not given back"):
            self._leased.release()
        self.store.close()

    def _rest(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
            self._idle = None

    async def _save_when_idle(self) -> None:
        """Save after some idle time, the more of it the more there is to write."""
        await asyncio.sleep(self._idle_s + self._leased.bytes_per_token * len(self._session) / _IDLE_BYTES_PER_S)
        self._saving = asyncio.create_task(self._save_session())
        await asyncio.shield(self._saving)

    async def _save_session(self) -> None:
        """Save the session, once for each new message."""
        async with self._one_save:
            session = self._session
            if self._leased.lease is not None and session != self._saved and await self.save(session, Kind.SESSION):
                self._saved = session

    @contextmanager
    def _forgiven(self, what: str) -> Generator[None]:
        """A fault within is said, and what follows is done without the runtime."""
        try:
            yield
        except (KvFault, ServerFault, OSError) as fault:
            self._say(f"{what}; the engine computes what it must. {fault}")
