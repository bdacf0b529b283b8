"""The main job, small: a simulated plant worked out device by device, and what each step cost."""

import re
import shutil
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from oasis.agent.assembly import Toolbox, agent, at_plant, create_session, first_items, toolbox
from oasis.agent.gate import nobody_to_ask
from oasis.agent.permissions import Permissions
from oasis.config import Settings
from oasis.core.events import Event, StepFinished, TurnFinished
from oasis.core.items import Notice, User
from oasis.core.usage import Usage
from oasis.errors import ConfigError
from oasis.lab.lab import Lab, running
from oasis.measure.job import Job, Step, load
from oasis.models.base import Model, Sampling
from oasis.models.connect import connect
from oasis.models.replay import ReplayModel
from oasis.models.tokens import TokenModel
from oasis.packs import find_packs
from oasis.resources import shipped

RECORDED_MODEL = "smollm2-135m"
JOBS = {"boiler": "boiler", "line": "packaging line", "segment": "EtherCAT segment"}
"""The recorded jobs (fixtures/jobs/NAME.jsonl, NAME.toml) in their order, and the lab's station that each needs."""
SPEED = 20.0
_ALLOWED = ("write", "edit")
_PLACE = re.compile(r"\{([a-z]+)\}")
_SITE = """\
# What the demonstration may write to the simulated plant, and how far.

[site]
name = "demonstration"

"""


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
        """Run the jobs of all devices that the lab can simulate here; the steps' costs. Raises ConfigError for none."""
        costs: list[Told] = []
        async with AsyncExitStack() as stack:
            box, jobs = await stack.enter_async_context(self.plant(say))
            connection = await connect(self.settings, say=say)
            stack.push_async_callback(connection.close)
            for job in jobs:
                model = connection.model if self.is_live else _replayed(connection.model, job)
                costs += await self.session(model, box, job, show, say)
        return [replace(cost, step=number) for number, cost in enumerate(costs, 1)]

    @asynccontextmanager
    async def plant(self, say: Callable[[str], None]) -> AsyncGenerator[tuple[Toolbox, list[Job]], None]:
        """The project with its site file, the simulated plant running, and the jobs that there are for it."""
        copy_project(self.project)
        async with running(find_packs(), {"speed": SPEED}) as lab:
            urls = _urls(lab)
            for name, url in urls.items():
                say(f"A simulated {JOBS[name]} answers at {url}.")
            for line in lab.absent:
                say(line)
            site = self.project / "plant.toml"
            site.write_text(_site(urls), encoding="utf-8")
            chosen = sorted({device.pack for device in lab.devices if device.station.url in urls.values()})
            yield toolbox(self.project, chosen, site), [_job(name, urls) for name in urls]

    async def session(
        self, model: Model, box: Toolbox, job: Job, show: Callable[[Event], None], say: Callable[[str], None]
    ) -> list[Told]:
        """One job in a session of its own, which begins behind the same head."""
        costs: list[Told] = []
        now = datetime.now().astimezone()

        def emit(event: Event) -> None:
            if isinstance(event, StepFinished):
                costs.append(Told(event.step, event.usage, event.new_tokens or 0))
            show(event)

        with create_session(self.project, box, model, now) as session:
            loop = agent(
                model,
                session,
                box,
                emit,
                nobody_to_ask(_ALLOWED),
                permissions=Permissions(allow=_ALLOWED),
                sampling=Sampling(temperature=self.settings.temperature),
            )
            opening: list[User | Notice] = [*first_items(self.project, box, now)]
            async with at_plant(box, session, say, is_attended=False):
                for task in _tasks(job):
                    finished: TurnFinished = await loop.turn([*opening, task])
                    opening = []
                    if finished.reason != "done":
                        break
        return costs


def _urls(lab: Lab) -> dict[str, str]:
    """Where the stations of the jobs are, by job; those that run. Raises ConfigError for none."""
    urls: dict[str, str] = {}
    for job, name in JOBS.items():
        for device in lab.devices:
            if device.station.name == name and device.station.url:
                urls.setdefault(job, device.station.url)
    if not urls:
        raise ConfigError(
            "The demonstration needs a pack whose devices can be simulated: pip install 'oasis-agent[modbus,engine]'."
        )
    return urls


def _site(urls: Mapping[str, str]) -> str:
    pieces = [shipped(f"fixtures/jobs/{name}.toml").read_text(encoding="utf-8") for name in urls]
    return _SITE + "\n".join(_put(piece, urls) for piece in pieces)


def _job(name: str, urls: Mapping[str, str]) -> Job:
    """The job of a device, with the devices' addresses in texts and arguments."""
    job = load(shipped(f"fixtures/jobs/{name}.jsonl"))
    return replace(job, steps=tuple(_at(step, urls) for step in job.steps))


def copy_project(project: Path) -> None:
    """Put the demonstration's project files into `project`."""
    shutil.copytree(shipped("fixtures/boiler"), project, dirs_exist_ok=True)


def without_reuse_ms(costs: Sequence[Told]) -> float:
    """What prefilling every presented token would have taken, at the rate measured in these steps."""
    computed = sum(cost.usage.computed_tokens for cost in costs)
    spent = sum(cost.usage.prefill_ms for cost in costs)
    presented = sum(cost.usage.prompt_tokens for cost in costs)
    return spent / computed * presented if computed else 0.0


def _replayed(model: Model, job: Job) -> ReplayModel:
    if not isinstance(model, TokenModel):
        raise ConfigError("Recorded decisions are replayed in the token lane only; this model is in the chat lane.")
    return ReplayModel(model, model.client, model.dialect, [step.written for step in job.steps])


def _tasks(job: Job) -> list[User]:
    return [item for step in job.steps for item in step.new if isinstance(item, User)]


def _at(step: Step, urls: Mapping[str, str]) -> Step:
    calls = tuple(replace(call, arguments=_put(call.arguments, urls)) for call in step.written.calls)
    new = tuple(User(_put(item.text, urls)) if isinstance(item, User) else item for item in step.new)
    return replace(step, new=new, written=replace(step.written, calls=calls))


def _put(text: str, urls: Mapping[str, str]) -> str:
    return _PLACE.sub(lambda found: urls.get(found[1], found[0]), text)


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
