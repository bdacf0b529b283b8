"""A job that is long enough to be compacted, and models that refuse or count prompts."""

from pathlib import Path

from oasis.agent.compaction_policy import CompactAt
from oasis.core.items import Assistant, Notice, User
from oasis.core.transcript import Request
from oasis.core.usage import Usage
from oasis.errors import ContextFull
from oasis.models.scripted import ScriptedModel, call, reply
from tests.agent.harness import Bench, build

ROOM = 16_000
AT = CompactAt(tokens=7_000)
LONG = "".join(f"HR {40000 + n} supply reads {n * 7 % 97}.5 degC; " for n in range(60))
TASK = [Notice("Directory: /plant"), User("Convert the boiler."), *()]
GOOD = "TASK: convert the boiler.\nFACTS: HR 40012 is 63.5 degC."


def look(number: int, size: int = 1_400) -> Assistant:
    return reply(LONG[:size], call("look", f"c{number}", text=str(number)))


def is_asked(request: Request) -> bool:
    return "Write the summary" in bytes(int(i) for i in request.chunks[-1].wire.split(b",")).decode()


def said(request: Request) -> str:
    if request.tokens is None:
        return request.wire.decode()
    return bytes(int(i) for i in request.wire.split(b",")).decode()


def long_job(*summaries: object, steps: int = 5) -> list[object]:
    return [*(look(n) for n in range(steps)), *summaries, reply("done")]


async def run(folder: Path, script: list[object], at: CompactAt | None = AT, room: int = ROOM) -> tuple[Bench, object]:
    model = ScriptedModel(script, context_tokens=room)
    bench = build(folder, model, compact_at=at)
    finished = await bench.agent.turn(TASK)
    assert finished.reason == "done", finished
    return bench, model


def refusing(limit: int, n_ctx: int | None):
    """A model that refuses prompts of `limit` tokens and more, as a server does, and otherwise plays its script."""

    class Refusing(ScriptedModel):
        async def stream(self, request, sampling=None):
            if request.tokens >= limit:
                raise ContextFull("too long", n_ctx)
            async for part in super().stream(request, sampling):
                yield part

    return Refusing


class Counting(ScriptedModel):
    """A chat server that says how long each prompt was: four bytes a token."""

    def _usage(self, request, message):
        return Usage(len(request.wire) // 4, 0, len(message.wire) // 4, is_cache_known=False)
