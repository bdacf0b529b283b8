"""`oasis plant packs`: how URLs and items are written."""

import typer

from oasis.cli.plant.options import AsJson, prints_json


def packs(json: AsJson = None) -> None:
    """Show how each installed pack's URLs and items are written."""
    from oasis.lab.lab import not_installed
    from oasis.packs import find_packs
    from oasis.ui.plant import rows

    found = find_packs()
    absent = not_installed()
    if prints_json(json):
        said = [{"name": pack.name, "schemes": list(pack.drivers), "words": pack.words} for pack in found.values()]
        typer.echo(rows.line({"v": rows.VERSION, "packs": said, "absent": absent}))
        return
    for pack in found.values():
        typer.echo(f"{pack.name}: {pack.words.strip()}\n")
    for name, why in absent.items():
        typer.echo(f"{name}: {why}")
