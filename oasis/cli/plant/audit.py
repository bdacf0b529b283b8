"""`oasis plant audit`: what was written, by whom, and how it ended."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from oasis.cli.plant.options import PARTLY, AsJson, SiteFile, prints_json
from oasis.cli.plant.write import Yes

if TYPE_CHECKING:
    from oasis.plant.audit_report import Row
    from oasis.plant.audit_writes import KeptWrite

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    no_args_is_help=True,
    help="What was written: verify, report as found and as left, take back.",
)
File = Annotated[
    Path | None,
    typer.Argument(metavar="[FILE]", help="An audit file. Default: that of --site, or the only one there is."),
]
_WRITES = ("ID", "Sent", "Tag", "Before", "After", "Read back", "Unit", "Outcome", "By", "Session")
_NUMBERS = ("as found", "as left", "writes")


@app.command()
def verify(file: File = None, site: SiteFile = None, json: AsJson = None) -> None:
    """Check that no line of the audit was changed or is missing.

    By its chain, its count and what sessions saw of it.

    Exit code 1 when one was.
    """
    import asyncio

    from oasis.agent.sessions import audited
    from oasis.cli.plant.audits import chosen
    from oasis.plant.audit import read_records
    from oasis.plant.audit import verify as verified
    from oasis.ui.clean import clean
    from oasis.ui.plant import rows

    path = asyncio.run(chosen(site, file)).absolute()
    faults = verified(path, audited(path))
    count = len(read_records(path))
    if prints_json(json):
        typer.echo(rows.line({"v": rows.VERSION, "file": str(path), "lines": count, "faults": faults}))
    elif faults:
        typer.echo(f"{path} is not as it was written:")
        for fault in faults:
            typer.echo(f"  {clean(fault)}")
    else:
        typer.echo(f"{path} holds together: {count} line{'s' * (count != 1)}, each follows from the one before.")
    if faults:
        raise typer.Exit(1)


@app.command()
def report(
    file: File = None,
    site: SiteFile = None,
    writes: Annotated[bool, typer.Option("--writes", help="Each write with its ID, instead of each tag.")] = False,
    changed: Annotated[
        bool,
        typer.Option("--changed", help="Only tags left otherwise than they were found, or not known to be as found."),
    ] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="As a Markdown table.")] = False,
    csv: Annotated[bool, typer.Option("--csv", help="As CSV.")] = False,
    json: AsJson = None,
) -> None:
    """The commissioning sheet: each tag as found and as left.

    With unit, writes, outcome, who and when.

    Exit code 3 when the audit is not as it was written; `oasis plant audit verify` says the same.
    """
    import asyncio

    from oasis.agent.sessions import audited
    from oasis.cli.plant.audits import chosen
    from oasis.plant import audit_report as sheet
    from oasis.plant.audit import verify as verified
    from oasis.plant.sheet import as_csv, as_markdown

    for one, other, is_both in (("markdown", "csv", markdown and csv), ("writes", "changed", writes and changed)):
        if is_both:
            raise typer.BadParameter(f"--{one} and --{other}: choose one")
    path = asyncio.run(chosen(site, file)).absolute()
    rows = [row for row in sheet.report(path) if row.is_changed or not changed]
    if markdown or csv:
        headings = _WRITES if writes else sheet.HEADINGS
        cells = sheet.single_writes(path) if writes else [row.cells for row in rows]
        text = as_markdown(headings, cells) if markdown else as_csv(headings, cells)
        typer.echo(text.replace("\r\n", "\n"), nl=False)
    elif writes:
        _show_writes(sheet.sent_writes(path), prints_json(json))
    else:
        _show(rows, prints_json(json), "Everything was left as it was found." if changed else "Nothing was written.")
    _warn_of(path, verified(path, audited(path)))


def _warn_of(path: Path, faults: "Sequence[str]") -> None:
    """Say what shows that the audit is not as it was written, and exit with 3 where something does."""
    from oasis.ui.clean import clean

    if faults:
        said = "\n".join(f"  {fault}" for fault in faults)
        typer.echo(clean(f"{path} is not as it was written, and so this sheet may not be true:\n{said}"), err=True)
        raise typer.Exit(PARTLY)


@app.command()
def revert(
    token: Annotated[str, typer.Argument(metavar="ID", help="The write's token, from the report or the audit.")],
    site: SiteFile = None,
    yes: Yes = False,
    json: AsJson = None,
) -> None:
    """Write what a write found there.

    It is a new plan, shown and asked about like any other.
    """
    import asyncio

    asyncio.run(_revert(token, site, yes, prints_json(json)))


async def _revert(token: str, site: SiteFile, yes: bool, as_json: bool) -> None:
    from oasis.cli.plant.approve import carried_out, check_can_ask, told, writing

    check_can_ask(yes)
    async with writing(site, "revert") as writer:
        plan = await writer.revert(token)
        code = told(plan, await carried_out(writer, plan, yes), as_json)
    raise typer.Exit(code)


def _show(made: "list[Row]", as_json: bool, nothing: str) -> None:
    from oasis.ui.plant import rows
    from oasis.ui.plant.page import cell, console, table

    if as_json:
        typer.echo(rows.line({"v": rows.VERSION, "tags": [_row(row) for row in made]}))
        return
    out = console()
    for url in dict.fromkeys(row.url for row in made):
        shown = table("tag", "address", "as found", "as left", "unit", "writes", "outcome", right=_NUMBERS)
        of_url = [row for row in made if row.url == url]
        for row in of_url:
            tag, _, *cells = row.cells[:8]
            shown.add_row(*(cell(text) for text in (tag, *cells)))
        out.print(cell(url, "bold"))
        out.print(shown)
        for row in of_url:
            out.print(cell(f"{row.tag}: {', '.join(row.by)}, {_time(row.last)}"))
    if not made:
        typer.echo(nothing)


def _show_writes(writes: "list[KeptWrite]", as_json: bool) -> None:
    from oasis.plant.audit_report import cells_of
    from oasis.ui.plant import rows
    from oasis.ui.plant.page import cell, console, table

    if as_json:
        typer.echo(rows.line({"v": rows.VERSION, "writes": [_write(write) for write in writes]}))
        return
    if not writes:
        typer.echo("Nothing was written.")
        return
    out = console()
    shown = table(_WRITES[0], *_WRITES[2:8])
    for write in writes:
        token, _, *others, _, _ = cells_of(write)
        shown.add_row(*(cell(text) for text in (token, *others)))
    out.print(shown)
    for write in writes:
        out.print(cell(f"{write.token}: {write.by}, {_time(write.sent_at)}"))


def _write(write: "KeptWrite") -> dict[str, Any]:
    from oasis.plant.packed import packed

    return {
        "id": write.token,
        "sent": write.sent_at,
        "tag": write.tag,
        "url": write.url,
        "address": write.address,
        "before": packed(write.before),
        "after": packed(write.after),
        "read_back": packed(write.read_back),
        "unit": write.form.unit or None,
        "outcome": str(write.effect),
        "by": write.by,
        "session": write.session,
    }


def _time(text: str) -> str:
    """A time of the audit, which is UTC, in seconds."""
    return f"{text[:19].replace('T', ' ')} UTC"


def _row(row: "Row") -> dict[str, Any]:
    from oasis.plant.packed import packed

    return {
        "tag": row.tag,
        "url": row.url,
        "address": row.address,
        "unit": row.unit or None,
        "as_found": packed(row.as_found),
        "as_left": packed(row.as_left),
        "writes": row.writes,
        "unknown": row.unknown,
        "outcome": str(row.outcome),
        "by": row.by,
        "first": row.first,
        "last": row.last,
    }
