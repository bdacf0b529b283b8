"""The command `oasis`: each subcommand is one small file, imported when it is used."""

import difflib
import errno
import os
import signal
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from oasis.cli.options import INTERRUPTED, Context, LaneName, ModelFile, Packs, Project, Server, Site

COMMANDS = (
    "run",
    "plant",
    "lab",
    "sessions",
    "doctor",
    "models",
    "config",
    "kv",
    "mcp",
    "prefix",
    "dialect",
    "bench",
    "demo",
)
SERVER_FAILED = 6
_HIDDEN = ("screens",)
"""Commands for whoever works on Oasis itself."""


class _Lazy(TyperGroup):
    """Finds a command in `oasis/cli/NAME.py`: its `app`, or the function NAME. Several words are a task."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in (*COMMANDS, *_HIDDEN):
            return _beginning_with(cmd_name) if " " in cmd_name.strip() else None
        module = import_module(f"oasis.cli.{cmd_name}")
        app: typer.Typer | None = getattr(module, "app", None)
        if app is None:
            app = typer.Typer(add_completion=False, rich_markup_mode=None)
            app.command(cmd_name)(getattr(module, cmd_name))
        command = typer.main.get_command(app)
        command.name = cmd_name
        return command

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            near = difflib.get_close_matches(args[0], COMMANDS, n=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            ctx.fail(
                f"No such command {args[0]!r}.{hint} A task is several words in quotes: "
                'oasis "TASK" begins a session with it, oasis run "TASK" works on it alone.'
            )
        return super().resolve_command(ctx, args)


app = typer.Typer(
    cls=_Lazy,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(value: bool) -> None:
    if value:
        from oasis import __version__

        typer.echo(f"oasis {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def oasis(
    ctx: typer.Context,
    server: Server = "",
    model: ModelFile = "",
    lane: LaneName = "",
    pack: Packs = None,
    site: Site = None,
    resume: Annotated[str | None, typer.Option(metavar="ID|last", help="Go on with a session.")] = None,
    context: Context = None,
    compact_at: Annotated[
        str, typer.Option(metavar="TOKENS|FRACTION", help="Compact from so many prompt tokens on; 0: only when full.")
    ] = "",
    project: Project = Path(),
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Print the version."),
) -> None:
    """A terminal agent for people who program and commission machines, run against models in their own cabinet.

    Without a command: an interactive session in this terminal (docs/terminal.md). The options are for that session.
    oasis "a task in quotes" begins it with that.

    Exit codes of all commands: 0 done, 1 an error, told in words, 2 wrong usage, 6 the model server or the engine
    failed, 130 interrupted; further ones stand in the help of a command.
    """
    flags = {"server": server, "model": model, "packs": pack, "context": context}
    options = {"lane": lane, "resume": resume, "compact_at": compact_at, "site": site}
    ctx.obj = (project, flags, options)
    if ctx.invoked_subcommand is None:
        _begin(ctx, "")


def _begin(ctx: typer.Context, task: str) -> None:
    """Begin an interactive session, with this task where there is one."""
    from oasis.cli.chat import chat

    project, flags, options = ctx.obj
    raise typer.Exit(chat(project, flags, **options, task=task))


def _beginning_with(task: str) -> Any:
    """The command whose name is a task."""
    begun = typer.Typer(add_completion=False, rich_markup_mode=None)

    @begun.command("task")
    def begin(ctx: typer.Context) -> None:
        _begin(ctx, task)

    return typer.main.get_command(begun)


def main() -> None:
    """Run the command line; a fault is told in words, never with a traceback."""
    from oasis.errors import EngineFault, OasisError, ServerFault

    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("r" if name == "stdin" else "w", encoding="utf-8"))  # noqa: SIM115
    os.umask(os.umask(0o077) | 0o002)  # whatever the shell's: a model or a log that anyone may change is none
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job begins with it ignored
    for name in ("SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), _as_interrupt)
    try:
        app()
    except (ServerFault, EngineFault) as error:
        _fail(str(error), SERVER_FAILED)
    except OasisError as error:
        _fail(str(error), 1)
    except KeyboardInterrupt:
        _fail("Interrupted.", INTERRUPTED)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:
        if error.filename is not None or error.errno != errno.ENOSPC:
            _fail(_unexpected(error), 1)
        _fail("the output could not be written: no space is left where it goes.", 1)
    except Exception as error:
        _fail(_unexpected(error), 1)


def _as_interrupt(number: int, frame: FrameType | None) -> None:
    """A polite end asked for by the system is the same as Ctrl-C."""
    signal.raise_signal(signal.SIGINT)


def _fail(text: str, code: int) -> None:
    from oasis.ui.clean import clean

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # another Ctrl-C changes nothing any more
    with suppress(OSError):  # a terminal that has gone away
        print(f"oasis: {clean(text)}", file=sys.stderr)
    sys.exit(code)


def _unexpected(error: Exception) -> str:
    """Put the details in a file; say where."""
    import traceback

    from platformdirs import user_log_dir

    said = f"an error nobody foresaw: {type(error).__name__}: {error}. What was written to the session file is kept."
    try:
        folder = Path(user_log_dir("oasis"))
        folder.mkdir(parents=True, exist_ok=True)
        log = folder / "fault.log"
        log.write_text("".join(traceback.format_exception(error)), encoding="utf-8")
    except OSError:
        return said
    return f"{said} The details are in {log}."


if __name__ == "__main__":
    main()
