"""`oasis bench facts`: whether what was found out early survives many compactions."""

import json as json_text
from pathlib import Path
from typing import Annotated

import typer

from oasis.cli.bench_kept import Checkpoints, Engine
from oasis.cli.options import AsJson, say, settings_for


def facts(
    engine: Engine = "tiny-dense",
    steps: Annotated[int, typer.Option(metavar="N", min=61, help="Model calls, without those for summaries.")] = 400,
    context: Annotated[int, typer.Option(metavar="TOKENS", min=8000, help="Context of the engine.")] = 16000,
    own: Annotated[bool, typer.Option("--own", help="The model writes summaries and answers itself.")] = False,
    checkpoints: Checkpoints = True,
    json: AsJson = False,
) -> None:
    """Measure which facts survive many compactions.

    Thirty set points are read early, hundreds of files after them, and each is asked for at the end. The loop, its
    tools and its compactions are the ones of `oasis run`; tool calls are recorded. By default summaries and answers are
    recited: made of the facts that stand in the very prompt that was sent, and of nothing else. That measures what
    compaction carries, not how well a model sums up; with --own the model writes them.

    Exit code 1 where a recited fact was lost.
    """
    import asyncio

    from oasis.agent.assembly import toolbox
    from oasis.measure.facts import lines, run
    from oasis.measure.place import temporary_place

    head, settings = toolbox(Path()).prefix, settings_for(Path())
    with temporary_place(engine, head, settings, has_checkpoints=checkpoints, context=context) as place:
        found = asyncio.run(run(place, engine, steps, is_own=own, say=say))
    if json:
        typer.echo(json_text.dumps(found.as_json(), ensure_ascii=False, indent=1))
    else:
        for line in lines(found):
            typer.echo(line)
    if not own and found.right < found.asked:
        raise typer.Exit(1)
