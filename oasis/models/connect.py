"""From settings to a model: find the server or start the engine, infer the dialect, choose the lane.

Whatever was found, chosen or missing is said in `Connection.notes`, a line each.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from oasis.config import Settings
from oasis.engine.llama import LlamaClient
from oasis.errors import ConfigError, DialectFault
from oasis.models.base import Lane, Model


@dataclass
class Connection:
    """A model ready to be asked, and what there is to say about it."""

    model: Model
    notes: list[str] = field(default_factory=list[str])
    engine: Any = None

    async def close(self) -> None:
        await self.model.close()
        if self.engine is not None:
            await self.engine.stop()


async def connect(settings: Settings, lane: Lane | None = None) -> Connection:
    """Connect as the settings say: their server, their model file on the embedded engine, or what is found.

    `lane` None: token ids where the server and the template allow it.
    Raises ConfigError where nothing was found, EngineFault, ServerFault.
    """
    if settings.server:
        return await _to_server(settings.server, settings, lane, [])
    if settings.model:
        return await _to_engine(settings, lane)
    return await _to_found(settings, lane)


async def _to_found(settings: Settings, lane: Lane | None) -> Connection:
    from oasis.models.discover import KNOWN_PORTS, discover  # noqa: PLC0415

    found = await discover()
    if not found:
        ports = ", ".join(str(port) for port in KNOWN_PORTS)
        raise ConfigError(
            f"No model: no server answers on this machine (ports {ports} were tried), and none was named. Start one, "
            "or give --server URL, or give --model FILE.gguf (`oasis models pull smollm2-135m` fetches a very small "
            "one to try)."
        )
    others = "".join(f" Also there: {other.kind} at {other.url}." for other in found[1:])
    return await _to_server(found[0].url, settings, lane, [f"Found {found[0].kind} at {found[0].url}.{others}"])


async def _to_engine(settings: Settings, lane: Lane | None) -> Connection:
    from oasis.engine.embedded import EmbeddedEngine  # noqa: PLC0415
    from oasis.engine.weights import find_model  # noqa: PLC0415

    path = find_model(settings.model)
    engine = await EmbeddedEngine.start(
        path,
        context=settings.context,
        slots=1,
        threads=settings.threads or None,
        checkpoints=settings.checkpoints,
        log=settings.engine_log(),
    )
    try:
        connection = await _to_llama(engine.url, settings, lane, [f"The embedded engine runs {path.name}."])
    except BaseException:
        await engine.stop()
        raise
    connection.engine = engine
    return connection


async def _to_server(url: str, settings: Settings, lane: Lane | None, notes: list[str]) -> Connection:
    from oasis.models.chat import ChatModel  # noqa: PLC0415
    from oasis.models.discover import identify  # noqa: PLC0415

    found = await identify(url, api_key=settings.api_key)
    if found.kind == "llama.cpp":
        return await _to_llama(found.url, settings, lane, notes)
    if lane is Lane.TOKENS:
        raise ConfigError(f"The token lane needs a llama.cpp server; {url} is {found.kind}. Leave out --lane.")
    name = settings.model or next(iter(found.models), "")
    notes.append(
        f"{found.kind} at {found.url}, model {name or 'unnamed'}: chat lane. Its template is not shown, so the reuse "
        "to expect is not known; messages are only ever appended."
    )
    model = ChatModel(
        found.url, name, identity=f"chat {name}", api_key=settings.api_key, context_tokens=settings.context or None
    )
    return Connection(model, notes)


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

    def identity(self, lane: Lane) -> str:
        """Lane, model and template: what has to be the same for a session to go on."""
        return f"{lane} {self.name} {hashlib.sha256(self.template.encode()).hexdigest()[:12]}"


async def _to_llama(url: str, settings: Settings, lane: Lane | None, notes: list[str]) -> Connection:
    client = LlamaClient(url, api_key=settings.api_key)
    try:
        server = await _described(client, url, notes)
        if lane is not Lane.CHAT:
            try:
                return _token_connection(server, notes)
            except DialectFault as fault:
                if lane is Lane.TOKENS:
                    raise
                notes.append(f"Chat lane, since the template's dialect cannot be trusted: {fault}")
    except BaseException:
        await client.aclose()
        raise
    await client.aclose()
    return _chat_connection(server, settings, notes)


async def _described(client: LlamaClient, url: str, notes: list[str]) -> _Llama:
    props = await client.props()
    return _Llama(
        client=client,
        url=url,
        name=Path(str(props.get("model_path") or props.get("model_alias") or "model")).stem,
        template=str(props.get("chat_template") or ""),
        bos=str(props.get("bos_token") or ""),
        eos=str(props.get("eos_token") or ""),
        context=int(props.get("default_generation_settings", {}).get("n_ctx", 0)) or None,
        slot=await _slot(client, props, notes),
    )


async def _slot(client: LlamaClient, props: Mapping[str, Any], notes: list[str]) -> int | None:
    from oasis.engine.slots import choose_slot  # noqa: PLC0415

    if not props.get("endpoint_slots", True):
        notes.append("The server does not show its slots (--no-slots): it chooses one itself, and reuse may suffer.")
        return None
    slot = await choose_slot(client)
    if slot is None:
        notes.append("Every slot of the server is busy: this session waits for others and may lose its cache to them.")
    return slot


def _token_connection(server: _Llama, notes: list[str]) -> Connection:
    from oasis.dialect.check import check  # noqa: PLC0415
    from oasis.dialect.infer import infer  # noqa: PLC0415
    from oasis.models.tokens import TokenModel  # noqa: PLC0415

    if not server.template:
        raise DialectFault("the server shows no chat template.")
    dialect = infer(server.template, server.bos, server.eos)
    check(dialect)
    notes.append(f"{server.name} in the token lane: every token is prefilled once.")
    model = TokenModel(
        server.client,
        dialect,
        name=server.name,
        identity=server.identity(Lane.TOKENS),
        slot=server.slot,
        context_tokens=server.context,
    )
    return Connection(model, notes)


def _chat_connection(server: _Llama, settings: Settings, notes: list[str]) -> Connection:
    from oasis.dialect.check import expected_reuse, kept_history  # noqa: PLC0415
    from oasis.models.chat import ChatModel  # noqa: PLC0415

    kwargs = kept_history(server.template)
    notes.append(f"{server.name} in the chat lane: {expected_reuse(server.template, kwargs).sentence()}")
    extra: dict[str, Any] = {"chat_template_kwargs": kwargs} if kwargs else {}
    if server.slot is not None:
        extra["id_slot"] = server.slot
    model = ChatModel(
        server.url,
        server.name,
        identity=server.identity(Lane.CHAT),
        api_key=settings.api_key,
        extra=extra,
        is_llama=True,
        context_tokens=server.context,
    )
    return Connection(model, notes)
