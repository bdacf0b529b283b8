"""Options that the plant's commands share."""

import sys
from pathlib import Path
from typing import Annotated

import typer

PARTLY = 3
"""Exit code: done in part, or a write was rejected by the device."""
UNKNOWN = 4
"""Exit code: what became of a write is unknown."""

Items = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="URL ITEM... | TAG",
        help="Items after the URL of their device, several times over; or tags of the site file (none: all of them). "
        "How items are written: `oasis plant packs`.",
    ),
]
SiteFile = Annotated[
    Path | None, typer.Option("--site", metavar="FILE", help="A site file: its tags can be named; writes need it.")
]
AsJson = Annotated[
    bool | None,
    typer.Option(
        "--json/--table", help="How to print. Default: tables on a terminal, JSON elsewhere.", show_default=False
    ),
]


def prints_json(asked: bool | None) -> bool:
    """Whether this command prints JSON."""
    return not sys.stdout.isatty() if asked is None else asked
