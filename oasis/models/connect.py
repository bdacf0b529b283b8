"""From settings to a model: find the server or start the engine, infer the dialect, choose the lane.

Whatever was found, chosen or missing is said at once, a line each.
"""

import asyncio
import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from oasis.config import Settings
from oasis.engine.llama import LlamaClient
from oasis.errors import ConfigError, DialectFault, KvFault, ServerLoading
from oasis.models.base import Lane, Model

if TYPE_CHECKING:
    from oasis.engine.embedded import EmbeddedEngine
    from oasis.kv.runtime import Runtime
    from oasis.kv.store import Store

Say = Callable[[str], None]

_LOADING_TRIES = 600
_LOADING_PAUSE_S = 1.0


@dataclass
class Connection:
    """A model ready to be asked, and the engine that was started for it.

    `kv` saves and restores what the engine holds; None where that was not asked for or cannot be.
    """

    model: Model
    engine: "EmbeddedEngine | None" = None
    kv: "Runtime | None" = None

    def is_gone(self) -> bool:
        """Has the engine that was started for it ended?"""
        return self.engine is not None and not self.engine.is_running

    async def close(self) -> None:
        """Save the session's state where there is a KV runtime; end the engine where one was started."""
        try:
            if self.kv is not None:
                await self.kv.close()
        finally:
            await self.model.close()
            if self.engine is not None:
                await self.engine.stop()


def unheard(text: str) -> None:
    """For a caller that shows nothing of what is said."""


async def connect(
    settings: Settings, lane: Lane | None = None, say: Say = unheard, *, with_kv: bool = False
) -> Connection:
    """Connect as the settings say: their server, their model file on the embedded engine, or what is found.

    `lane` None: token ids where the server and the template allow it. `with_kv`: save and restore what the engine
    holds, unless the settings turn that off.
    Raises ConfigError where nothing was found, EngineFault, ServerFault.
    """
    search = _Search(settings, lane, say, with_kv and settings.kv)
    if settings.server:
        return await search.server(settings.server)
    if settings.model:
        return await search.engine()
    return await search.machine()


@dataclass(frozen=True)
class _Llama:
    """A llama.cpp server as it describes itself."""

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
class _Search:
    """One search for a model; every finding is said."""

    settings: Settings
    lane: Lane | None
    say: Say
    with_kv: bool = False

    async def machine(self) -> Connection:
        """The first server that answers on this machine."""
        from oasis.models.discover import KNOWN_PORTS, discover  # noqa: PLC0415

        found = await discover()
        if not found:
            ports = ", ".join(str(port) for port in KNOWN_PORTS)
            raise ConfigError(
                f"No model: no server answers on this machine (ports {ports} were tried), and none was named. Start "
                "one, or give --server URL, or give --model FILE.gguf (`oasis models pull smollm2-135m` fetches a very "
                "small one to try)."
            )
        others = "".join(f" Also there: {other.kind} at {other.url}." for other in found[1:])
        self.say(f"Found {found[0].kind} at {found[0].url}.{others}")
        return await self.server(found[0].url)

    async def engine(self) -> Connection:
        """The embedded engine with the model file of the settings."""
        from oasis.engine.embedded import EmbeddedEngine  # noqa: PLC0415
        from oasis.engine.weights import find_model  # noqa: PLC0415

        path = find_model(self.settings.model)
        store = self._store()
        engine = await EmbeddedEngine.start(
            path,
            context=self.settings.context,
            slots=1,
            threads=self.settings.threads or None,
            checkpoints=self.settings.checkpoints,
            slot_dir=store.slots if store else None,
            log=self.settings.engine_log(),
        )
        try:
            self.say(f"The embedded engine runs {path.name}.")
            connection = await self.llama(engine.url, store, path)
        except BaseException:
            await engine.stop()
            raise
        if store is not None and connection.kv is None:
            store.close()
        connection.engine = engine
        return connection

    async def server(self, url: str) -> Connection:
        """The server at `url`, whatever kind it is."""
        from oasis.models.discover import identify  # noqa: PLC0415

        found = await identify(url, api_key=self.settings.api_key)
        if found.kind == "llama.cpp":
            return await self.llama(found.url)
        if self.lane is Lane.TOKENS:
            raise ConfigError(f"The token lane needs a llama.cpp server; {url} is {found.kind}. Leave out --lane.")
        name = self.settings.model or next(iter(found.models), "")
        self.say(
            f"{found.kind} at {found.url}, model {name or 'unnamed'}: chat lane. Its template is not shown, so the "
            "reuse to expect is not known; messages are only ever appended."
        )
        return Connection(self._chat_model(found.url, name, f"{Lane.CHAT} {name}", self.settings.context or None))

    async def llama(self, url: str, store: "Store | None" = None, model: Path | None = None) -> Connection:
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

    async def _described(self, client: LlamaClient, url: str) -> _Llama:
        props = await self._props(client)
        return _Llama(
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

    async def _tokens(self, server: _Llama, store: "Store | None", path: Path | None) -> Connection:
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

    def _store(self) -> "Store | None":
        """The saved states of this user; None where they are not wanted or cannot be had, which is said."""
        from oasis.kv.store import Store  # noqa: PLC0415

        if not self.with_kv:
            return None
        try:
            return Store(budget_bytes=self.settings.kv_budget)
        except KvFault as fault:
            self.say(str(fault))
            return None

    async def _kv(self, server: _Llama, store: "Store | None", path: Path | None) -> "Runtime | None":
        from oasis.kv.attach import Own, attach  # noqa: PLC0415

        store = store or self._store()
        if store is None or server.slot is None:
            return None
        own = Own(path, {"checkpoints": self.settings.checkpoints > 0}) if path else None
        return await attach(server.client, server.props, store, own=own, say=self.say)

    def _chat(self, server: _Llama) -> Connection:
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
        return Connection(
            self._chat_model(server.url, server.name, server.identity(Lane.CHAT), server.context, extra, is_llama=True)
        )

    def _chat_model(
        self,
        url: str,
        name: str,
        identity: str,
        context: int | None,
        extra: Mapping[str, Any] | None = None,
        *,
        is_llama: bool = False,
    ) -> Model:
        from oasis.models.chat import ChatModel  # noqa: PLC0415

        return ChatModel(
            url,
            name,
            identity=identity,
            api_key=self.settings.api_key,
            extra=extra,
            is_llama=is_llama,
            context_tokens=context,
        )
