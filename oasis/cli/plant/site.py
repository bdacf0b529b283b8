"""`oasis plant site`: check a site file, begin a new one."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from oasis.cli.plant.options import PARTLY, AsJson, prints_json

if TYPE_CHECKING:
    from oasis.plant.connections import Connections
    from oasis.plant.driver import Budget
    from oasis.plant.site_findings import Finding

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    no_args_is_help=True,
    help="The site file: what a plant's tags are, and what may be written.",
)


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


@app.command("list")
def list_(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A site file.")],
    markdown: Annotated[bool, typer.Option("--markdown", help="As a Markdown table.")] = False,
    csv: Annotated[bool, typer.Option("--csv", help="As CSV.")] = False,
    json: AsJson = None,
) -> None:
    """List the tags: the plant's signal list.

    With address, type, unit and what may be written.
    """
    import asyncio

    if markdown and csv:
        raise typer.BadParameter("--markdown and --csv: choose one")
    asyncio.run(_list(file, markdown, csv, prints_json(json)))


async def _list(file: Path, markdown: bool, csv: bool, as_json: bool) -> None:
    from oasis.cli.plant.targets import connected, loaded, needs_site
    from oasis.plant.sheet import as_csv, as_markdown
    from oasis.plant.tag_list import HEADINGS, cells_of
    from oasis.ui.plant import rows
    from oasis.ui.plant.tables import show_tags

    async with connected() as connections:
        site = needs_site(loaded(connections, file))
    listed = [cells_of(site, tag) for tag in site.tags.values()]
    if markdown or csv:
        text = as_markdown(HEADINGS, listed) if markdown else as_csv(HEADINGS, listed)
        typer.echo(text.replace("\r\n", "\n"), nl=False)
    elif as_json:
        tags = [rows.tag(site, tag) for tag in site.tags.values()]
        typer.echo(rows.line({"v": rows.VERSION, "file": str(file), "name": site.name, "tags": tags}))
    else:
        from oasis.ui.plant.page import console

        show_tags(console(), site)


@app.command()
def new(
    items: Annotated[list[str], typer.Argument(metavar="URL [ITEM...]...", help="Endpoints, each with its items.")],
    name: Annotated[str, typer.Option("--name", help="What the plant is called.")] = "plant",
    scan: Annotated[
        bool,
        typer.Option("--scan", help="Scan the endpoints, or below the items that are given, for what reads."),
    ] = False,
    seconds: Annotated[
        float, typer.Option(min=0.1, max=3600, metavar="SECONDS", help="Stop scanning after so long.")
    ] = 60.0,
    requests: Annotated[
        int, typer.Option(min=1, max=1_000_000, metavar="N", help="Stop scanning after so many requests.")
    ] = 2000,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Write it there; it must be new. Default: print it.")
    ] = None,
) -> None:
    """Begin a site file for these endpoints and items.

    Their tags can be read, and nothing can be written yet.

    oasis plant site new modbus://127.0.0.1:5020/1 "holding 0 uint16 x0.1 degC" --out plant.toml

    oasis plant site new modbus://127.0.0.1:5020 --scan --out plant.toml

    Without --scan nothing is sent to any device. With it the tags are what reads, each with its value and what it may
    be as a comment; exit code 3 when the scan stopped before the end, for its budget.
    """
    import asyncio

    from oasis.cli.plant.files import check_new, write_new
    from oasis.plant.driver import Budget

    if out is not None:
        check_new(out)
    text, stopped = asyncio.run(_new(items, name, Budget(requests, seconds) if scan else None))
    if out is None:
        typer.echo(text, nl=False)
    else:
        write_new(out, text)
        typer.echo(f"{out} is written. Add what may be written, then: oasis plant site check {out}", err=True)
    if stopped:
        typer.echo(f"Stopped before the end: {stopped}.", err=True)
        raise typer.Exit(PARTLY)


async def _new(items: Sequence[str], name: str, budget: "Budget | None") -> tuple[str, str]:
    """The file's text, and why a scan is incomplete."""
    from oasis.cli.plant.targets import connected
    from oasis.plant.site_new import NewTag, skeleton
    from oasis.plant.site_scan import explore
    from oasis.ui.plant.progress import progress

    async with connected() as connections:
        groups = _endpoints(connections, items)
        if budget is None:
            points = {url: [connections.open(url).point(item) for item in below] for url, below in groups.items()}
            return skeleton(name, {url: [NewTag(point) for point in some] for url, some in points.items()}), ""
        tags, identities, stopped = dict[str, list[NewTag]](), dict[str, str](), ""
        async with progress(budget):
            for url, below in groups.items():
                found = await explore(connections.open, url, below, budget)
                tags |= found.tags
                identities |= found.identities
                stopped = stopped or found.stopped
        return skeleton(name, tags, identities), stopped


def _endpoints(connections: "Connections", items: Sequence[str]) -> dict[str, list[str]]:
    """The items of each endpoint, by its canonical URL."""
    from oasis.plant.targets import is_url

    groups: dict[str, list[str]] = {}
    url = ""
    for text in items:
        if is_url(text) or not url:
            url = connections.open(text).url
            groups.setdefault(url, [])
        else:
            groups[url].append(text)
    return groups
