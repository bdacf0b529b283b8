"""What the head's parts cost: by a server's tokeniser, by SmolLM2's where it was fetched, or as an estimate."""

from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from oasis.config import Settings
from oasis.core.prefix import Prefix
from oasis.engine.embedded import EmbeddedEngine
from oasis.engine.weights import models_here
from oasis.errors import ConfigError
from oasis.measure.prefix import BYTES_PER_TOKEN, PartCost, count, estimate
from oasis.models.base import Lane
from oasis.models.connect import connect
from oasis.models.tokens import TokenModel

AT_HAND = "smollm2-135m"


@dataclass(frozen=True, slots=True)
class Costs:
    """Costs of the parts of several heads, in the heads' order; `source` says who counted."""

    heads: tuple[list[PartCost], ...]
    source: str

    def tokens(self, head: int) -> int:
        return sum(part.tokens for part in self.heads[head])


async def costs(heads: Sequence[Prefix], settings: Settings, *, prefill: bool) -> Costs:
    """Count each head's parts; with `prefill` and a server, compute the first head cold there.

    The settings' server is asked where there is one. Raises ServerFault, EngineFault, ConfigError.
    """
    if settings.server:
        return await _by(settings, heads, f"the server at {settings.server}", prefill)
    model = next((path for path in models_here() if path.stem == AT_HAND), None)
    if model is None:
        guess = f"an estimate of {BYTES_PER_TOKEN} bytes a token (name a server, or `oasis models pull {AT_HAND}`)"
        return Costs(tuple(estimate(head) for head in heads), guess)
    async with AsyncExitStack() as stack:
        folder = stack.enter_context(TemporaryDirectory(prefix="oasis-prefix-", ignore_cleanup_errors=True))
        engine = await EmbeddedEngine.start(model, log=Path(folder) / "engine.log", context=2048)
        stack.push_async_callback(engine.stop)
        here = settings.model_copy(update={"server": engine.url})
        return await _by(here, heads, f"{AT_HAND}'s tokenizer", prefill=False)


async def _by(settings: Settings, heads: Sequence[Prefix], source: str, prefill: bool) -> Costs:
    connection = await connect(settings, Lane.TOKENS)
    try:
        if not isinstance(connection.model, TokenModel):
            raise ConfigError(f"{source} shows no tokens. Name a llama.cpp server.")
        counted = [
            await count(connection.model, head, prefill=prefill and number == 0) for number, head in enumerate(heads)
        ]
        return Costs(tuple(counted), source)
    finally:
        await connection.close()
