"""`oasis doctor`: what it sees, and what to do about it."""

import json as json_text
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from oasis.cli.options import AsJson, ModelFile, Packs, Project, Server, settings_for


def doctor(
    server: Server = "",
    model: ModelFile = "",
    pack: Packs = None,
    probe: Annotated[bool, typer.Option("--probe", help="Measure reuse on a server too (uses a free slot).")] = False,
    json: AsJson = False,
    project: Project = Path(),
) -> None:
    """Say what Oasis finds, what to expect of it, and how to mend it.

    Settings, engine, packs, server, model, lane, reuse. Exit code 1 when something is at fault.
    """
    import asyncio

    from oasis.measure.doctor import Verdict, examine
    from oasis.ui.clean import clean

    settings = settings_for(project, server=server, model=model, packs=pack)

    async def show() -> bool:
        is_well = True
        async for finding in examine(settings, probe):
            is_well = is_well and finding.verdict is not Verdict.FAULT
            if json:
                typer.echo(json_text.dumps(asdict(finding), ensure_ascii=False))
                continue
            typer.echo(f"{finding.verdict:5}  {finding.subject:9}{clean(finding.text)}")
            if finding.advice:
                typer.echo(f"{'':16}-> {clean(finding.advice)}")
        return is_well

    if not asyncio.run(show()):
        raise typer.Exit(1)
