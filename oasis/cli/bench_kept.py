"""`oasis bench newsession|restart|fork|compaction`: what a kept KV state saves."""

import json as json_text
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from oasis.cli.options import AsJson, settings_for

if TYPE_CHECKING:
    from oasis.measure.kept import Cost

Engine = Annotated[str, typer.Option(metavar="NAME|FILE", help="tiny-dense, tiny-swa, tiny-hybrid, or a GGUF.")]
Checkpoints = Annotated[bool, typer.Option(help="Context checkpoints of the embedded engine.")]

_HELP = {
    "newsession": "A session in another project after a first one: only its own notes and question are computed.",
    "restart": "A session resumed after the engine was killed, with its state saved and without.",
    "fork": "Four sessions behind one head on two slots: the head is computed once.",
    "compaction": "A compaction behind a head of 9,000 tokens: instruction, summary and what was kept are computed.",
}
_MORE = "\n\nEach row beside the same prompt with nothing kept, in the same run. `excess` is computed minus new."


def add_to(app: typer.Typer) -> None:
    """Add the four commands to `oasis bench`."""
    for name, said in _HELP.items():
        app.command(name, help=said + _MORE)(_command(name))


def _command(name: str) -> Callable[..., None]:
    def command(engine: Engine = "tiny-dense", checkpoints: Checkpoints = True, json: AsJson = False) -> None:
        _run(name, engine, checkpoints, json)

    return command


def _run(name: str, engine: str, checkpoints: bool, as_json: bool) -> None:
    import asyncio
    import tempfile

    from oasis.agent.assembly import toolbox
    from oasis.engine.tiny import KINDS
    from oasis.engine.weights import find_model
    from oasis.measure.kept import SCENARIOS, Place, table

    settings = settings_for(Path())
    with tempfile.TemporaryDirectory(prefix="oasis-bench-", ignore_cleanup_errors=True) as folder:
        place = Place(
            find_model(engine),
            Path(folder),
            toolbox(Path()).prefix,
            slots=2 if name == "fork" else 1,
            checkpoints=settings.checkpoints if checkpoints else 0,
            context=settings.context or (32768 if engine in KINDS else 0),
            threads=settings.threads or None,
        )

        async def measured() -> "list[Cost]":
            await place.start()
            try:
                return await SCENARIOS[name](place)
            finally:
                await place.stop()

        rows = asyncio.run(measured())
    for said in dict.fromkeys(place.said):
        typer.echo(said, err=True)
    if as_json:
        found = {"bench": name, "engine": engine, "checkpoints": checkpoints, "rows": [row.as_json() for row in rows]}
        typer.echo(json_text.dumps({**found, "excess": max(row.excess for row in rows)}, indent=1))
        return
    for line in table(rows):
        typer.echo(line)
