"""`oasis bench calls`: how many of a model's tool calls can be run, with and without what Oasis does for it."""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from oasis.agent.prompt import assemble
from oasis.core.items import ToolCall, User
from oasis.core.transcript import Transcript
from oasis.errors import ConfigError
from oasis.measure.ask import ask
from oasis.models.base import Model, Sampling
from oasis.models.replay import Forcing
from oasis.models.tokens import TokenModel
from oasis.tools.registry import Registry

_SAMPLING = Sampling(max_tokens=96, temperature=0.0)


@dataclass(frozen=True, slots=True)
class Task:
    """A small task and the tool that does it."""

    text: str
    tool: str


@dataclass
class Share:
    """Of `asked` tasks, how many were answered with a call that can be run, and with one of the right tool."""

    name: str
    asked: int = 0
    valid: int = 0
    right: int = 0

    def book(self, calls: Sequence[ToolCall], registry: Registry, tool: str) -> None:
        runnable = [call for call in calls if isinstance(registry.find(call), tuple)]
        self.asked += 1
        self.valid += bool(runnable) and len(runnable) == len(calls)
        self.right += any(call.name == tool for call in runnable)

    def as_json(self) -> dict[str, Any]:
        share = self.valid / self.asked if self.asked else 0.0
        return {**asdict(self), "share": share}


def tasks(path: Path) -> list[Task]:
    """The tasks of a file: one JSON object a line with `text` and `tool`."""
    return [Task(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]


@dataclass(frozen=True, slots=True)
class Mode:
    """A way of asking. `grammar` (GBNF) holds from the first token; `is_lazy`: Oasis' own, from a call's opening on."""

    name: str
    is_lazy: bool = False
    grammar: str = ""


async def modes(model: TokenModel, registry: Registry) -> list[Mode]:
    """As the model likes, with and without Oasis' grammar; and with a call begun for it, with and without.

    The last two tell how sound a call is of a model too small to begin one; they need a dialect that has a grammar.
    """
    free = [Mode("no grammar"), Mode("grammar", is_lazy=True)]
    grammar = model.dialect.grammar(registry.specs)
    if grammar is None:
        return free[:1]
    opening = await Forcing(model.client, model.dialect).exactly(grammar.triggers[0])
    begun = Mode("call begun, no grammar", grammar=f"root ::= {opening} [^\\x00]*")
    return [*free, begun, Mode("call begun, grammar", grammar=grammar.gbnf)]


async def measure(model: Model, registry: Registry, asked: Sequence[Task], say: Callable[[str], None]) -> list[Share]:
    """Ask each task in each mode, and read each answer by both parsers.

    Raises ConfigError in the chat lane, where the server reads the calls.
    """
    if not isinstance(model, TokenModel):
        raise ConfigError("Calls are compared in the token lane; this model is reached by the chat lane.")
    shares: list[Share] = []
    for mode in await modes(model, registry):
        asking = _constraining(model, mode.is_lazy)
        sampling = replace(_SAMPLING, grammar=mode.grammar)
        strict, tolerant = Share(f"{mode.name}, the dialect's parser"), Share(f"{mode.name}, tolerant parser too")
        for number, task in enumerate(asked, 1):
            say(f"{mode.name}: {number} of {len(asked)}")
            own, found = await _answer(asking, registry, task, sampling)
            strict.book(own, registry, task.tool)
            tolerant.book(found, registry, task.tool)
        shares += [strict, tolerant]
    return shares


def _constraining(model: TokenModel, constrains_calls: bool) -> TokenModel:
    return TokenModel(
        model.client,
        model.dialect,
        name=model.name,
        identity=model.identity,
        slot=model.slot,
        context_tokens=model.context_tokens,
        constrains_calls=constrains_calls,
    )


async def _answer(
    model: TokenModel, registry: Registry, task: Task, sampling: Sampling
) -> tuple[Sequence[ToolCall], Sequence[ToolCall]]:
    """The calls in the answer: by the dialect's own syntax, and with the tolerant parser's help."""
    transcript = Transcript(assemble(registry.specs), model.encoder)
    transcript.append(User(task.text))
    answer = await ask(model, await transcript.request(), sampling)
    parsed = model.dialect.parse(answer.message.raw, registry.specs, lambda: "call")
    return (() if parsed.is_repaired else parsed.calls), parsed.calls
