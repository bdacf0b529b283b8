"""Hooks: commands of the user's that run when something happens (docs/hooks.md).

They come from the user's settings alone. Each gets JSON on its standard input; its exit code decides, and what it
writes goes to the tail of the session, never into the prefix.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from oasis.agent.hook_process import Ran, run
from oasis.config import Hook, HookEvent, Settings, user_file
from oasis.core.items import Notice, ToolCall
from oasis.core.rule import Deny
from oasis.core.tool import Arguments, Outcome, Preview, Tool

VERSION = 1
_SCRIPTS = (".py", ".js", ".ts", ".sh", ".ps1", ".rb")
OBJECTS = 2
"""The exit code by which a hook objects."""


@dataclass(frozen=True, slots=True)
class Before:
    """What the hooks say before a tool runs: a denial, or text for the end of its output."""

    denial: Deny | None = None
    text: str = ""


class Hooks:
    """The hooks of a session. `say` is told what went wrong in one; that never ends anything."""

    def __init__(self, hooks: Sequence[Hook], project: Path, folder: Path, say: Callable[[str], None]) -> None:
        """`folder`: where the commands run and what their paths are relative to, the user's settings folder."""
        self._hooks = tuple(hooks)
        self._project = project
        self._folder = folder
        self._say = say
        self._session = ""
        self._told: list[Notice] = []

    async def turn_begins(self, session: str, *, is_resumed: bool) -> list[Notice]:
        """What belongs before the person's message: a session's start the first time, what the last turn's end gave."""
        told, self._told = self._told, []
        if self._session != session:
            self._session = session
            told = await self._notices("session_start", {"is_resumed": is_resumed})
        return told

    async def turn_ended(self, reason: str, text: str) -> None:
        """A turn ended with this answer; what its hooks give is told at the beginning of the next."""
        self._told = await self._notices("turn_end", {"reason": reason, "text": text})

    async def before_tool(self, tool: Tool, call: ToolCall, arguments: Arguments, preview: Preview) -> Before:
        """A tool is about to run, or to be asked about. The first hook that objects denies it."""
        texts: list[str] = []
        for hook in self._of("before_tool", tool):
            ran = await self._run(hook, self._about_call(tool, call, arguments, preview))
            if ran.code == OBJECTS:
                why = ran.errors or ran.output or "no reason was given"
                return Before(Deny(f"Not run: a hook of the engineer's ({_name(hook)}) denies it: {why}"))
            if ran.code == 0 and ran.output:
                texts.append(_said(hook, ran.output))
        return Before(text="\n".join(texts))

    async def after_tool(
        self, tool: Tool, call: ToolCall, arguments: Arguments, preview: Preview, outcome: Outcome
    ) -> Outcome:
        """A tool has run; what hooks write is put at the end of its output."""
        texts: list[str] = []
        about = self._about_call(tool, call, arguments, preview)
        for hook in self._of("after_tool", tool):
            ran = await self._run(hook, {**about, "status": outcome.status, "output": outcome.text})
            text = (ran.errors or ran.output) if ran.code == OBJECTS else ran.output if ran.code == 0 else ""
            if text:
                texts.append(_said(hook, text))
        return with_text(outcome, "\n".join(texts))

    def _of(self, event: HookEvent, tool: Tool | None = None) -> list[Hook]:
        return [
            hook
            for hook in self._hooks
            if hook.event == event
            and (tool is None or not hook.tools or any(fnmatchcase(tool.spec.name, name) for name in hook.tools))
        ]

    def _about_call(self, tool: Tool, call: ToolCall, arguments: Arguments, preview: Preview) -> dict[str, Any]:
        about = {"tool": tool.spec.name, "risk": tool.risk, "call_id": call.id, "arguments": dict(arguments)}
        return {**about, "title": preview.title, "subject": preview.subject}

    async def _notices(self, event: HookEvent, about: Mapping[str, Any]) -> list[Notice]:
        said: list[str] = []
        for hook in self._of(event):
            ran = await self._run(hook, about)
            text = (ran.errors or ran.output) if ran.code == OBJECTS else ran.output if ran.code == 0 else ""
            if text:
                said.append(_said(hook, text))
        return [Notice("\n".join(said))] if said else []

    async def _run(self, hook: Hook, about: Mapping[str, Any]) -> Ran:
        """Run one hook; what went wrong in it is said."""
        where = {"session": self._session, "project": str(self._project)}
        payload = json.dumps({"v": VERSION, "event": hook.event, **where, **about}, ensure_ascii=True).encode()
        ran = await run(
            hook.command,
            payload,
            folder=self._folder,
            project=self._project,
            environment={"OASIS_EVENT": hook.event, "OASIS_PROJECT": str(self._project)},
            limit_s=hook.timeout_s,
        )
        if ran.fault:
            self._say(f"The hook {_name(hook)} failed: {ran.fault}. The work goes on without it.")
        elif ran.code not in (0, OBJECTS):
            why = f": {ran.errors}" if ran.errors else ""
            self._say(f"The hook {_name(hook)} failed with exit code {ran.code}{why}. The work goes on without it.")
        return ran


def hooks_of(settings: Settings, project: Path, say: Callable[[str], None]) -> Hooks | None:
    """The hooks that the user set; None where there are none."""
    return Hooks(settings.hooks, project, user_file().parent, say) if settings.hooks else None


def with_text(outcome: Outcome, text: str) -> Outcome:
    """The outcome with more text at the end of its output; itself where there is none."""
    return Outcome(f"{outcome.text}\n{text}", outcome.status) if text else outcome


def _name(hook: Hook) -> str:
    """The hook as a person knows it: its program or script and its event, without other arguments."""
    script = next((part for part in hook.command[:2] if Path(part).suffix in _SCRIPTS), hook.command[0])
    return f"{Path(script).name} at {hook.event}"


def _said(hook: Hook, text: str) -> str:
    return f"[hook {_name(hook)}]\n{text}"
