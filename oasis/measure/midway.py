"""A compaction in the middle of a recorded job."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from oasis.agent.compaction import Compactor
from oasis.agent.compaction_policy import CompactAt
from oasis.agent.session import Session
from oasis.core.events import Compacted, Event, StepFinished
from oasis.core.items import Assistant, Stop, User
from oasis.core.transcript import Request
from oasis.core.usage import Usage
from oasis.engine.llama import LlamaClient
from oasis.errors import ServerFault
from oasis.measure.ask import ask
from oasis.measure.fit import prefill
from oasis.measure.job import Job, Step
from oasis.measure.ledger import Ledger, Row
from oasis.models.base import Model, Reply, Sampling

_FILE = "oasis-bench-head.kv"
_TASK_CHARACTERS = 300


class SavedHead:
    """The head's KV state, saved by the engine before anything was generated behind it."""

    def __init__(self, client: LlamaClient, slot: int | None) -> None:
        self._client = client
        self._slot = slot or 0
        self._tokens = 0
        self.usage = Usage()

    async def save(self, ids: Sequence[int]) -> str:
        """Prefill the head in an empty slot and save it; empty, or why the server does not save slots."""
        timings = await prefill(self._client, list(ids), self._slot)
        computed = int(timings["prompt_n"])
        self.usage = Usage(len(ids), len(ids) - computed, 0, float(timings["prompt_ms"]))
        try:
            await self._client.save(self._slot, _FILE)
        except ServerFault as fault:
            return str(fault)
        self._tokens = len(ids)
        return ""

    async def restore(self, ids: Sequence[int]) -> int:
        """Fill the slot with the head; the tokens that are now in it."""
        if self._tokens:
            await self._client.restore(self._slot, _FILE)
        return self._tokens if len(ids) > self._tokens else 0


@dataclass
class Midway:
    """Compacts the session before one step, and books what that costs as steps of the ledger.

    The summary is written beforehand, from the recording; the engine decodes it as it decodes every message.
    """

    session: Session
    model: Model
    ledger: Ledger
    before_step: int
    head: SavedHead
    compacted: Compacted | None = None
    _compactor: Compactor | None = field(default=None, repr=False)

    async def at(self, step: Step) -> None:
        """Compact where this is the step."""
        if step.number != self.before_step:
            return
        last = self.ledger.rows[-1]
        at = CompactAt(tokens=last.presented + last.decoded)
        self._compactor = Compactor(self.model, self.session, self._ask, self._take, at=at, restorer=self.head)
        await self._compactor.now("asked")

    async def warm(self, request: Request) -> None:
        if self._compactor:
            await self._compactor.warm(request)

    def finish(self, request: Request, usage: Usage) -> None:
        if self._compactor:
            self._compactor.finish_step(request, usage)

    async def _ask(self, request: Request, sampling: Sampling) -> Reply:
        return await ask(self.model, request, sampling)

    def _take(self, event: Event) -> None:
        if isinstance(event, StepFinished):
            self.ledger.rows.append(Row.of(len(self.ledger.rows) + 1, event.usage, event.new_tokens or 0))
        elif isinstance(event, Compacted):
            self.compacted = event


def summary_of(steps: Sequence[Step]) -> Assistant:
    """A summary for these steps: the first question, and each file that was worked on."""
    task = next((item.text for step in steps for item in step.new if isinstance(item, User)), "")
    calls = dict.fromkeys(f"{call.name} {call.arguments[:60]}" for step in steps for call in step.written.calls)
    files = "\n".join(calls)[: 2 * _TASK_CHARACTERS]
    return Assistant(f"TASK: {task[:_TASK_CHARACTERS]}\nFILES:\n{files}", "", (), Stop.END, b"")


def with_summary(job: Job, before_step: int) -> list[Assistant]:
    """The job's messages with a summary before that step's."""
    messages = [step.written for step in job.steps]
    at = before_step - 1
    return [*messages[:at], summary_of(job.steps[:at]), *messages[at:]]
