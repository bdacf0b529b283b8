"""From settings to a model: find the server, or start the engine. A llama.cpp server's lane is llama_server.py's.

Whatever was found, chosen or missing is said at once, a line each.
"""

from dataclasses import dataclass

from oasis.config import Settings
from oasis.errors import ConfigError
from oasis.models.base import Lane
from oasis.models.connection import Connection, Say
from oasis.models.llama_server import LlamaServer


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
    search = _Search(settings, lane, say, LlamaServer(settings, lane, say, with_kv and settings.kv))
    if settings.server:
        return await search.server(settings.server)
    if settings.model:
        return await search.engine()
    return await search.machine()


@dataclass(frozen=True)
class _Search:
    """One search for a model; every finding is said."""

    settings: Settings
    lane: Lane | None
    say: Say
    llama: LlamaServer

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
        store = self.llama.store()
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
            connection = await self.llama.connected(engine.url, store, path)
        except BaseException:
            await engine.stop()
            raise
        if store is not None and connection.kv is None:
            store.close()
        connection.engine = engine
        return connection

    async def server(self, url: str) -> Connection:
        """The server at `url`, whatever kind it is."""
        from oasis.models.chat import ChatModel  # noqa: PLC0415
        from oasis.models.discover import identify  # noqa: PLC0415

        found = await identify(url, api_key=self.settings.api_key)
        if found.kind == "llama.cpp":
            return await self.llama.connected(found.url)
        if self.lane is Lane.TOKENS:
            raise ConfigError(f"The token lane needs a llama.cpp server; {url} is {found.kind}. Leave out --lane.")
        name = self.settings.model or next(iter(found.models), "")
        self.say(
            f"{found.kind} at {found.url}, model {name or 'unnamed'}: chat lane. Its template is not shown, so the "
            "reuse to expect is not known; messages are only ever appended."
        )
        model = ChatModel(
            found.url,
            name,
            identity=f"{Lane.CHAT} {name}",
            api_key=self.settings.api_key,
            context_tokens=self.settings.context or None,
        )
        return Connection(model)
