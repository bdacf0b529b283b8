"""`oasis` without a command: the interactive session in this terminal."""

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import typer


def chat(
    project: Path, flags: dict[str, Any], *, lane: str, resume: str | None, compact_at: str, site: Path | None
) -> int:
    """Hold an interactive session; the exit code."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise typer.BadParameter('an interactive session needs a terminal; `oasis run "task"` works without one')
    if os.environ.get("TERM") == "dumb":
        raise typer.BadParameter('this terminal (TERM=dumb) cannot move its cursor; use `oasis run "task"`')
    from oasis.ui.terminal.equipment import Start
    from oasis.ui.terminal.terminal import Terminal

    given = {name: value for name, value in flags.items() if value is not None and value not in ("", [])}
    start = Start(project.resolve(), given, lane, resume, compact_at, site.resolve() if site else None)
    return asyncio.run(Terminal(start).run())
