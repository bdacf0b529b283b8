"""One write by a person: planned, shown, asked about, carried out."""

import getpass
import secrets
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from oasis.cli.plant.ask import answer, has_person
from oasis.cli.plant.options import PARTLY, UNKNOWN

if TYPE_CHECKING:
    from oasis.plant.plan import Plan
    from oasis.plant.values import Value
    from oasis.plant.writer import Writer
    from oasis.plant.written import Written


@asynccontextmanager
async def writing(site_file: Path | None, command: str) -> "AsyncGenerator[Writer, None]":
    """A writer for the site file's tags. What an earlier session left behind is said first."""
    from oasis.agent.folders import audit_folder
    from oasis.cli.plant.targets import connected, loaded, needs_site
    from oasis.plant.audit import Audit, audit_path
    from oasis.plant.safe_state import left_behind
    from oasis.plant.writer import Writer
    from oasis.ui.clean import clean

    async with connected() as connections:
        site = needs_site(loaded(connections, site_file))
        path = audit_path(audit_folder(), site)
        for said in left_behind(path):
            typer.echo(clean(said), err=True)
        audit = Audit(path, f"{command}-{secrets.token_hex(4)}", {"command": f"oasis plant {command}"})
        try:
            yield Writer(site, connections.open, audit)
        finally:
            audit.close()


def check_can_ask(yes: bool) -> None:
    """Raises WriteRefused where nobody can be asked, or a model may be asking, before anything is planned."""
    from oasis.cli.plant.ancestors import session_above
    from oasis.errors import WriteRefused

    if above := session_above():
        raise WriteRefused(
            f"This command was started by an Oasis session ({above}). A session writes with its own tool, as its site "
            "file allows, and not around it; nothing was sent. Run this in a terminal of your own."
        )
    if not yes and not has_person():
        raise WriteRefused(
            "A write is approved by a person at the terminal, and standard input is none; nothing was sent. Run this "
            "at a terminal. --yes answers only for tags that the site file marks `unattended = true`."
        )


async def carried_out(writer: "Writer", plan: "Plan", yes: bool) -> "Written | None":
    """Show the plan, have it approved, and send it once. None where the person did not approve."""
    _show(plan)
    if yes:
        return await _sent(writer, plan, writer.unattended(plan))
    typed = await answer(f"Write it? y or {plan.tag.name} does, anything else does not: ")
    if typed not in ("y", "Y", plan.tag.name):
        return None
    return await _sent(writer, plan, _who())


async def _sent(writer: "Writer", plan: "Plan", by: str) -> "Written":
    """Carry the plan out. Where that is interrupted, what is known of it is said first."""
    import asyncio

    from oasis.ui.clean import clean

    try:
        return await writer.carry_out(plan.token, by)
    except asyncio.CancelledError:
        typer.echo(f"\n{clean(_interrupted(writer, plan))}", err=True)
        raise


def _interrupted(writer: "Writer", plan: "Plan") -> str:
    from oasis.plant.audit_writes import writes_of

    kept = next(write for write in writes_of(writer.audit.records()) if write.token == plan.token)
    if not kept.is_sent:
        return f"Interrupted, and nothing was sent: {plan.title}."
    return (
        f"Interrupted after it was sent once: {plan.title}. Outcome: {str(kept.effect).upper()} ({kept.words}). "
        "It was not read back; look at the plant before planning another write."
    )


def told_planned(plan: "Plan", as_json: bool) -> None:
    """Show a plan that is not to be carried out."""
    _show(plan)
    _say(plan, "not sent", f"Planned only, and nothing was sent: {plan.title}.", None, as_json)


def _show(plan: "Plan") -> None:
    from oasis.ui.clean import clean

    typer.echo(f"{clean(plan.title)}\n{clean(plan.body)}", err=True)


def _say(plan: "Plan", effect: str, words: str, read_back: "Value | None", as_json: bool) -> None:
    from oasis.plant.packed import packed
    from oasis.ui.clean import clean
    from oasis.ui.plant import rows

    if as_json:
        row = {"v": rows.VERSION, "plan": rows.plan(plan), "effect": effect, "words": words}
        typer.echo(rows.line(row | {"read_back": packed(read_back)}))
    else:
        typer.echo(clean(words))


def told(plan: "Plan", written: "Written | None", as_json: bool) -> int:
    """Say how it ended; the exit code for it."""
    from oasis.plant.driver import Effect
    from oasis.plant.limits import same

    effect = written.effect if written else Effect.NOT_SENT
    words = written.words if written else f"Not approved, so nothing was sent: {plan.title}."
    _say(plan, str(effect), words, written.read_back if written else None, as_json)
    if written and effect is Effect.WRITTEN:
        return 0 if same(plan.tag.point.form, written.read_back, plan.after) else PARTLY
    return {Effect.WRITTEN: 0, Effect.REJECTED: PARTLY, Effect.UNKNOWN: UNKNOWN, Effect.NOT_SENT: 1}[effect]


def _who() -> str:
    try:
        return f"{getpass.getuser()} at the terminal"
    except (OSError, KeyError, ImportError):
        return "a person at the terminal"
