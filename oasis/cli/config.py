"""`oasis config`: every setting, its value and where it came from."""

import json as json_text
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import typer

from oasis.cli.options import AsJson, Project, settings_for

if TYPE_CHECKING:
    from oasis.config import Source

app = typer.Typer(add_completion=False, rich_markup_mode=None, help="Show settings and where they come from.")


@app.callback(invoke_without_command=True)
def config(context: typer.Context, project: Project = Path(), json: AsJson = False) -> None:
    """Show every setting, its value and where it came from. Secrets are never shown."""
    if context.invoked_subcommand:
        return
    from oasis.agent.settings_shown import shown

    found = shown(settings_for(project))
    if json:
        rows = {key: {"value": value, "source": source} for key, (value, source) in found.items()}
        typer.echo(json_text.dumps(rows, ensure_ascii=False, indent=1))
        return
    _print(found)


@app.command()
def path() -> None:
    """Print where the user's settings file is, or would be."""
    from oasis.config import user_file

    typer.echo(str(user_file()))
    if not user_file().exists():
        typer.echo("It is not there yet; everything is at its default.", err=True)


def _print(found: "dict[str, tuple[Any, Source]]") -> None:
    """One line a setting; a table's content on lines of its own."""
    from oasis.ui.clean import clean

    for key, (value, source) in found.items():
        lines = _lines(value)
        first, rest = (lines[0], lines[1:]) if len(lines) == 1 else ("", lines)
        typer.echo(clean(f"{key:12} {first:40} {source}").rstrip())
        for line in rest:
            typer.echo(clean(f"  {line}"))


def _lines(value: Any) -> list[str]:
    """A value in TOML's spelling, or nearly."""
    if isinstance(value, dict) and value:
        tables = cast(dict[str, dict[str, Any]], value)
        return ["", *(f"{name}: {_filled(table)}" for name, table in tables.items())]
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return ["", *(_filled(table) for table in cast(list[dict[str, Any]], value))]
    if value is None or value in ("", {}):
        return ["-"]
    return [json_text.dumps(value, ensure_ascii=False)]


def _filled(table: dict[str, Any]) -> str:
    """The keys of a table that hold something."""
    given = {key: value for key, value in table.items() if value not in ("", [], {}, None)}
    return ", ".join(f"{key} = {json_text.dumps(value, ensure_ascii=False)}" for key, value in given.items())
