"""`oasis screens`: the main moments of a session as SVG, for the documentation."""

from pathlib import Path
from typing import Annotated

import typer

FOLDER = Path("docs/screens")


def screens(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Where to write them.")] = FOLDER,
    check: Annotated[bool, typer.Option("--check", help="Write nothing; fail where one is not up to date.")] = False,
) -> None:
    """Draw the main moments of an interactive session as SVG files."""
    from oasis.errors import ConfigError
    from oasis.ui.terminal.pictures import pictures, words_of

    stale: list[str] = []
    for name, svg in pictures():
        file = folder / f"{name}.svg"
        before = file.read_text(encoding="utf-8") if file.exists() else ""
        if words_of(before) == words_of(svg):
            continue
        stale.append(str(file))
        if not check:
            folder.mkdir(parents=True, exist_ok=True)
            file.write_text(svg, encoding="utf-8")
            typer.echo(f"Wrote {file}.")
    if check and stale:
        raise ConfigError(f"Not up to date: {', '.join(stale)}. `oasis screens` draws them again.")
