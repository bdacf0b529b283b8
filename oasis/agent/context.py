"""What fills the context of a session, by part.

In the token lane every chunk's tokens are known, so the parts add up to the prompt to the token. In the chat lane the
last prompt's size is what the server said, and the rest is shared out by bytes.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from oasis.agent import filling
from oasis.agent.compaction_seed import carried, dropped, sizes
from oasis.agent.filling import Filling, Tally
from oasis.config import BUILT_IN_TOOLS
from oasis.core.items import Assistant, Item, NewItem, Notice, ToolOutput, User
from oasis.core.prefix import Prefix
from oasis.core.tool import ToolSpec
from oasis.core.transcript import Chunk, Transcript
from oasis.core.usage import Usage
from oasis.errors import OasisError
from oasis.models.base import Model

_OF_PACKS = "plant_"

_Weights = Counter[tuple[str, str]]


async def fill(transcript: Transcript, model: Model, last: Usage | None) -> Filling:
    """What fills the context now, with what waits to be sent. `last`: what the newest step of this epoch cost."""
    tally = Tally()
    chunks = transcript.chunks or (await model.encoder.head(transcript.prefix),)
    measured = sizes(transcript, last)

    def size(chunk: Chunk) -> int:
        return chunk.tokens if chunk.tokens is not None else round(len(chunk.wire) / measured.bytes_per_token)

    await _add_head(tally, model, transcript.prefix, chunks[0].tokens, measured.bytes_per_token)
    rest = iter(chunks[1:])
    sent = transcript.items[: len(transcript.items) - len(transcript.pending)]
    for number, run in enumerate(_runs(sent)):
        if chunk := next(rest, None):
            tally.share(size(chunk), _weights(run, is_first=number == 0))
    waiting = 0
    for item in transcript.pending:
        tokens = measured.of(item.text)
        waiting += tokens
        tally.share(tokens, _weights([item], is_first=not sent))
    return Filling(tally.parts(), model.context_tokens, chunks[0].tokens is not None, waiting)


def _runs(items: Sequence[Item]) -> list[list[Item]]:
    """What one chunk carries each: the items between two messages of the model, and each message."""
    runs: list[list[Item]] = []
    for item in items:
        if isinstance(item, Assistant) or not runs or isinstance(runs[-1][-1], Assistant):
            runs.append([item])
        else:
            runs[-1].append(item)
    return runs


def _weights(run: Sequence[Item], *, is_first: bool) -> _Weights:
    """Bytes of each part in one chunk."""
    weights: _Weights = Counter()
    for item in run:
        if isinstance(item, Assistant):
            weights[filling.TEXT, ""] += len(item.text.encode())
            weights[filling.REASONING, ""] += len(item.reasoning.encode())
            for call in item.calls:
                weights[filling.CALLS, call.name] += len(f"{call.name}{call.arguments}".encode())
        else:
            weights[_part(item, is_first), item.name if isinstance(item, ToolOutput) else ""] += len(item.text.encode())
    return weights


def _part(item: NewItem, is_first: bool) -> str:
    if isinstance(item, ToolOutput):
        return filling.OUTPUTS
    if isinstance(item, User):
        return filling.USER
    if _is_summary(item):
        return filling.SUMMARY
    return filling.FIRST if is_first else filling.NOTICES


def _is_summary(notice: Notice) -> bool:
    return notice.text.startswith((carried().strip(), dropped().strip()))


def _kind(tool: ToolSpec) -> str:
    if tool.name in BUILT_IN_TOOLS:
        return filling.BUILT_IN
    return filling.PACKS if tool.name.startswith(_OF_PACKS) else filling.SERVERS


async def _add_head(tally: Tally, model: Model, prefix: Prefix, whole: int | None, bytes_per_token: float) -> None:
    """Add the head's parts: counted where the lane sees tokens, otherwise shared out by bytes."""
    weights: _Weights = Counter({(filling.SYSTEM, ""): len(prefix.system.encode())})
    for tool in prefix.tools:
        weights[_kind(tool), tool.name] += len(tool.wire)
    if whole is None:
        tally.share(round(weights.total() / bytes_per_token), weights)
        return
    counts = await _grown(model, prefix, whole)
    if counts is None:
        tally.share(whole, weights)
        return
    tally.add(filling.SYSTEM, counts[0])
    for tool, (before, after) in zip(prefix.tools, pairwise(counts), strict=True):
        tally.add(_kind(tool), after - before, tool.name)


async def _grown(model: Model, prefix: Prefix, whole: int) -> list[int] | None:
    """Tokens of the head with no tool, with the first, and so on; None for a dialect that cannot say."""
    try:
        heads = [await model.encoder.head(Prefix(prefix.system, prefix.tools[:n])) for n in range(len(prefix.tools))]
    except OasisError:
        return None
    counts = [*(head.tokens or 0 for head in heads), whole]
    return counts if counts == sorted(counts) else None
