"""`oasis sessions`: list, show, export, remove."""

import json as json_text
import sys
from pathlib import Path
from typing import Annotated

import typer

from oasis.cli.options import AsJson

app = typer.Typer(add_completion=False, rich_markup_mode=None, help="List, show, export or remove sessions.")

Name = Annotated[str, typer.Argument(metavar="ID|last", help="A session's id, its beginning, or `last`.")]


@app.callback(invoke_without_command=True)
def sessions(
    context: typer.Context,
    everywhere: Annotated[bool, typer.Option("--everywhere", help="Those of all projects.")] = False,
    json: AsJson = False,
) -> None:
    """List this project's sessions, the one used last first."""
    if context.invoked_subcommand:
        return
    from oasis.agent.kept import load
    from oasis.agent.sessions import about, first_task, session_files
    from oasis.core.usage import amplification
    from oasis.errors import SessionFault
    from oasis.ui.clean import clean

    rows = 0
    for path in session_files():
        if not everywhere and about(path).get("project") != str(Path.cwd()):
            continue
        rows += 1
        try:
            kept = load(path)
        except SessionFault as fault:
            typer.echo(json_text.dumps({"id": path.stem, "fault": str(fault)}) if json else f"{path.stem}  {fault}")
            continue
        task = clean(first_task(kept)).replace("\n", " ")
        figure = amplification(kept.usage.computed_tokens, kept.new_tokens) if kept.new_tokens else None
        row = {"id": path.stem, "steps": kept.steps, "turns": kept.turns, "amplification": figure, "task": task}
        if json:
            typer.echo(json_text.dumps({**row, "project": kept.about["project"]}, ensure_ascii=False))
        else:
            shown = f"{figure:.3f}" if figure is not None else "-"
            typer.echo(f"{path.stem}  {kept.steps:4d} steps  amplification {shown:>6}  {task[:60]}")
    if not rows and not json:
        typer.echo("No sessions of this project. --everywhere lists those of other projects.", err=True)


@app.command()
def show(name: Name = "last") -> None:
    """Print a session as text, with what it cost."""
    from oasis.ui.clean import clean

    typer.echo(clean(_document(name, as_json=False)), nl=False)


@app.command()
def export(
    name: Name = "last",
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="A file; default: standard output.")
    ] = None,
    json: AsJson = False,
) -> None:
    """Write a session as Markdown or JSON. What looks like a secret is left out; look through it all the same."""
    text = _document(name, as_json=json)
    if output is None:
        sys.stdout.write(text)
        return
    from oasis.agent.export import save

    save(output.resolve(), text, overwrite=True)
    typer.echo(f"Wrote {output}.", err=True)


@app.command()
def rm(names: Annotated[list[str], typer.Argument(metavar="ID...", help="Ids of sessions.")]) -> None:
    """Remove sessions for good."""
    from oasis.agent.session import locked
    from oasis.agent.sessions import find_session, remove

    for name in names:
        path = find_session(name, Path.cwd())
        if name not in ("last", path.stem):
            raise typer.BadParameter(f"{name!r} is only the beginning of an id; to remove, give the whole: {path.stem}")
        locked(path).release()
        remove(path)
        typer.echo(f"Removed {path.stem}.")


def _document(name: str, *, as_json: bool) -> str:
    import os

    from oasis.agent.export import as_json as json_document
    from oasis.agent.export import as_markdown
    from oasis.agent.masking import known_secrets
    from oasis.agent.sessions import find_session

    write = json_document if as_json else as_markdown
    return write(find_session(name, Path.cwd()), known_secrets(os.environ))
