"""`oasis plant`: what a model does with a plant, for a person. One small file a command."""

import io
import sys

import typer

from oasis.cli.plant import audit, site
from oasis.cli.plant.browse import browse
from oasis.cli.plant.compare import compare
from oasis.cli.plant.packs import packs
from oasis.cli.plant.read import read
from oasis.cli.plant.scan import scan
from oasis.cli.plant.watch import watch
from oasis.cli.plant.write import write

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    no_args_is_help=True,
    help="Look at a plant: scan, read, compare, watch, browse. With a site file: write; audit: what was written.\n\n"
    "Devices are named by URL, things in them by items; how they are written: `oasis plant packs`. "
    "Exit codes: 0 all is well; 1 a fault, in words; 2 wrong usage; 3 done in part, or otherwise than expected; 4 what "
    "became of a write is unknown; 130 interrupted.",
)


@app.callback()
def plant() -> None:
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a unit such as °C must not end a command on an old code page


for _command in (scan, read, compare, watch, browse, packs):
    app.command()(_command)
app.command(context_settings={"ignore_unknown_options": True})(write)  # a value can be negative
app.add_typer(audit.app, name="audit")
app.add_typer(site.app, name="site")
