"""`oasis bench facts`: whether what was found out early survives many compactions."""

import json as json_text
from pathlib import Path
from typing import Annotated

import typer

from oasis.cli.options import AsJson, settings_for


def facts(
    engine: Annotated[
        str, typer.Option(metavar="NAME|FILE", help="tiny-dense, tiny-swa, tiny-hybrid, or a GGUF.")
    ] = "tiny-dense",
    steps: Annotated[int, typer.Option(min=61, help="Model calls, besides those that write summaries.")] = 400,
    context: Annotated[int, typer.Option(min=8000, help="Context in tokens.")] = 16000,
    own: Annotated[bool, typer.Option(help="The model writes summaries and answers itself.")] = False,
    checkpoints: Annotated[bool, typer.Option(help="Context checkpoints of the embedded engine.")] = True,
    json: AsJson = False,
) -> None:
    """Thirty set points are read early, hundreds of files after them, and each is asked for at the end.

    The loop, its tools and its compactions are the ones of `oasis run`; tool calls are recorded. By default summaries
    and answers are recited: made of the facts that stand in the very prompt that was sent, and of nothing else. That
    measures what compaction carries, not how well a model sums up; with --own the model writes them.

    Exit code 1 where a recited fact was lost.
    """
    import asyncio
    import tempfile

    from oasis.agent.assembly import toolbox
    from oasis.engine.weights import find_model
    from oasis.measure.facts import lines, run
    from oasis.measure.kept import Place

    settings = settings_for(Path())
    with tempfile.TemporaryDirectory(prefix="oasis-bench-", ignore_cleanup_errors=True) as folder:
        place = Place(
            find_model(engine),
            Path(folder),
            toolbox(Path()).prefix,
            checkpoints=settings.checkpoints if checkpoints else 0,
            context=context,
            threads=settings.threads or None,
        )
        found = asyncio.run(run(place, engine, steps, is_own=own, say=lambda text: typer.echo(text, err=True)))
    if json:
        typer.echo(json_text.dumps(found.as_json(), ensure_ascii=False, indent=1))
    else:
        for line in lines(found):
            typer.echo(line)
    if not own and found.right < found.asked:
        raise typer.Exit(1)
