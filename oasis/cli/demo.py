"""`oasis demo`: the main job on the embedded engine and a simulated boiler."""

import json as json_text
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from oasis.cli.options import AsJson, ModelFile, Server, settings_for

if TYPE_CHECKING:
    from oasis.measure.demo import Told


def demo(
    server: Server = "",
    model: ModelFile = "",
    keep: Annotated[Path | None, typer.Option("--keep", metavar="DIR", help="Work in this folder and keep it.")] = None,
    json: AsJson = False,
) -> None:
    """Show the main job on a simulated plant, and what each step cost.

    It works out the plant, writes one set point, turns a drive, and leaves devices.md.

    Without --server or --model the embedded engine runs SmolLM2-135M, which is fetched once. It is too small
    to decide well, so its decisions are replayed from a recorded job: the engine decodes each of them, and
    prefill, tools and device are real.
    """
    import asyncio
    import tempfile

    from oasis.measure.demo import RECORDED_MODEL, Demo
    from oasis.ui.headless import JsonLines, Progress

    is_live = bool(server or model)
    if not is_live:
        typer.echo(
            "The model is SmolLM2-135M, too small to decide well: its decisions are replayed from a recorded job. "
            "The engine, the prefill, the tools and their calls are real.",
            err=True,
        )
        _fetched(RECORDED_MODEL)
    with tempfile.TemporaryDirectory(prefix="oasis-demo-") as folder:
        project = (keep or Path(folder)).resolve()
        settings = settings_for(project, server=server, model=model or ("" if server else RECORDED_MODEL))
        view = JsonLines(sys.stdout) if json else Progress(sys.stdout, sys.stderr, shows_steps=True)
        run = Demo(settings, project, is_live).run(view.show, lambda text: typer.echo(text, err=True))
        costs = asyncio.run(run)
        view.close()
        _tell(costs, json)


def _fetched(name: str) -> None:
    from oasis.engine.weights import Weights, models_folder, named, pull

    weights = named(name)
    if isinstance(weights, Weights) and not (models_folder() / f"{name}.gguf").is_file():
        typer.echo(f"Fetching {name} ...", err=True)
        pull(weights)


_ONE_HEAD = " (below 1, since the sessions share one head, which was computed once)"


def _tell(costs: "list[Told]", as_json: bool) -> None:
    """What each step cost, and what the job would have cost without reuse."""
    from oasis.core.usage import Usage, amplification
    from oasis.measure.demo import as_row, without_reuse_ms

    rows = [as_row(cost) for cost in costs]
    total = sum((cost.usage for cost in costs), Usage())
    figure = amplification(total.computed_tokens, sum(cost.new_tokens for cost in costs))
    if as_json:
        cold = without_reuse_ms(costs)
        typer.echo(json_text.dumps({"steps": rows, "amplification": figure, "without_reuse_ms": cold}))
        return
    typer.echo(f"\n{'step':>4} {'presented':>10} {'cached':>8} {'computed':>9} {'new':>6} {'prefill':>10}")
    for row in rows:
        typer.echo(
            f"{row['step']:>4} {row['presented']:>10,} {row['cached']:>8,} {row['computed']:>9,} "
            f"{row['new']:>6,} {row['prefill_ms']:>7,.0f} ms"
        )
    typer.echo(
        f"\nPrefill computed {total.computed_tokens:,} of {total.prompt_tokens:,} prompt tokens in "
        f"{total.prefill_ms / 1000:,.1f} s: amplification {figure:.3f}{_ONE_HEAD if figure < 1 else ''}.\n"
        f"Without reuse it would have taken about {without_reuse_ms(costs) / 1000:,.0f} s at the same rate."
    )
