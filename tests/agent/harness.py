"""A loop over scripted replies and small tools, with everything it emitted and ran."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from oasis.agent.calls import CallRunner
from oasis.agent.compaction_policy import CompactAt
from oasis.agent.gate import nobody_to_ask, reading_is_free
from oasis.agent.loop import Agent, Limits
from oasis.agent.session import Session
from oasis.core.events import Event
from oasis.core.prefix import Prefix
from oasis.core.rule import Allow, Rule
from oasis.core.tool import Arguments, Outcome, Preview, Risk, Tool, ToolSpec
from oasis.models.base import Model
from oasis.tools.registry import Registry

NOW = datetime(2025, 3, 4, 5, 6, 7).astimezone()
OPEN: list[Session] = []
"""Sessions that a test leaves open; tests/agent/conftest.py closes them."""
TEXT = {
    "type": "object",
    "properties": {"text": {"type": "string"}},
    "required": ["text"],
    "additionalProperties": False,
}


@dataclass
class Runs:
    """What ran, in the order it began, and gates that hold a tool until a test opens them."""

    texts: list[str] = field(default_factory=list)
    gates: dict[str, asyncio.Event] = field(default_factory=dict)
    began: dict[str, asyncio.Event] = field(default_factory=dict)

    def hold(self, text: str) -> asyncio.Event:
        """The call with this text waits; the event is set when it has begun."""
        self.gates[text] = asyncio.Event()
        self.began[text] = asyncio.Event()
        return self.began[text]


def tool(name: str, risk: Risk, runs: Runs) -> Tool:
    async def preview(arguments: Arguments) -> Preview:
        return Preview(f"{name} {arguments['text']}", arguments["text"])

    async def run(arguments: Arguments) -> Outcome:
        text = arguments["text"]
        runs.texts.append(text)
        if text in runs.gates:
            runs.began[text].set()
            await runs.gates[text].wait()
        if text == "explode":
            raise RuntimeError("boom")
        return Outcome(f"{name} did {text}")

    return Tool(ToolSpec(name, f"{name}s a text", TEXT), risk, preview, run)


def allow_everything(tool: Tool, call: object, preview: Preview) -> Allow:
    return Allow()


@dataclass
class Bench:
    """A ready agent and what it leaves behind."""

    agent: Agent
    session: Session
    events: list[Event]
    runs: Runs
    naps: list[float]

    def all(self, kind: type) -> list[Event]:
        return [event for event in self.events if isinstance(event, kind)]


def build(
    folder: Path,
    model: Model,
    *,
    rules: Sequence[Rule] = (reading_is_free, allow_everything),
    limits: Limits | None = None,
    session: Session | None = None,
    compact_at: CompactAt | None = None,
) -> Bench:
    runs, events, naps = Runs(), [], []
    registry = Registry((tool("look", Risk.READ, runs), tool("change", Risk.WRITE, runs)))
    prefix = Prefix("You are a test.", registry.specs)
    session = session or Session.create(folder, prefix, model, folder, NOW)

    OPEN.append(session)

    async def nap(seconds: float) -> None:
        naps.append(seconds)

    calls = CallRunner(registry, rules, nobody_to_ask(()), events.append)
    agent = Agent(model, session, calls, events.append, limits=limits, sleep=nap, compact_at=compact_at)
    return Bench(agent, session, events, runs, naps)
