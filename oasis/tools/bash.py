"""`bash`: a command line in the project's folder."""

import asyncio
import atexit
import os
import re
import secrets
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path

from oasis import resources
from oasis.core.items import Status
from oasis.core.tool import Arguments, Outcome, Preview, Risk, Tool
from oasis.errors import ToolFault
from oasis.tools import process, spill
from oasis.tools.clip import clip_line, one_line, visible
from oasis.tools.isolation import Isolation
from oasis.tools.workspace import Workspace

DEFAULT_TIMEOUT_S = 120
MAX_TIMEOUT_S = 3_600
MAX_OUTPUT_BYTES = 1 << 30
MAX_TITLE_CHARS = 120
STOP: ContextVar[asyncio.Event | None] = ContextVar("stop", default=None)
"""Set by whoever wants to end the command that runs in this context, with all its processes, and keep its output."""
_LOOK_S = 0.1
_NO_NETWORK = re.compile(
    r"connection refused|unreachable|no route to host|(?:could not|failed) (?:to )?(?:resolve|connect)|"
    r"name or service not known|name resolution|ECONNREFUSED|ENETUNREACH",
    re.IGNORECASE,
)
_MISREAD = re.compile(r"[\x00\x08\x0c]")


def tool(
    workspace: Workspace,
    max_output_bytes: int = MAX_OUTPUT_BYTES,
    isolation: Callable[[], Isolation | None] = lambda: None,
) -> Tool:
    """The tool; where `isolation` gives one, its commands have no network, and cannot write what no tool may write."""

    async def preview(arguments: Arguments) -> Preview:
        command = arguments["command"]
        if not command.strip():
            raise ToolFault("The command is empty; nothing was run.")
        if hidden := _MISREAD.search(command):
            raise ToolFault(
                f"The command has the control character U+{ord(hidden[0]):04X} in it; nothing was run. "
                r"Write each backslash as \\ in JSON: \\b, not \b."
            )
        return Preview(f"run: {clip_line(one_line(command.strip()), MAX_TITLE_CHARS)}", command, visible(command))

    async def run(arguments: Arguments) -> Outcome:
        limit_s = min(arguments.get("timeout_s", DEFAULT_TIMEOUT_S), MAX_TIMEOUT_S)
        raw = spill.new_file(workspace.spill, "bash")
        argv = [*process.shell(), arguments["command"]]
        isolated = isolation()
        if isolated:
            argv = isolated.wrapped(argv, workspace.protected)
        try:
            ended = await _run(argv, workspace.root, raw, limit_s, max_output_bytes)
        except BaseException:
            raw.unlink(missing_ok=True)
            raise
        return await asyncio.to_thread(_spelled, raw, ended, isolated is not None)

    return Tool(resources.tool_spec("bash"), Risk.EXEC, preview, run)


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended: its exit code, or why it was ended; the numbers of processes it left running."""

    code: int | None
    stopped: str
    running: tuple[int, ...]


async def _run(argv: Sequence[str], folder: Path, raw: Path, limit_s: float, max_bytes: int) -> Ended:
    """Run until the shell exits; what it leaves in the background may go on and does not hold us."""
    mark = secrets.token_hex(8)
    with raw.open("ab") as sink:
        try:
            child = await asyncio.create_subprocess_exec(
                *argv,
                cwd=folder,
                env=process.quiet(os.environ) | {process.MARK: mark},
                stdin=asyncio.subprocess.DEVNULL,
                stdout=sink,
                stderr=sink,
                **process.OWN_GROUP,
            )
        except (OSError, ValueError) as fault:
            raise ToolFault(f"The command could not be started: {fault}.") from fault
    stopped = ""
    try:
        stopped = await _watch(child, raw, limit_s, max_bytes)
    finally:
        if child.returncode is None:
            process.end_group(child.pid, mark)
            await child.wait()
    if stopped:
        process.end_group(child.pid, mark)
        return Ended(None, stopped, ())
    left = process.group_members(child.pid)
    if left:
        atexit.register(process.end, left)
    return Ended(child.returncode, "", tuple(member.pid for member in left))


async def _watch(child: asyncio.subprocess.Process, raw: Path, limit_s: float, max_bytes: int) -> str:
    """Wait for the end of the shell; why it has to be ended, empty when it ended by itself."""
    done = asyncio.ensure_future(child.wait())
    try:
        async with asyncio.timeout(limit_s):
            while True:
                finished, _ = await asyncio.wait([done], timeout=_LOOK_S)
                if finished:
                    return ""
                if (stop := STOP.get()) and stop.is_set():
                    return "ended by the engineer, with all its child processes"
                if _size(raw) > max_bytes:
                    return f"ended by Oasis: it wrote more than {max_bytes:,} bytes"
    except TimeoutError:
        return f"ended by Oasis after {limit_s:g} s, with all its child processes; set timeout_s for more"
    finally:
        done.cancel()


def _size(file: Path) -> int:
    return file.stat().st_size


def _spelled(raw: Path, ended: Ended, is_isolated: bool) -> Outcome:
    told = spill.told(raw)
    notes = [ended.stopped or f"exit {ended.code}", *told.notes]
    if is_isolated and ended.code != 0 and _NO_NETWORK.search(told.text):
        notes.append(
            "a pack is chosen, so commands have no network: this says nothing of the device; plant_read reads it"
        )
    if ended.running:
        numbers = ", ".join(str(number) for number in ended.running[:5])
        notes.append(f"process {numbers} runs on in the background; what it writes is in {raw.as_posix()}")
    else:
        raw.unlink()
    return Outcome(told.closed(*notes), Status.OK if ended.code == 0 else Status.ERROR)
