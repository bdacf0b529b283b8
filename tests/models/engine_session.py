"""A transcript on a real engine whose model is made to write what a test wants."""

from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field

from oasis.core.items import Assistant, Item
from oasis.core.prefix import Prefix
from oasis.core.tool import ToolSpec
from oasis.core.transcript import Request, Transcript
from oasis.dialect.infer import infer
from oasis.engine.embedded import EmbeddedEngine
from oasis.engine.llama import LlamaClient
from oasis.models.base import Reply, Sampling
from oasis.models.tokens import TokenModel

SCHEMA = {
    "type": "object",
    "properties": {"path": {"type": "string"}},
    "required": ["path"],
    "additionalProperties": False,
}
PREFIX = Prefix("You are a test. " * 40, (ToolSpec("read", "Reads a file.", SCHEMA),))
CALL = '<tool_call>\n{"name": "read", "arguments": {"path": "a.st"}}\n</tool_call>'


@asynccontextmanager
async def token_model(engine: EmbeddedEngine, slot: int = 0) -> AsyncIterator[TokenModel]:
    """A model on an emptied slot of the engine."""
    client = LlamaClient(engine.url)
    props = await client.props()
    await client.erase(slot)
    dialect = infer(props["chat_template"], props["bos_token"], props["eos_token"])
    model = TokenModel(client, dialect, name="tiny", identity="tiny", slot=slot, context_tokens=32768)
    try:
        yield model
    finally:
        await model.close()


@dataclass
class EngineSession:
    model: TokenModel
    prefix: Prefix = PREFIX
    transcript: Transcript = field(init=False)

    def __post_init__(self) -> None:
        self.transcript = Transcript(self.prefix, self.model.encoder)

    async def forced(self, text: str, max_tokens: int = 0) -> Sampling:
        """Settings under which this text is all that can be decoded, then a closing token."""
        ids = await self.model.client.tokenize(text, True)
        return Sampling(max_tokens, 0.0, "root ::= " + " ".join(f"<[{i}]>" for i in ids))

    async def step(self, text: str, *new: Item) -> tuple[Request, Reply]:
        """Append, ask, have the engine decode `text`, append the message."""
        for item in new:
            self.transcript.append(item)
        request = await self.transcript.request()
        async with aclosing(self.model.stream(request, await self.forced(text))) as parts:
            replies = [part async for part in parts if isinstance(part, Reply)]
        self.transcript.append(replies[0].message)
        return request, replies[0]

    async def interrupted(self, text: str, *new: Item) -> Assistant:
        """Like `step`, but the stream is closed when the first text has come."""
        for item in new:
            self.transcript.append(item)
        request = await self.transcript.request()
        async with aclosing(self.model.stream(request, await self.forced(text))) as parts:
            async for part in parts:
                if type(part).__name__ in ("Text", "Reasoning"):
                    break
        message = self.model.partial()
        self.transcript.append(message)
        return message
