"""`oasis plant site`: check a site file, begin a new one."""

import json as json_text
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from oasis.cli.plant.options import AsJson, prints_json

if TYPE_CHECKING:
    from oasis.plant.site_findings import Finding
    from oasis.plant.values import Point

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    no_args_is_help=True,
    help="The site file: what a plant's tags are, and what may be written.",
)
_HEAD = """\
# A site file: what the tags of a plant are, and what may be written. What is not in it is not written.
# `oasis plant site check FILE` explains what is wrong with it, line by line.
#
# To let a tag be written, add to its table (numbers are in its unit):
#   write = true
#   min = 20.0
#   max = 90.0
#   max_step = 5.0      # the most that one write may change it
#   rate = 10.0         # the most that all writes may change it within a minute; optional
#   safe = 60.0         # what it is set to when a session that wrote it ends; optional
#   unattended = false  # true: written without a person's approval
"""


@app.command()
def check(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A site file.")],
    json: AsJson = None,
) -> None:
    """Say what is wrong with a site file, and on which line. Exit code 1 when it cannot be used."""
    import asyncio

    asyncio.run(_check(file, prints_json(json)))


async def _check(file: Path, as_json: bool) -> None:
    from oasis.cli.plant.targets import connected
    from oasis.plant.site_file import check as checked
    from oasis.plant.site_file import load
    from oasis.ui.plant import rows

    async with connected() as connections:
        findings = checked(file, connections.open)
        errors = sum(finding.is_error for finding in findings)
        tags = 0 if errors else len(load(file, connections.open).tags)
    if as_json:
        said = [asdict(finding) for finding in findings]
        typer.echo(rows.line({"v": rows.VERSION, "file": str(file), "tags": tags, "findings": said}))
    else:
        _tell(file, findings, errors, tags)
    if errors:
        raise typer.Exit(1)


def _tell(file: Path, findings: "Sequence[Finding]", errors: int, tags: int) -> None:
    from oasis.ui.clean import clean

    for finding in findings:
        where = f"line {finding.line}: " if finding.line else ""
        typer.echo(clean(f"{where}{'' if finding.is_error else 'note: '}{finding.text}"))
    if errors:
        typer.echo(f"{file} cannot be used: {errors} error{'s' if errors > 1 else ''}. Nothing can be written with it.")
    else:
        typer.echo(f"{file} can be used: {tags} tag{'s' * (tags != 1)}.")


@app.command()
def new(
    items: Annotated[list[str], typer.Argument(metavar="URL [ITEM...]...", help="Endpoints, each with its items.")],
    name: Annotated[str, typer.Option("--name", help="What the plant is called.")] = "plant",
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Write it there; it must be new. Default: print it.")
    ] = None,
) -> None:
    """Begin a site file for these endpoints and items: their tags can be read, and nothing can be written yet.

    oasis plant site new modbus://127.0.0.1:5020/1 "holding 0 uint16 x0.1 degC" --out plant.toml

    Nothing is sent to any device.
    """
    import asyncio

    from oasis.lab.site import write_new

    text = asyncio.run(_new(items, name))
    if out is None:
        typer.echo(text, nl=False)
    else:
        write_new(out, text)
        typer.echo(f"{out} is written. Add what may be written, then: oasis plant site check {out}", err=True)


async def _new(items: Sequence[str], name: str) -> str:
    from oasis.cli.plant.targets import connected

    groups: dict[str, list[Point]] = {}
    url = ""
    async with connected() as connections:
        for text in items:
            if "://" in text or not url:
                url = connections.open(text).url
                groups.setdefault(url, [])
            else:
                groups[url].append(connections.open(url).point(text))
    return skeleton(name, groups)


def skeleton(name: str, groups: "Mapping[str, Sequence[Point]]") -> str:
    """A site file with these endpoints, and a tag that is only read for each point."""
    parts = [_HEAD, f"[site]\nname = {json_text.dumps(name)}\n"]
    taken: set[str] = set()
    for number, (url, points) in enumerate(groups.items(), 1):
        endpoint = f"device_{number}"
        parts.append(f"[endpoints.{endpoint}]\nurl = {json_text.dumps(url)}\n")
        parts.extend(_tag(endpoint, point, taken) for point in points)
    return "\n".join(parts)


def _tag(endpoint: str, point: "Point", taken: set[str]) -> str:
    slug = re.sub(r"\W+", "_", point.address, flags=re.ASCII).strip("_").lower()
    name = slug if slug[:1].isalpha() else f"tag_{slug}"
    name, base = name[:56], name[:56]
    while name in taken:
        name = f"{base}_{sum(other.startswith(base) for other in taken) + 1}"
    taken.add(name)
    form = point.form
    keys: dict[str, object] = {"endpoint": endpoint, "address": point.address}
    keys |= {key: getattr(form, key) for key in ("type", "order", "unit") if getattr(form, key)}
    keys |= {"scale": form.scale} if form.scale != 1.0 else {}
    keys |= {"offset": form.offset} if form.offset != 0.0 else {}
    lines = [f"{key} = {json_text.dumps(what, ensure_ascii=False)}" for key, what in keys.items()]
    return "\n".join([f"[tags.{name}]", *lines, ""])
