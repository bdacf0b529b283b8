"""`oasis` without a command: the interactive session in this terminal."""

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Any

import typer


def chat(
    project: Path,
    flags: dict[str, Any],
    *,
    lane: str,
    resume: str | None,
    compact_at: str,
    site: Path | None,
    task: str = "",
) -> int:
    """Hold an interactive session, which begins with `task` where there is one; the exit code."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise typer.BadParameter('an interactive session needs a terminal; `oasis run "task"` works without one')
    if os.environ.get("TERM") == "dumb":
        raise typer.BadParameter('this terminal (TERM=dumb) cannot move its cursor; use `oasis run "task"`')
    _check(lane, compact_at)
    given = {name: value for name, value in flags.items() if value is not None and value not in ("", [])}
    try:
        from oasis.ui.terminal.equipment import Start
        from oasis.ui.terminal.terminal import Terminal

        start = Start(project.resolve(), given, lane, resume, compact_at, site.resolve() if site else None, task)
        return asyncio.run(Terminal(start).run())
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # all is left in order; one more Ctrl-C has nothing to end


def _check(lane: str, compact_at: str) -> None:
    """Find what was misspelt before the prompt is shown."""
    if lane:
        from oasis.models.base import Lane

        if lane not in list(Lane):
            raise typer.BadParameter("--lane is tokens or chat")
    if compact_at:
        from oasis.agent.compaction_policy import CompactAt

        try:
            CompactAt.parse(compact_at)
        except ValueError as error:
            raise typer.BadParameter(f"--compact-at: {error}") from error
