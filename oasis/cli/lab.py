"""`oasis lab`: a simulated plant, until Ctrl-C."""

import difflib
import json as json_text
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from oasis.cli.options import AsJson

if TYPE_CHECKING:
    from oasis.lab.lab import Lab

app = typer.Typer(add_completion=False, rich_markup_mode=None)
_OWN = ("site", "faults", "fault", "speed", "fixed-ports", "pack", "json", "help")


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def lab(
    context: typer.Context,
    site: Annotated[
        Path | None,
        typer.Option(
            "--site", metavar="FILE", help="Write a sample site file there; only one that a lab wrote is written over."
        ),
    ] = None,
    faults: Annotated[bool, typer.Option("--faults", help="Add a device for each fault that devices have.")] = False,
    fault: Annotated[
        list[str] | None,
        typer.Option("--fault", metavar="PACK:NAME", help="Give the plant itself a fault (modbus:busy@2); repeatable."),
    ] = None,
    speed: Annotated[
        float, typer.Option(min=0, max=10_000, metavar="FACTOR", help="The plant's seconds in one; 0 holds it still.")
    ] = 1,
    fixed_ports: Annotated[
        bool,
        typer.Option("--fixed-ports", help="Always the same ports (Modbus 5020 and 5021, ...) instead of free ones."),
    ] = False,
    pack: Annotated[
        list[str] | None, typer.Option("--pack", metavar="NAME", help="Only this pack's devices; repeatable.")
    ] = None,
    json: AsJson = False,
) -> None:
    """Start simulated devices of every pack; say how to reach them.

    They run until Ctrl-C. Nothing is reachable from outside: all listen on loopback. A value written changes what is
    read later, as in a plant. Other options go to the packs' own simulators.
    """
    import asyncio

    if faults and fault:
        raise typer.BadParameter("--faults gives each fault a device of its own; with --fault leave it out")
    options = {"speed": speed, "fixed_ports": fixed_ports} | ({"faults": True} if faults else {})
    run = _run(options, _extra(context.args), fault or (), pack or (), site, json)
    try:
        asyncio.run(run)
    except KeyboardInterrupt:
        typer.echo("The lab has ended.", err=True)


async def _run(
    options: dict[str, Any],
    extra: dict[str, str | bool],
    faults: Sequence[str],
    names: Sequence[str],
    site: Path | None,
    as_json: bool,
) -> None:
    import asyncio

    from oasis.lab.lab import running
    from oasis.lab.site import check_new, sample, write_new
    from oasis.packs import chosen_packs, find_packs

    if site is not None:
        check_new(site)
    packs = {pack.name: pack for pack in chosen_packs(names)} if names else find_packs()
    async with running(packs, options, extra, faults, _starting) as lab:
        if site is not None:
            write_new(site, sample(lab.devices))
        _tell(lab, site, as_json)
        await asyncio.Event().wait()


def _starting(name: str) -> None:
    """Some servers take seconds to start: say so where somebody looks on."""
    if sys.stderr.isatty():
        typer.echo(f"Starting {name} ...", err=True)


def _tell(lab: "Lab", site: Path | None, as_json: bool) -> None:
    if as_json:
        rows = [
            {"pack": d.pack, "name": d.station.name, "url": d.station.url, "words": d.station.words}
            for d in lab.devices
        ]
        typer.echo(json_text.dumps({"devices": rows, "absent": lab.absent, "site": str(site) if site else None}))
        return
    urls = [_quoted(device.station.url) for device in lab.devices]
    width = max((len(url) for url in urls), default=0)
    for url, device in zip(urls, lab.devices, strict=True):
        typer.echo(f"{url:{width}}  {device.station.name}: {device.station.words}")
    for line in lab.absent:
        typer.echo(line)
    first = next((device.station.url for device in lab.devices if device.station.url), None)
    if first:
        typer.echo(f"\nTry: oasis plant scan {_quoted(first)}")
    if site is not None:
        typer.echo(f"The site file {site} names its tags: oasis plant site check {site}")
    typer.echo("Ctrl-C ends the lab.")


def _quoted(url: str) -> str:
    """The URL as a shell takes it for one word; double quotes serve every shell."""
    return f'"{url}"' if re.search(r"[?&;*]", url) else url


def _extra(arguments: list[str]) -> dict[str, str | bool]:
    """`--big --nodeset FILE` as options for the simulators. Raises BadParameter for what is none."""
    extra: dict[str, str | bool] = {}
    name = ""
    for text in arguments:
        if text.startswith("--") and len(text) > 2:
            name, has_value, value = text[2:].partition("=")
            if near := difflib.get_close_matches(name, _OWN, 1, 0.7):
                raise typer.BadParameter(f"there is no option --{name}. Did you mean --{near[0]}?")
            extra[name.replace("-", "_")] = value if has_value else True
            name = "" if has_value else name
        elif name:
            extra[name.replace("-", "_")] = text
            name = ""
        else:
            raise typer.BadParameter(f"{text!r} is no option; the lab takes no arguments.")
    return extra
