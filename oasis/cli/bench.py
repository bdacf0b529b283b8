"""`oasis bench`: what the prefix, the calls and the harness itself cost, measured on a real engine."""

import json as json_text
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from oasis.cli.bench_facts import facts
from oasis.cli.bench_kept import Checkpoints, add_to
from oasis.cli.bench_plant import plant
from oasis.cli.options import AsJson, ModelFile, Server, say, settings_for

if TYPE_CHECKING:
    from oasis.measure.calls import Share

app = typer.Typer(
    no_args_is_help=True, add_completion=False, rich_markup_mode=None, help="Measure on a real engine what things cost."
)


@app.command()
def depth(
    engine: Annotated[
        str, typer.Option(metavar="NAME|FILE|URL", help="tiny-dense, tiny-swa, tiny-hybrid, a GGUF, or a server.")
    ] = "tiny-dense",
    lanes: Annotated[str, typer.Option(metavar="NAME,...", help="Which to run.")] = "tokens,chat,clock,dropped,pruned",
    steps: Annotated[int, typer.Option(metavar="N", min=0, help="Only the first so many of the 60 steps; 0: all.")] = 0,
    checkpoints: Checkpoints = True,
    compact: Annotated[bool, typer.Option("--compact", help="Compact in the middle of the token lane's job.")] = False,
    json: AsJson = False,
) -> None:
    """Play a recorded job of 60 steps: what each lane computes.

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
    plan = Plan(engine, wanted, job, toolbox(Path()).prefix, settings_for(Path()), checkpoints, compact)
    result = asyncio.run(run(plan, say))
    if json:
        typer.echo(json_text.dumps(result.as_json(), ensure_ascii=False, indent=1))
    else:
        for line in lines(result):
            typer.echo(line)
    if result.faults:
        raise typer.Exit(1)


@app.command()
def overhead(json: AsJson = False) -> None:
    """Measure the harness's own time.

    CPU of a step at 100,000 tokens, resuming 1,000 steps, starting. Exit code 1 where a limit is not kept.
    """
    import asyncio

    from oasis.agent.assembly import toolbox
    from oasis.measure.overhead import resume_time, start_time, step_cpu

    prefix, settings = toolbox(Path()).prefix, settings_for(Path())
    found = [asyncio.run(step_cpu(prefix, settings)), asyncio.run(resume_time(prefix)), start_time()]
    if json:
        typer.echo(json_text.dumps([finding.as_json() for finding in found], indent=1))
    else:
        for finding in found:
            verdict = "kept" if finding.is_kept else "NOT KEPT"
            typer.echo(f"{finding.name}: {finding.measured:.2f} {finding.unit} (limit {finding.limit:g}: {verdict})")
            typer.echo(f"    {finding.basis}")
    if not all(finding.is_kept for finding in found):
        raise typer.Exit(1)


@app.command()
def calls(
    server: Server = "",
    model: ModelFile = "",
    json: AsJson = False,
) -> None:
    """Count the tool calls of a model that can be run.

    With and without the grammar, with and without the tolerant parser.
    """
    import asyncio

    shares = asyncio.run(_calls(server, model))
    if json:
        typer.echo(json_text.dumps([share.as_json() for share in shares], indent=1))
        return
    typer.echo(f"{'':<40}{'can be run':>12}{'right tool':>12}{'of':>5}")
    for share in shares:
        typer.echo(f"{share.name:<40}{share.valid:>12}{share.right:>12}{share.asked:>5}")


async def _calls(server: str, model: str) -> "list[Share]":
    from oasis.agent.assembly import toolbox
    from oasis.measure.calls import measure, tasks
    from oasis.models.connect import connect
    from oasis.resources import shipped

    asked = tasks(shipped("fixtures/jobs/calls.jsonl"))

    connection = await connect(settings_for(Path(), server=server, model=model), say=say)
    try:
        return await measure(connection.model, toolbox(Path()).registry, asked, say)
    finally:
        await connection.close()


app.command()(facts)
app.command()(plant)
add_to(app)
