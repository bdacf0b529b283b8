"""`search`: a regular expression over the project's files, or their names."""

import asyncio
import json
import re
import sys
from collections.abc import AsyncGenerator
from contextlib import aclosing, asynccontextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from oasis import resources
from oasis.core.items import Status
from oasis.core.tool import Arguments, Outcome, Preview, Risk, Tool
from oasis.errors import ToolFault
from oasis.tools import process
from oasis.tools.clip import MAX_CHARS, clip_line, one_line
from oasis.tools.grep import Job
from oasis.tools.workspace import Workspace

MAX_SHOWN = 150
MAX_COUNTED = 100_000
LIMIT_S = 20.0
_GLOB = re.compile(r"(?:[\w./-]|\*\*/)*\*\.\w+")


def tool(workspace: Workspace, limit_s: float = LIMIT_S) -> Tool:
    async def preview(arguments: Arguments) -> Preview:
        path = _place(workspace, arguments)
        title = f"Search {workspace.shown(path)} for {one_line(clip_line(arguments['pattern'], 200))}"
        return Preview(title, workspace.shown(path))

    async def run(arguments: Arguments) -> Outcome:
        place = _place(workspace, arguments)
        pattern = arguments["pattern"].replace("\b", r"\b")
        fault = _regex_fault(pattern)
        root = workspace.root if place.is_relative_to(workspace.root) else place
        job = Job(str(root), str(place), pattern, arguments.get("glob") or "", bool(fault))
        found = await _collect(job, limit_s)
        notes = _notes(workspace, job, found, limit_s)
        if fault:
            notes.append(f"the pattern is no valid regular expression ({fault}), so it was searched as plain text")
        if _GLOB.fullmatch(pattern):
            notes.append("files are found by name with this as glob and an empty pattern")
        if pattern != arguments["pattern"]:
            notes.append(r"a backspace in the pattern was read as \b; write \\b in JSON")
        return Outcome(_spelled(workspace, found, notes), Status.ERROR if found.timed_out else Status.OK)

    return Tool(resources.tool_spec("search"), Risk.READ, preview, run)


@dataclass(slots=True)
class Found:
    """What the child said: `rows` are the first matches, the counts go on after them."""

    rows: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    chars: int = 0
    matches: int = 0
    paths: set[str] = field(default_factory=set[str])
    files: int | None = None
    skipped: int = 0
    at: str = ""
    timed_out: bool = False

    def take(self, row: dict[str, Any]) -> None:
        if "in" in row:
            self.at = row["in"]
        elif "files" in row:
            self.files, self.skipped = row["files"], row["skipped"]
        else:
            self.matches += 1
            cost = len(row.get("text", "")) + 8 + (0 if row["path"] in self.paths else len(row["path"]))
            self.paths.add(row["path"])
            limit = MAX_SHOWN if "text" in row else MAX_SHOWN * 2
            if len(self.rows) < limit and self.chars + cost < MAX_CHARS - 1_000:
                self.rows.append(row)
                self.chars += cost


def _place(workspace: Workspace, arguments: Arguments) -> Path:
    """The file or folder to search. Raises ToolFault, for wildcards in words that say where they belong."""
    text = arguments.get("path") or "."
    try:
        return workspace.to_read(text)
    except ToolFault:
        folder, _, name = text.strip().replace("\\", "/").rpartition("/")
        if not any(sign in name for sign in "*?"):
            raise
        where = json.dumps({"path": folder or ".", "glob": name}, ensure_ascii=False)
        raise ToolFault(f"path takes no wildcards; they are glob's. Search again with {where}.") from None


def _regex_fault(pattern: str) -> str:
    """What is wrong with a regular expression; empty where it is one."""
    try:
        re.compile(pattern, re.IGNORECASE)
    except (re.error, RecursionError, OverflowError) as fault:
        return str(fault) or "it is too deep"
    return ""


async def _collect(job: Job, limit_s: float) -> Found:
    found = Found()
    async with _child() as child:
        if child.stdin:
            child.stdin.write(json.dumps(asdict(job)).encode())
            child.stdin.close()
        try:
            async with asyncio.timeout(limit_s), aclosing(_rows(child)) as rows:
                async for row in rows:
                    found.take(row)
                    if found.matches >= MAX_COUNTED:
                        return found
                if await child.wait():
                    raise ToolFault(f"The search stopped at {found.at or 'its start'}; try a simpler pattern.")
        except TimeoutError:
            found.timed_out = True
    return found


@asynccontextmanager
async def _child() -> AsyncGenerator[asyncio.subprocess.Process]:
    """A process that searches, gone when the block is left."""
    command = (sys.executable, "-P", "-m", "oasis.tools.grep")
    pipe, null = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
    child = await asyncio.create_subprocess_exec(
        *command, stdin=pipe, stdout=pipe, stderr=null, limit=1 << 20, **process.OWN_GROUP
    )
    try:
        yield child
    finally:
        if child.returncode is None:
            process.end_group(child.pid)
            await child.communicate()


async def _rows(child: asyncio.subprocess.Process) -> AsyncGenerator[dict[str, Any]]:
    if child.stdout:
        async for line in child.stdout:
            yield json.loads(line)


def _spelled(workspace: Workspace, found: Found, notes: list[str]) -> str:
    out: list[str] = []
    at = ""
    for row in found.rows:
        name = workspace.shown(Path(row["path"]))
        if "text" not in row:
            out.append(name)
            continue
        if name != at:
            at = name
            out.append(name)
        column = f":{row['column']}" if "column" in row else ""
        out.append(f"  {row['line']}{column}: {row['text']}")
    return "\n".join([*out, f"[{'; '.join(notes)}]"])


def _notes(workspace: Workspace, job: Job, found: Found, limit_s: float) -> list[str]:
    files = "the first" if found.files is None else found.files
    if not job.pattern:
        notes = [f"{found.matches} files"]
    else:
        notes = [f"{found.matches} lines in {len(found.paths)} of {files} files"]
    if len(found.rows) < found.matches:
        notes.append(f"the first {len(found.rows)} shown; narrow the pattern, path or glob")
    if any("column" in row for row in found.rows):
        notes.append("line:column in long lines; read goes there with from and column")
    if found.skipped:
        notes.append(f"{found.skipped} binary or unreadable files left out")
    if found.timed_out:
        where = workspace.shown(Path(found.at)) if found.at else "its start"
        notes.append(f"stopped after {limit_s:g} s at {where}; use a simpler pattern or a narrower path")
    return notes
