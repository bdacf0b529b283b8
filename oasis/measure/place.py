"""An engine with a store of saved states in a folder of its own, for a measurement."""

from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil

from oasis.agent.session import Session
from oasis.config import Settings
from oasis.core.prefix import Prefix
from oasis.core.transcript import Request
from oasis.dialect.infer import infer
from oasis.engine.embedded import EmbeddedEngine
from oasis.engine.llama import LlamaClient
from oasis.engine.weights import find_model
from oasis.errors import KvFault
from oasis.kv.attach import Own, attach
from oasis.kv.store import Store
from oasis.measure.fit import prefill
from oasis.models.base import Model
from oasis.models.tokens import TokenModel


@dataclass
class Place:
    """An engine with a store of saved states, which both may be stopped and started again."""

    path: Path
    folder: Path
    prefix: Prefix
    slots: int = 1
    checkpoints: int = 32
    context: int = 0
    threads: int | None = None
    engine: EmbeddedEngine | None = None
    said: list[str] = field(default_factory=list[str])

    async def start(self) -> None:
        """Start the engine, with what was saved before at hand."""
        self.engine = await EmbeddedEngine.start(
            self.path,
            log=self.folder / "engine.log",
            context=self.context,
            slots=self.slots,
            threads=self.threads,
            checkpoints=self.checkpoints,
            slot_dir=self.folder / "kv" / "slots",
        )

    async def stop(self) -> None:
        if self.engine is not None:
            await self.engine.stop()

    async def kill(self) -> None:
        """End the engine's process as a power cut would."""
        if self.engine is not None:
            process = psutil.Process(self.engine.pid)
            process.kill()
            await self.engine.stop()

    @property
    def url(self) -> str:
        if self.engine is None:
            raise KvFault("The engine of this measurement is not running.")
        return self.engine.url

    @asynccontextmanager
    async def model(self) -> AsyncGenerator[TokenModel]:
        """A model whose slot is leased from the store, as a session has it; at the end its state is saved."""
        client = LlamaClient(self.url)
        props = await client.props()
        dialect = infer(str(props["chat_template"]), str(props["bos_token"]), str(props["eos_token"]))
        own = Own(self.path, {"checkpoints": self.checkpoints > 0})
        kv = await attach(client, props, Store(self.folder / "kv"), own=own, say=self.said.append)
        if kv is None:
            raise KvFault(f"No slot could be leased: {' '.join(self.said[-1:])}")
        context = int(props["default_generation_settings"]["n_ctx"])
        model = TokenModel(client, dialect, name="bench", identity="bench", kv=kv, context_tokens=context)
        try:
            yield model
        finally:
            await kv.close()
            await model.close()

    def session(self, model: Model) -> Session:
        return Session.create(self.folder / "sessions", self.prefix, model, self.folder, datetime.now(UTC))

    async def cold(self, request: Request) -> tuple[int, float]:
        """Tokens and milliseconds of the same prompt with nothing kept."""
        client = LlamaClient(self.url)
        timings = await prefill(client, [int(i) for i in request.wire.split(b",")], 0)
        await client.aclose()
        return int(timings["prompt_n"]), float(timings["prompt_ms"])


@contextmanager
def temporary_place(
    engine: str, prefix: Prefix, settings: Settings, *, has_checkpoints: bool, context: int, slots: int = 1
) -> Generator[Place]:
    """A place for the model that `engine` names, not started yet; its folder is removed at the end. Raises EngineFault.

    `context` in tokens; 0: the model's own.
    """
    path = find_model(engine)
    with TemporaryDirectory(prefix="oasis-bench-", ignore_cleanup_errors=True) as folder:
        yield Place(
            path,
            Path(folder),
            prefix,
            slots=slots,
            checkpoints=settings.checkpoints if has_checkpoints else 0,
            context=context,
            threads=settings.threads or None,
        )
