"""`oasis kv`: the saved states of the model."""

import asyncio
import json as json_text
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from oasis.cli.options import AsJson, Context, ModelFile, Packs, Project, Server, Site, say, settings_for

if TYPE_CHECKING:
    from oasis.agent.warm import Warmed
    from oasis.config import Settings
    from oasis.kv.store import Store
    from oasis.kv.verify import Verdict
    from oasis.kv.worth import Artifact

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    no_args_is_help=True,
    help="The model's saved states: list, show, pin, verify, warm, remove.",
)
Ids = Annotated[list[str], typer.Argument(metavar="ID...", help="Ids, or their beginnings.")]


@app.command()
def ls(json: AsJson = False) -> None:
    """List what is saved, the most recently used first."""
    with _store() as store:
        rows = [_row(store, artifact) for artifact in store.all()]
    if json:
        typer.echo(json_text.dumps(rows))
        return
    for row in rows:
        marks = "".join(f" {mark}" for mark in ("pinned", "stale") if row[mark])
        typer.echo(
            f"{row['id'][:8]}  {row['kind']:7} {row['tokens']:7,d} tokens {row['bytes'] / (1 << 20):9.1f} MiB  "
            f"saves {row['prefill_ms'] / 1000:7.1f} s  used {row['uses']:3d} times, last {row['last_use']}{marks}"
        )
    if not rows:
        typer.echo("Nothing is saved yet. A session saves by itself; `oasis kv warm` does it ahead.", err=True)


@app.command()
def show(
    name: Annotated[str, typer.Argument(metavar="ID", help="An id, or its beginning.")], json: AsJson = False
) -> None:
    """Show one state: the engine it fits, the files whose text is in it."""
    with _store() as store:
        artifact = store.get(name)
        row = _row(store, artifact) | {
            "file": str(store.path(artifact)) if not artifact.place else artifact.file_name,
            "server": artifact.place,
            "key": artifact.key,
            "engine": store.fingerprint_parts(artifact.fingerprint),
            "sources": [asdict(s.source) | {"end": s.end} for s in store.segments(artifact) if s.source],
        }
    if json:
        typer.echo(json_text.dumps(row))
        return
    for label, value in row.items():
        typer.echo(f"{label:12} {value if not isinstance(value, dict | list) else json_text.dumps(value)}")


