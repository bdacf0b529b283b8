"""A llama.cpp server: described, its lane chosen, its saved states attached. Whatever was found is said at once."""

import asyncio
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from oasis.config import Settings
from oasis.engine.llama import LlamaClient
from oasis.errors import DialectFault, KvFault, ServerLoading
from oasis.models.base import Lane
from oasis.models.connection import Connection, Say

if TYPE_CHECKING:
    from oasis.kv.runtime import Runtime
    from oasis.kv.store import Store

_LOADING_TRIES = 600
_LOADING_PAUSE_S = 1.0


@dataclass(frozen=True)
class Described:
    """What a server says of itself."""

    client: LlamaClient
    url: str
    name: str
    template: str
    bos: str
    eos: str
    context: int | None
    slot: int | None
    props: Mapping[str, Any]

    def identity(self, lane: Lane) -> str:
        """Lane, model and template: what has to be the same for a session to go on."""
        return f"{lane} {self.name} {hashlib.sha256(self.template.encode()).hexdigest()[:12]}"


@dataclass(frozen=True)
class LlamaServer:
    """The way to a llama.cpp server. `lane` None: token ids where the template allows it."""

    settings: Settings
    lane: Lane | None
    say: Say
    with_kv: bool

    async def connected(self, url: str, store: "Store | None" = None, model: Path | None = None) -> Connection:
        """A llama.cpp server: the token lane where its template's dialect passes, otherwise the chat lane.

        `model` is the file it runs where this process started it, with its slot folder in `store`.
        """
        client = LlamaClient(url, api_key=self.settings.api_key)
        try:
            server = await self._described(client, url)
            if self.lane is not Lane.CHAT:
                try:
                    return await self._tokens(server, store, model)
                except DialectFault as fault:
                    if self.lane is Lane.TOKENS:
                        raise
                    self.say(f"Chat lane, since the template's dialect cannot be trusted: {fault}")
        except BaseException:
            await client.aclose()
            raise
        await client.aclose()
        return self._chat(server)

    async def _described(self, client: LlamaClient, url: str) -> Described:
        props = await self._props(client)
        return Described(
            client=client,
            url=url,
            name=Path(str(props.get("model_path") or props.get("model_alias") or "model")).stem,
            template=str(props.get("chat_template") or ""),
            bos=str(props.get("bos_token") or ""),
            eos=str(props.get("eos_token") or ""),
            context=int(props.get("default_generation_settings", {}).get("n_ctx", 0)) or None,
            slot=await self._slot(client, props),
            props=props,
        )

    async def _props(self, client: LlamaClient) -> dict[str, Any]:
        """The server's properties. A model that is being loaded is waited for, up to ten minutes."""
        tries = 0
        while True:
            try:
                return await client.props()
            except ServerLoading as fault:
                if tries >= _LOADING_TRIES:
                    raise
                if not tries:
                    self.say(f"{fault} Waiting for it, at most ten minutes.")
            tries += 1
            await asyncio.sleep(_LOADING_PAUSE_S)

    async def _slot(self, client: LlamaClient, props: Mapping[str, Any]) -> int | None:
        from oasis.engine.slots import choose_slot  # noqa: PLC0415

        if not props.get("endpoint_slots", True):
            self.say("The server does not show its slots (--no-slots): it chooses one itself, and reuse may suffer.")
            return None
        slot = await choose_slot(client)
        if slot is None:
            self.say("Every slot of the server is busy: this session waits for others and may lose its cache to them.")
        return slot

    async def _tokens(self, server: Described, store: "Store | None", path: Path | None) -> Connection:
        from oasis.dialect.check import check  # noqa: PLC0415
        from oasis.dialect.infer import infer  # noqa: PLC0415
        from oasis.models.tokens import TokenModel  # noqa: PLC0415

        if not server.template:
            raise DialectFault("the server shows no chat template.")
        dialect = infer(server.template, server.bos, server.eos)
        check(dialect)
        self.say(f"{server.name} in the token lane: every token is prefilled once.")
        kv = await self._kv(server, store, path)
        model = TokenModel(
            server.client,
            dialect,
            name=server.name,
            identity=server.identity(Lane.TOKENS),
            slot=server.slot,
            context_tokens=server.context,
            kv=kv,
        )
        return Connection(model, kv=kv)

    def store(self) -> "Store | None":
        """The saved states of this user; None where they are not wanted or cannot be had, which is said."""
        from oasis.kv.store import Store  # noqa: PLC0415

        if not self.with_kv:
            return None
        try:
            return Store(budget_bytes=self.settings.kv_budget)
        except KvFault as fault:
            self.say(str(fault))
            return None

    async def _kv(self, server: Described, store: "Store | None", path: Path | None) -> "Runtime | None":
        from oasis.kv.attach import Own, attach  # noqa: PLC0415

        store = store or self.store()
        if store is None or server.slot is None:
            return None
        own = Own(path, {"checkpoints": self.settings.checkpoints > 0}) if path else None
        return await attach(server.client, server.props, store, own=own, say=self.say)

    def _chat(self, server: Described) -> Connection:
        from oasis.dialect.check import expected_reuse, kept_history  # noqa: PLC0415

        kwargs: dict[str, Any] = {}
        try:
            kwargs = kept_history(server.template)
            expected = expected_reuse(server.template, kwargs).sentence()
        except DialectFault:
            expected = "Its template cannot be read here, so the reuse to expect is not known."
        self.say(f"{server.name} in the chat lane. {expected}")
        extra: dict[str, Any] = {"chat_template_kwargs": kwargs} if kwargs else {}
        if server.slot is not None:
            extra["id_slot"] = server.slot
        from oasis.models.chat import ChatModel  # noqa: PLC0415

        model = ChatModel(
            server.url,
            server.name,
            identity=server.identity(Lane.CHAT),
            api_key=self.settings.api_key,
            extra=extra,
            is_llama=True,
            context_tokens=server.context,
        )
        return Connection(model)
