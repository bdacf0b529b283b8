"""The main job, small: a boiler on Modbus, a task done step by step, and what each step cost."""

import importlib.util
import shutil
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from oasis.agent.assembly import Toolbox, agent, create_session, first_items, toolbox
from oasis.agent.gate import nobody_to_ask
from oasis.agent.permissions import Permissions
from oasis.config import Settings
from oasis.core.events import Event, StepFinished, TurnFinished
from oasis.core.items import Assistant, Notice, User
from oasis.core.usage import Usage
from oasis.errors import ConfigError
from oasis.measure.job import Job, load
from oasis.models.base import Model, Sampling
from oasis.models.connect import connect
from oasis.models.replay import ReplayModel
from oasis.models.tokens import TokenModel
from oasis.resources import shipped

RECORDED_MODEL = "smollm2-135m"
_BOILER = "{boiler}"
_ALLOWED = ("write", "edit")


@dataclass(frozen=True, slots=True)
class Told:
    """One step and what it cost."""

    step: int
    usage: Usage
    new_tokens: int


@dataclass(frozen=True)
class Demo:
    """A demonstration in a project folder. `is_live`: the model decides; otherwise its decisions are replayed."""

    settings: Settings
    project: Path
    is_live: bool

    async def run(self, show: Callable[[Event], None], say: Callable[[str], None]) -> list[Told]:
        """Run both turns; the steps' costs. Raises ConfigError where the Modbus pack's library is missing."""
        boiler = _boiler()
        copy_project(self.project)
        async with AsyncExitStack() as stack:
            url = await stack.enter_async_context(boiler())
            say(f"A simulated boiler answers at {url}.")
            connection = await connect(self.settings, say=say)
            stack.push_async_callback(connection.close)
            job = _at(load(shipped("fixtures/jobs/demo.jsonl")), url)
            model = connection.model if self.is_live else _replayed(connection.model, job)
            box = toolbox(self.project, ["modbus"])
            return await self._turns(model, box, job, show)

    async def _turns(self, model: Model, box: Toolbox, job: Job, show: Callable[[Event], None]) -> list[Told]:
        costs: list[Told] = []
        now = datetime.now().astimezone()

        def emit(event: Event) -> None:
            if isinstance(event, StepFinished):
                costs.append(Told(event.step, event.usage, event.new_tokens or 0))
            show(event)

        with create_session(self.project, box, model, now) as session:
            sampling = Sampling(temperature=self.settings.temperature)
            loop = agent(
                model,
                session,
                box,
                emit,
                nobody_to_ask(_ALLOWED),
                permissions=Permissions(allow=_ALLOWED),
                sampling=sampling,
            )
            opening: list[User | Notice] = [*first_items(self.project, box, now)]
            for task in _tasks(job):
                finished: TurnFinished = await loop.turn([*opening, task])
                opening = []
                if finished.reason != "done":
                    break
        return costs


def copy_project(project: Path) -> None:
    """Put the demonstration's project files into `project`."""
    shutil.copytree(shipped("fixtures/boiler"), project, dirs_exist_ok=True)


def without_reuse_ms(costs: Sequence[Told]) -> float:
    """What prefilling every presented token would have taken, at the rate measured in these steps."""
    computed = sum(cost.usage.computed_tokens for cost in costs)
    spent = sum(cost.usage.prefill_ms for cost in costs)
    presented = sum(cost.usage.prompt_tokens for cost in costs)
    return spent / computed * presented if computed else 0.0


def _boiler() -> Callable[[], AbstractAsyncContextManager[str]]:
    if importlib.util.find_spec("pymodbus") is None:
        raise ConfigError("The demonstration needs the Modbus pack: pip install 'oasis-agent[modbus,engine]'.")
    from oasis_modbus.boiler import running_boiler  # noqa: PLC0415

    return running_boiler


def _replayed(model: Model, job: Job) -> ReplayModel:
    if not isinstance(model, TokenModel):
        raise ConfigError("Recorded decisions are replayed in the token lane only; this model is in the chat lane.")
    return ReplayModel(model, model.client, model.dialect, [step.written for step in job.steps])


def _tasks(job: Job) -> list[User]:
    return [item for step in job.steps for item in step.new if isinstance(item, User)]


def _at(job: Job, url: str) -> Job:
    """The job with the boiler's address in its texts and arguments."""

    def put(text: str) -> str:
        return text.replace(_BOILER, url)

    def written(message: Assistant) -> Assistant:
        calls = tuple(replace(call, arguments=put(call.arguments)) for call in message.calls)
        return replace(message, calls=calls)

    steps = tuple(
        replace(
            step,
            new=tuple(User(put(item.text)) if isinstance(item, User) else item for item in step.new),
            written=written(step.written),
        )
        for step in job.steps
    )
    return replace(job, steps=steps)


def as_row(cost: Told) -> dict[str, float]:
    """One step's cost for JSON."""
    usage = cost.usage
    return {
        "step": cost.step,
        "presented": usage.prompt_tokens,
        "cached": usage.cached_tokens,
        "computed": usage.computed_tokens,
        "new": cost.new_tokens,
        "prefill_ms": usage.prefill_ms,
        "decode_ms": usage.decode_ms,
    }
