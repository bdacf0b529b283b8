"""`oasis bench plant`: the packs beside the bare libraries."""

import json as json_text
from pathlib import Path
from typing import Annotated

import typer

from oasis.cli.options import AsJson


def plant(
    pack: Annotated[
        list[str] | None, typer.Option("--pack", metavar="NAME", help="Only this pack; repeatable.")
    ] = None,
    maps: Annotated[
        Path | None,
        typer.Option(metavar="DIR", exists=True, file_okay=False, help="Published register maps, to guess types on."),
    ] = None,
    json: AsJson = False,
) -> None:
    """Compare each pack's driver with its bare library.

    Block reads, scans, browsing, cycles, in one run on the pack's simulator. Figures are ratios. EtherCAT needs Linux
    and CAP_NET_RAW. Exit code 1 where an aim was missed.
    """
    import asyncio

    from oasis.measure.plant import LIBRARIES, rows

    if unknown := sorted(set(pack or ()) - set(LIBRARIES)):
        raise typer.BadParameter(f"there is no benchmark of {unknown[0]!r}. There are: {', '.join(LIBRARIES)}")

    async def run() -> bool:
        is_missed = False
        async for row in rows(pack or list(LIBRARIES), maps):
            is_missed |= row.is_met is False
            if json:
                fields = {name: getattr(row, name) for name in ("pack", "what", "figure", "words", "aim", "is_met")}
                typer.echo(json_text.dumps(fields, ensure_ascii=False))
                continue
            figure = "-" if row.figure is None else f"{row.figure:.2f}"
            aim = f" (aim: {row.aim}{'' if row.is_met else ', MISSED'})" if row.aim else ""
            typer.echo(f"{row.pack:<9} {row.what:<24} {figure:>6}  {row.words}{aim}")
        return is_missed

    if asyncio.run(run()):
        raise typer.Exit(1)