@app.command()
def rm(
    ids: Annotated[list[str] | None, typer.Argument(metavar="ID...", help="Ids, or their beginnings.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="All that is not pinned.")] = False,
) -> None:
    """Remove states, files and all."""
    if bool(ids) == everything:
        raise typer.BadParameter("give ids, or --all")
    with _store() as store:
        for artifact in (
            [a for a in store.all() if not a.is_pinned] if everything else [store.get(i) for i in ids or ()]
        ):
            store.remove(artifact)
            typer.echo(f"Removed {artifact.id[:8]}.")


@app.command()
def pin(ids: Ids, off: Annotated[bool, typer.Option("--off", help="Pin no longer.")] = False) -> None:
    """Keep states whatever the budget and their age."""
    with _store() as store:
        for artifact in [store.get(i) for i in ids]:
            store.pin(artifact, not off)
            typer.echo(f"{artifact.id[:8]} is {'no longer pinned' if off else 'pinned'}.")


@app.command()
def stats(json: AsJson = False) -> None:
    """Say what saving has brought.

    Restores, tokens reused of those promised, misses, milliseconds of prefill saved.
    """
    with _store() as store:
        artifacts, tallies = store.all(), store.tallies()
        figures = {
            "states": len(artifacts),
            "bytes": sum(a.bytes for a in artifacts if not a.place),
            "budget_bytes": store.budget_bytes,
            **dict.fromkeys(("restores", "promised_tokens", "reused_tokens", "misses", "unusable", "damaged"), 0.0),
            "prefill_ms_saved": 0.0,
            **tallies,
        }
    if json:
        typer.echo(json_text.dumps(figures))
        return
    for name, value in figures.items():
        typer.echo(f"{name:17} {value:,.0f}")


@app.command()
def verify(
    ids: Annotated[list[str] | None, typer.Argument(metavar="ID...", help="Default: all of this model.")] = None,
    model: ModelFile = "",
    server: Server = "",
    context: Context = None,
    json: AsJson = False,
) -> None:
    """Compare each state's continuation with a cold one.

    The same greedy tokens, or a tie within the tolerance (docs/kv.md). Exit code 1 when one differs.
    """
    settings = settings_for(Path(), server=server, model=model, context=context)
    verdicts = asyncio.run(_verify(settings, ids or []))
    for verdict in () if json else verdicts:
        typer.echo(
            f"{verdict.artifact[:8]}  {'the same' if verdict.is_same else 'DIFFERENT'}: {verdict.agreeing_tokens} of "
            f"{verdict.tokens} greedy tokens, log-probabilities within {verdict.logprob_difference:.4f} "
            f"({verdict.tolerance:.4f} allowed), "
            f"{verdict.computed_restored:,} tokens computed instead of {verdict.computed_cold:,}"
        )
    if json:
        typer.echo(json_text.dumps([asdict(verdict) for verdict in verdicts]))
    elif not verdicts:
        typer.echo("Nothing is saved for this engine.", err=True)
    if not all(verdict.is_same for verdict in verdicts):
        raise typer.Exit(1)


@app.command()
def warm(
    files: Annotated[
        list[str] | None, typer.Argument(metavar="FILE...", help="Default: `files` of the project's oasis.toml.")
    ] = None,
    model: ModelFile = "",
    server: Server = "",
    pack: Packs = None,
    site: Site = None,
    context: Context = None,
    project: Project = Path(),
    json: AsJson = False,
) -> None:
    """Compute ahead what this project's sessions begin with.

    The head, AGENTS.md and files; a session then starts after them. --pack NAME --site FILE as the sessions will have
    them, since the plant's tools stand in the head.
    """
    settings = settings_for(project, server=server, model=model, packs=pack, context=context, files=files)
    warmed = asyncio.run(_warm(settings, project.resolve(), site.resolve() if site else None))
    if json:
        typer.echo(json_text.dumps(asdict(warmed)))
        return
    typer.echo(
        f"Saved: the head ({warmed.head_tokens:,} tokens) and, with {len(warmed.files)} files, {warmed.tokens:,} "
        f"tokens; {warmed.computed_tokens:,} were computed."
    )
    named = settings_for(project).files
    if files and files != named:
        typer.echo(
            f"Sessions begin with these files once the project's oasis.toml says: files = {json_text.dumps(files)}",
            err=True,
        )


async def _verify(settings: "Settings", ids: list[str]) -> "list[Verdict]":
    from oasis.errors import KvFault
    from oasis.models.base import Lane
    from oasis.models.connect import connect

    connection = await connect(settings, Lane.TOKENS, say, with_kv=True)
    try:
        if connection.kv is None:
            raise KvFault("This engine's slots cannot be saved; there is nothing to verify.")
        saved = connection.kv.saved()
        chosen = [connection.kv.store.get(i) for i in ids] if ids else saved
        foreign = [artifact.id[:8] for artifact in chosen if artifact not in saved]
        if foreign:
            raise KvFault(f"{', '.join(foreign)}: saved by another engine or with other settings; it never meets this.")
        return [await connection.kv.verify(artifact) for artifact in chosen]
    finally:
        await connection.close()


async def _warm(settings: "Settings", project: Path, site: Path | None) -> "Warmed":
    from oasis.agent.assembly import toolbox
    from oasis.agent.warm import warm
    from oasis.models.base import Lane
    from oasis.models.connect import connect

    box = toolbox(project, settings.packs, site)
    connection = await connect(settings, Lane.TOKENS, say, with_kv=True)
    try:
        return await warm(connection, project, box, settings.files)
    finally:
        await connection.close()


@contextmanager
def _store() -> "Generator[Store]":
    from oasis.kv.store import Store

    store = Store(budget_bytes=settings_for(Path()).kv_budget)
    try:
        yield store
    finally:
        store.close()


def _row(store: "Store", artifact: "Artifact") -> dict[str, Any]:
    return {
        "id": artifact.id,
        "kind": artifact.kind,
        "tokens": artifact.tokens,
        "bytes": artifact.bytes,
        "prefill_ms": round(artifact.prefill_ms, 1),
        "uses": artifact.uses,
        "created": _time(artifact.created),
        "last_use": _time(artifact.last_use),
        "pinned": artifact.is_pinned,
        "stale": artifact.is_stale,
        "model": str(store.fingerprint_parts(artifact.fingerprint).get("model", ""))[:16],
    }


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds).astimezone().isoformat(timespec="seconds")
