"""`oasis dialect`: what was inferred from a chat template, the lane it gives, and why."""

import json as json_text
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from oasis.cli.options import AsJson, Server

if TYPE_CHECKING:
    from oasis.dialect.borders import Border
    from oasis.dialect.report import Report

Paths = Annotated[
    list[Path] | None, typer.Argument(metavar="FILE|DIR", help="A .jinja or .gguf file, or a folder of them.")
]


def dialect(paths: Paths = None, server: Server = "", json: AsJson = False) -> None:
    """Show how a model writes a conversation, and the lane that gives.

    Inferred from its chat template (docs/dialect.md). Exit code 1 when a file cannot be read.
    """
    from oasis.errors import OasisError
    from oasis.ui.clean import clean

    if not paths and not server:
        raise OasisError("Nothing to look at: name a .jinja or .gguf file, a folder, or a server with --server URL.")
    reports, unread = _read(paths or [])
    shown: list[dict[str, Any]] = [report.as_json() for report in reports]
    borders: list[Border] = []
    if server:
        report, borders = _ask(server)
        reports.append(report)
        shown.append({**report.as_json(), "borders": [_border_json(border) for border in borders]})
    if json:
        typer.echo(json_text.dumps({"templates": shown, "totals": _totals(reports)}, ensure_ascii=False, indent=2))
    elif len(reports) == 1 and not unread:
        _print_one(reports[0])
    else:
        _print_table(reports)
    if server and not json:
        _print_borders(borders)
    for fault in unread:
        typer.echo(f"oasis: {clean(fault)}", err=True)
    if unread:
        raise typer.Exit(1)


def _read(paths: list[Path]) -> tuple[list["Report"], list[str]]:
    """A report for each file, and what could not be read."""
    from oasis.dialect.gguf import read_chat
    from oasis.dialect.report import examine
    from oasis.errors import OasisError

    reports: list[Report] = []
    unread: list[str] = []
    for path in _files(paths, unread):
        try:
            if path.suffix.lower() == ".gguf":
                chat = read_chat(path)
                reports.append(examine(path.name, chat.template, chat.bos, chat.eos))
                continue
            source = "" if path.exists() and not path.is_file() else path.read_text(encoding="utf-8")
            if "{{" in source or "{%" in source:
                reports.append(examine(path.name, source))
            else:
                unread.append(f"{path} is no chat template: nothing in it is filled in. Name a .jinja or a .gguf file.")
        except UnicodeDecodeError:
            unread.append(f"{path} is not UTF-8 text. Name a .jinja template or a .gguf model file.")
        except OSError as error:
            unread.append(f"{path} cannot be read: {error.strerror or error}.")
        except OasisError as error:
            unread.append(str(error))
    return reports, unread


def _files(paths: list[Path], unread: list[str]) -> list[Path]:
    """The files named, and the templates of folders named, sorted."""
    found: list[Path] = []
    for path in paths:
        if not os.path.isdir(path):  # noqa: PTH112 (where a name is too long, Path raises)
            found.append(path)
            continue
        inside = sorted(p for p in path.iterdir() if p.suffix.lower() in (".jinja", ".jinja2", ".gguf"))
        if not inside:
            unread.append(f"{path} holds no .jinja or .gguf file.")
        found += inside
    return found


def _ask(url: str) -> tuple["Report", list["Border"]]:
    """The server's template, and the borders at which its tokeniser tells pieces from the whole."""
    import asyncio

    from oasis.dialect.borders import examine_borders
    from oasis.dialect.report import examine
    from oasis.engine.llama import LlamaClient
    from oasis.errors import DialectFault

    async def asked() -> "tuple[Report, list[Border]]":
        client = LlamaClient(url)
        try:
            props = await client.props()
            template = str(props.get("chat_template") or "")
            if not template:
                raise DialectFault(
                    f"The server at {url} shows no chat template.\n"
                    "Its dialect cannot be inferred; the chat lane is used.\n"
                    "Start it with --jinja, or name the model's template file."
                )
            bos, eos = str(props.get("bos_token") or ""), str(props.get("eos_token") or "")
            report = examine(url, template, bos, eos)
            if report.dialect is None or report.lane == "chat":
                return report, []
            return report, await examine_borders(report.dialect, client.tokenize)
        finally:
            await client.aclose()

    return asyncio.run(asked())


def _print_one(report: "Report") -> None:
    typer.echo(f"{report.name}: {'token' if report.lane == 'tokens' else 'chat'} lane")
    if report.reason:
        typer.echo(report.reason)
    if report.reuse:
        typer.echo(f"Where the server renders: {report.reuse.sentence()}")
    if report.kwargs:
        typer.echo(f"chat_template_kwargs that keep history: {json_text.dumps(dict(report.kwargs))}")
    if not report.dialect:
        return
    for name, value in report.dialect.facts.items():
        typer.echo(f"  {name:22}{value if isinstance(value, bool) else json_text.dumps(value, ensure_ascii=False)}")
    typer.echo(f"  {'stops':22}{json_text.dumps(report.dialect.stops, ensure_ascii=False)}")
    typer.echo(f"  {'digest':22}{report.dialect.digest}")


def _print_table(reports: list["Report"]) -> None:
    width = max((len(report.name) for report in reports), default=8)
    typer.echo(f"{'template':{width}}  lane    calls         reasoning  history   why")
    for report in reports:
        facts = report.dialect.facts if report.dialect else {}
        history = "" if not report.dialect else "appends" if report.dialect.is_appending else "rewrites"
        why = report.reason.splitlines()[0] if report.reason else ""
        reasoning = "shown" if facts.get("reasoning_key") else ""
        row = f"{report.name:{width}}  {report.lane:7} {facts.get('calls', ''):13} {reasoning:10} {history:9} {why}"
        typer.echo(row.rstrip())
    totals = _totals(reports)
    typer.echo(
        f"{totals['templates']} templates: {totals['tokens']} token lane, {totals['chat']} chat lane; "
        f"{totals['appending']} append by themselves, {totals['own_calls']} with Oasis' own call syntax."
    )


def _totals(reports: list["Report"]) -> dict[str, int]:
    lane = [report for report in reports if report.lane == "tokens" and report.dialect]
    return {
        "templates": len(reports),
        "tokens": len(lane),
        "chat": len(reports) - len(lane),
        "appending": sum(report.dialect is not None and report.dialect.is_appending for report in lane),
        "own_calls": sum(report.dialect is not None and report.dialect.facts["calls"] == "oasis" for report in lane),
    }


def _border_json(border: "Border") -> dict[str, Any]:
    return {"before": border.before, "after": border.after, "between": border.between, "is_same": border.is_same}


def _print_borders(borders: list["Border"]) -> None:
    different = [border for border in borders if not border.is_same]
    typer.echo(f"Tokenised apart, {len(different)} of {len(borders)} borders give other ids than the whole.")
    for border in different:
        typer.echo(f"  {border.between}: {border.before!r} | {border.after!r}")
