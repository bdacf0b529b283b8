"""`oasis bench overhead`: what the harness itself costs, beside the model. Ratios come from one run."""

import json
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from oasis.agent.session import Session
from oasis.config import Settings
from oasis.core.items import ToolOutput, User
from oasis.core.prefix import Prefix
from oasis.measure.ask import ask
from oasis.models.base import Lane, Sampling
from oasis.models.connect import connect
from oasis.models.scripted import ScriptedModel, call, reply

ENGINE = "tiny-swa"
"""Its prefill of a long prompt is the quickest of the tiny models; the harness's share is the same on each."""
TRANSCRIPT_TOKENS = 100_000
CONTEXT_TOKENS = 131_072
MEASURED_STEPS = 20
SESSION_STEPS = 1000
STARTS = 5
_FEW = Sampling(max_tokens=4, temperature=0.0)


@dataclass(frozen=True, slots=True)
class Finding:
    """One figure against its limit, in the same unit; `basis` says how it was measured."""

    name: str
    measured: float
    limit: float
    unit: str
    basis: str

    @property
    def is_kept(self) -> bool:
        return self.measured <= self.limit

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "is_kept": self.is_kept}


async def step_cpu(prefix: Prefix, settings: Settings) -> Finding:
    """CPU of this process for a step at 100,000 tokens, less what the JSON of its request costs."""
    wanted = settings.model_copy(update={"server": "", "model": ENGINE, "context": CONTEXT_TOKENS})
    connection = await connect(wanted, Lane.TOKENS)
    try:
        with TemporaryDirectory(prefix="oasis-bench-") as folder:
            place = Path(folder)
            with Session.create(place, prefix, connection.model, place, datetime.now(UTC)) as session:
                return await _steps(session, connection.model)
    finally:
        await connection.close()


async def _steps(session: Session, model: Any) -> Finding:
    session.append(User(_text(TRANSCRIPT_TOKENS)))
    own: list[float] = []
    whole: list[float] = []
    tokens = 0
    for number in range(MEASURED_STEPS + 1):
        began = time.process_time()
        request = await session.request()
        tokens = request.tokens or 0
        answer = await ask(model, request, _FEW)
        session.append(answer.message)
        session.finish_step(answer.usage, request.new_tokens)
        session.append(User(f"Step {number}: {_text(400)}"))
        spent = time.process_time() - began
        body = {"prompt": [int(i) for i in request.wire.split(b",")]}
        began = time.process_time()
        json.dumps(body)
        own.append((spent - (time.process_time() - began)) * 1000)
        whole.append(spent * 1000)
    basis = (
        f"median of {MEASURED_STEPS} steps at {tokens:,} tokens on {ENGINE}: "
        f"{statistics.median(whole[1:]):.1f} ms of this process's CPU, less json.dumps of the request's ids"
    )
    return Finding("CPU of a step", statistics.median(own[1:]), 25.0, "ms", basis)


async def resume_time(prefix: Prefix) -> Finding:
    """Resuming a session of 1,000 steps, against reading its file and its JSON."""
    with TemporaryDirectory(prefix="oasis-bench-") as folder:
        path = await _long_session(Path(folder), prefix)

        def resume() -> None:
            Session.resume(path, ScriptedModel([]))[0].close()

        def read() -> None:
            for line in path.read_bytes().splitlines():
                json.loads(line)

        resumed_s, read_s = _quickest(resume, 5), _quickest(read, 5)
        size = path.stat().st_size
    basis = (
        f"{SESSION_STEPS} steps, {size / 1e6:.1f} MB: {resumed_s * 1000:.0f} ms to resume, {read_s * 1000:.0f} ms to "
        "read the file and decode its JSON; the quickest of 5 each"
    )
    return Finding("resume", resumed_s / read_s, 3.0, "times reading the file", basis)


async def _long_session(folder: Path, prefix: Prefix) -> Path:
    model = ScriptedModel([reply("", call("read", path=f"st/part{n}.st")) for n in range(SESSION_STEPS)])
    with Session.create(folder, prefix, model, folder, datetime.now(UTC)) as session:
        session.append(User("Read all of it."))
        for number in range(SESSION_STEPS):
            request = await session.request()
            answer = await ask(model, request)
            session.append(answer.message)
            session.finish_step(answer.usage, request.new_tokens)
            session.append(ToolOutput("read", "read", f"part {number}\n{_text(400)}"))
        return session.path


def start_time() -> Finding:
    """`oasis --version` against a Python that imports typer."""
    oasis = shutil.which("oasis", path=str(Path(sys.executable).parent)) or "oasis"
    ours = _quickest(lambda: _run([oasis, "--version"]), STARTS)
    theirs = _quickest(lambda: _run([sys.executable, "-c", "import typer"]), STARTS)
    basis = f"{ours * 1000:.0f} ms against {theirs * 1000:.0f} ms; the quickest of {STARTS} each"
    return Finding("oasis --version", ours / theirs, 2.0, "times python -c 'import typer'", basis)


def _run(command: Sequence[str]) -> None:
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)  # noqa: S603


def _quickest(act: Callable[[], None], times: int) -> float:
    """Seconds of the quickest of several runs, after one that warms the caches."""
    act()
    taken: list[float] = []
    for _ in range(times):
        began = time.perf_counter()
        act()
        taken.append(time.perf_counter() - began)
    return min(taken)


def _text(size: int) -> str:
    line = '      A     "FILLER_AUTO"; AN "FILLER_JAM"; =  "FILLER_RUN"; // released by the sequencer\n'
    return (line * (size // len(line) + 1))[:size]
