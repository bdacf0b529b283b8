"""`oasis bench`: what the prefix, the calls and the harness itself cost, measured on a real engine."""

import json as json_text
from pathlib import Path
from typing import Annotated

import typer

from oasis.cli.options import AsJson, settings_for

app = typer.Typer(
    no_args_is_help=True, add_completion=False, rich_markup_mode=None, help="Measure on a real engine what things cost."
)


@app.command()
def depth(
    engine: Annotated[
        str, typer.Option(metavar="NAME|FILE|URL", help="tiny-dense, tiny-swa, tiny-hybrid, a GGUF, or a server.")
    ] = "tiny-dense",
    lanes: Annotated[str, typer.Option(help="Which to run, with commas between.")] = "tokens,chat,clock,dropped,pruned",
    steps: Annotated[int, typer.Option(min=0, help="Only the first so many of the 60 steps; 0: all.")] = 0,
    checkpoints: Annotated[bool, typer.Option(help="Context checkpoints of the embedded engine.")] = True,
    json: AsJson = False,
) -> None:
    """One recorded job of 60 steps in 6 turns: what each lane has the server compute.

    The engine decodes every recorded message, forced by a grammar that admits only that text, so a slot holds what a
    real run leaves in it. In the chat lane the request says tool_choice "none", with which llama.cpp takes a grammar
    beside tools and writes the same prompt; the recorded message goes back in place of the text it then does not
    split into calls.

    Exit code 1 where the recorder between client and engine counted otherwise than Oasis booked.
    """
    import asyncio

    from oasis.agent.assembly import toolbox
    from oasis.measure.depth import Plan, run
    from oasis.measure.depth_text import lines
    from oasis.measure.job import load
    from oasis.resources import shipped

    job = load(shipped("fixtures/jobs/depth.jsonl")).first(steps)
    wanted = [lane.strip() for lane in lanes.split(",") if lane.strip()]
    plan = Plan(engine, wanted, job, toolbox(Path()).prefix, settings_for(Path()), checkpoints)
    result = asyncio.run(run(plan, lambda text: typer.echo(text, err=True)))
    if json:
        typer.echo(json_text.dumps(result.as_json(), ensure_ascii=False, indent=1))
    else:
        for line in lines(result):
            typer.echo(line)
    if result.faults:
        raise typer.Exit(1)
