"""`oasis prefix`: what the head of every prompt consists of, what it costs, and whether it is still the same."""

import json as json_text
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from oasis.cli.options import AsJson, Packs, Server, Site, settings_for

if TYPE_CHECKING:
    from oasis.config import Settings
    from oasis.core.prefix import Prefix
    from oasis.measure.prefix import Change
    from oasis.measure.prefix_cost import Costs


def prefix(
    pack: Packs = None,
    site: Site = None,
    server: Server = "",
    check: Annotated[
        bool, typer.Option("--check", help="Compare with the fixture; exit code 1 if it differs.")
    ] = False,
    update: Annotated[bool, typer.Option("--update", help="Rewrite the fixture and print what that costs.")] = False,
    fixture: Annotated[
        Path | None, typer.Option(metavar="PATH", help="The frozen head; by default Oasis' own, without packs.")
    ] = None,
    json: AsJson = False,
) -> None:
    """Show what the head of every prompt costs, part by part.

    Tokens and, with --server, the milliseconds that computing them takes there. With --pack the plant's tools are
    in it, with --site the one that writes as well.

    The head is the same for every project, user, machine and day, so a server computes it once. --check in a CI says
    when it has changed: at which byte, in which part, and what that costs. --update also rewrites the frozen
    conversation beside Oasis' own fixture.
    """
    from oasis.agent.assembly import toolbox

    if check and update:
        raise typer.BadParameter("--check and --update exclude each other")
    settings = settings_for(Path(), server=server, packs=pack)
    head = toolbox(Path(), settings.packs, site.resolve() if site else None).prefix
    if check or update:
        frozen = _fixture(fixture, bool(settings.packs))
        _update(head, frozen, settings) if update else _check(head, frozen, settings)
    else:
        _show(head, settings, json)


def _show(head: "Prefix", settings: "Settings", as_json: bool) -> None:
    import asyncio
    from dataclasses import asdict

    from oasis.measure.prefix_cost import costs

    found = asyncio.run(costs([head], settings, prefill=True))
    parts = found.heads[0]
    if as_json:
        report = {"digest": head.digest, "bytes": len(head.wire), "tokens": found.tokens(0), "counted_by": found.source}
        typer.echo(json_text.dumps({**report, "parts": [asdict(part) for part in parts]}, ensure_ascii=False, indent=1))
        return
    typer.echo(f"{'part':<24}{'bytes':>8}{'tokens':>8}" + (f"{'cold ms':>10}" if parts[0].cold_ms is not None else ""))
    for part in parts:
        cold = "" if part.cold_ms is None else f"{part.cold_ms:>10.1f}"
        typer.echo(f"{part.name:<24}{part.text_bytes:>8,}{part.tokens:>8,}{cold}")
    cold_ms = [part.cold_ms for part in parts if part.cold_ms is not None]
    total = f"{sum(cold_ms):>10.1f}" if cold_ms else ""
    typer.echo(f"{'head':<24}{len(head.wire):>8,}{found.tokens(0):>8,}{total}")
    typer.echo(f"Tokens by {found.source}. Digest {head.digest[:16]}.")


def _fixture(named: Path | None, has_packs: bool) -> Path:
    from oasis.errors import ConfigError
    from oasis.resources import shipped

    if named is not None:
        return named
    if has_packs:
        raise ConfigError("With packs the head is not Oasis' own fixture's. Name yours with --fixture PATH.")
    return shipped("fixtures/prefix.txt")


def _check(head: "Prefix", fixture: Path, settings: "Settings") -> None:
    from oasis.errors import ConfigError
    from oasis.measure.prefix import compare

    try:
        frozen = fixture.read_bytes()
    except OSError as error:
        raise ConfigError(
            f"The frozen head {fixture} was not read: {error.strerror}. Write it with `oasis prefix --update`."
        ) from error
    change = compare(frozen, head)
    if change is None:
        typer.echo(f"The head is what {fixture} holds: {len(frozen):,} bytes, digest {head.digest[:16]}.")
        return
    typer.echo(_told(change, fixture, *_counted(frozen, head, fixture, settings)))
    raise typer.Exit(1)


def _update(head: "Prefix", fixture: Path, settings: "Settings") -> None:
    from oasis.measure.prefix import compare

    frozen = fixture.read_bytes() if fixture.exists() else b""
    change = compare(frozen, head)
    if change is None:
        typer.echo(f"The head has not changed; {fixture} stays as it was.")
    elif not frozen:
        typer.echo(f"Prefix: {len(head.wire):,} bytes, written to {fixture}.")
    else:
        typer.echo(_told(change, fixture, *_counted(frozen, head, fixture, settings)))
    fixture.parent.mkdir(parents=True, exist_ok=True)
    fixture.write_bytes(head.wire)
    if fixture.with_name("templates").is_dir():
        _freeze_conversation(fixture.parent)


def _freeze_conversation(fixtures: Path) -> None:
    import asyncio

    from oasis.measure.frozen import freeze

    folder = fixtures / "conversation"
    folder.mkdir(exist_ok=True)
    for name, text in asyncio.run(freeze(fixtures / "templates")).items():
        path = folder / name
        before = path.read_bytes() if path.exists() else b""
        path.write_bytes(text.encode())
        state = "as it was" if before == text.encode() else f"{len(text.encode()) - len(before):+,} bytes"
        typer.echo(f"{path}: {state}")


def _counted(frozen: bytes, head: "Prefix", fixture: Path, settings: "Settings") -> "tuple[Costs, Costs]":
    import asyncio

    from oasis.measure.prefix import frozen_prefix
    from oasis.measure.prefix_cost import Costs, costs

    both = asyncio.run(costs([frozen_prefix(frozen, str(fixture)), head], settings, prefill=False))
    return Costs(both.heads[:1], both.source), Costs(both.heads[1:], both.source)


def _told(change: "Change", fixture: Path, before: "Costs", after: "Costs") -> str:
    """Where the head parted from the fixture and what that costs, for a person and a commit message."""
    at = change.divergence
    old, new = before.tokens(0), after.tokens(0)
    sizes = {part.name: part.tokens for part in before.heads[0]}
    changed = [
        f"{part.name} {part.tokens - sizes.get(part.name, 0):+,}"
        for part in after.heads[0]
        if part.tokens != sizes.get(part.name)
    ]
    gone = [f"{name} {-tokens:+,}" for name, tokens in sizes.items() if name not in {p.name for p in after.heads[0]}]
    return (
        f"The head differs from {fixture} at byte {at.offset:,}, in {change.place}:\n"
        f"  frozen: {at.before!r}\n"
        f"  now:    {at.after!r}\n"
        f"Prefix: {new - old:+,} tokens ({old:,} to {new:,}), {change.bytes_added:+,} bytes; "
        f"{', '.join([*changed, *gone]) or 'no part changed its tokens'}. Counted by {before.source}.\n"
        f"Every token from the first change on is prefilled anew, once on each server."
    )
