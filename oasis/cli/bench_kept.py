"""`oasis bench newsession|restart|fork|compaction`: what a kept KV state saves."""

import json as json_text
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from oasis.cli.options import AsJson, say, settings_for

if TYPE_CHECKING:
    from oasis.measure.kept import Cost
    from oasis.measure.place import Place

Engine = Annotated[
    str, typer.Option("--engine", metavar="NAME|FILE", help="tiny-dense, tiny-swa, tiny-hybrid, or a GGUF.")
]
Checkpoints = Annotated[
    bool, typer.Option("--checkpoints/--no-checkpoints", help="Context checkpoints of the embedded engine.")
]

_HELP = {
    "newsession": "Measure a new session, in another project after a first one."
    "\n\nOnly its own notes and question are computed.",
    "restart": "Measure a session resumed after the engine was killed.\n\nWith its state saved before, and without.",
    "fork": "Measure four sessions behind one head, on two slots.\n\nThe head is computed once.",
    "compaction": "Measure a compaction behind a head of 9,000 tokens."
    "\n\nInstruction, summary and what was kept are computed.",
}
_MORE = " Each row stands beside the same prompt with nothing kept, in the same run. `excess` is computed minus new."


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

    from oasis.agent.assembly import toolbox
    from oasis.engine.tiny import KINDS
    from oasis.measure.kept import table
    from oasis.measure.place import temporary_place

    settings = settings_for(Path())
    context, slots = settings.context or (32768 if engine in KINDS else 0), 2 if name == "fork" else 1
    head = toolbox(Path()).prefix
    with temporary_place(engine, head, settings, has_checkpoints=checkpoints, context=context, slots=slots) as place:
        rows = asyncio.run(_measured(name, place))
    for said in dict.fromkeys(place.said):
        say(said)
    if as_json:
        found = {"bench": name, "engine": engine, "checkpoints": checkpoints, "rows": [row.as_json() for row in rows]}
        typer.echo(json_text.dumps({**found, "excess": max(row.excess for row in rows)}, indent=1))
        return
    for line in table(rows):
        typer.echo(line)


async def _measured(name: str, place: "Place") -> "list[Cost]":
    from oasis.measure.kept import SCENARIOS

    await place.start()
    try:
        return await SCENARIOS[name](place)
    finally:
        await place.stop()
