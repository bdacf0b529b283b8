"""Options that several commands share, and the settings they make."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from oasis.config import Settings

INTERRUPTED = 130
"""Exit code after Ctrl-C."""

Server = Annotated[str, typer.Option("--server", metavar="URL", help="A model server, e.g. http://127.0.0.1:8080.")]
ModelFile = Annotated[
    str,
    typer.Option("--model", metavar="FILE|NAME", help="A GGUF for the embedded engine, or the server's model name."),
]
LaneName = Annotated[
    str,
    typer.Option("--lane", metavar="tokens|chat", help="How to talk to the model; by default tokens where it can be."),
]
Context = Annotated[
    int | None, typer.Option("--context", metavar="TOKENS", min=0, help="Context of the embedded engine; 0: its own.")
]
Packs = Annotated[list[str] | None, typer.Option("--pack", metavar="NAME", help="Add a pack's tools; repeatable.")]
Site = Annotated[
    Path | None,
    typer.Option(
        "--site",
        metavar="FILE",
        exists=True,
        dir_okay=False,
        help="A plant's site file: tags, what may be written.",
    ),
]
Project = Annotated[
    Path, typer.Option("--project", metavar="DIR", exists=True, file_okay=False, help="The project directory.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]


def settings_for(project: Path, **flags: Any) -> "Settings":
    """Settings from these flags (unset ones left out), the environment, the user's and the project's oasis.toml."""
    from oasis.config import load

    given: Mapping[str, Any] = {
        name: value for name, value in flags.items() if value is not None and value not in ("", [])
    }
    for name in ("packs", "allow", "files", "server"):
        check_text(name, given.get(name, ""))
    return load(project.resolve(), given)


def say(text: str) -> None:
    """Print a line for the person on standard error, without control characters."""
    from oasis.ui.clean import clean

    typer.echo(clean(text), err=True)


def check_text(name: str, value: str | list[str]) -> None:
    """Raise ConfigError for a text that is not UTF-8: what the shell gave then stands in it as lone surrogates."""
    from oasis.errors import ConfigError

    try:
        "".join(value).encode()
    except UnicodeEncodeError as error:
        raise ConfigError(
            f"The {name} given on the command line is not UTF-8. Set your terminal's locale to UTF-8 (LANG), "
            "or give the text in a file."
        ) from error
