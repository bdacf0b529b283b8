"""The help of every command, and what a fault of the command line looks like."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from oasis.cli.main import COMMANDS, app, main

WIDTH = 80


def tree(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The words of every command below this one."""
    yield path
    for name in command.list_commands(None) if hasattr(command, "list_commands") else ():
        yield from tree(command.get_command(None, name), (*path, name))


PATHS = list(tree(typer.main.get_command(app)))


def named(path: tuple[str, ...]) -> Any:
    command: Any = typer.main.get_command(app)
    for name in path:
        command = command.get_command(None, name)
    return command


@pytest.mark.parametrize("path", PATHS, ids=" ".join)
def test_a_command_says_what_it_does_and_what_each_value_is_for(path: tuple[str, ...]) -> None:
    done = CliRunner().invoke(app, [*path, "--help"], env={"COLUMNS": str(WIDTH)})
    assert done.exit_code == 0
    command = named(path)
    assert (command.help or "").partition("\n\n")[0].rstrip().endswith(".")
    assert [p.name for p in command.params if not p.help and p.name != "help"] == []
    assert max(len(line) for line in done.output.splitlines()) <= WIDTH


@pytest.mark.parametrize("name", ["bench", "kv", "mcp", "models", "config", "sessions"])
def test_the_list_of_commands_shows_each_summary_whole(name: str) -> None:
    assert "..." not in CliRunner().invoke(app, [name, "--help"]).output.partition("Commands:")[2]


def told(arguments: list[str], capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> tuple[int, str]:
    """Exit code and everything that was printed."""
    monkeypatch.setattr(sys, "argv", ["oasis", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    out, err = capfd.readouterr()
    return int(ended.value.code or 0), out + err


LONG = "x" * 5000
CONTROL = "a\x1b[31mb\x07.gguf"


@pytest.mark.parametrize(
    "arguments",
    [
        ["models", "path", LONG],
        ["models", "path", "~nobody-here/x.gguf"],
        ["models", "pull", CONTROL],
        ["dialect", LONG],
        ["dialect", CONTROL],
        ["kv", "show", LONG],
        ["sessions", "show", CONTROL],
        ["prefix", "--check", "--fixture", LONG],
        ["prefix", "--pack", CONTROL],
        ["run", "--model", LONG, "task"],
        ["run", "--model", "~nobody-here/x.gguf", "task"],
        ["run", "--allow", "\udcff", "task"],
        ["run", "caf\udce9"],
        ["bench", "depth", "--engine", CONTROL],
        ["bench", "facts", "--engine", LONG],
    ],
    ids=lambda words: " ".join(words)[:40].encode("unicode_escape").decode(),
)
def test_a_value_that_cannot_be_used_is_told_in_words(
    arguments: list[str], capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    code, text = told(arguments, capfd, monkeypatch)
    assert code in (1, 2, 6)
    assert "nobody foresaw" not in text
    assert "Traceback" not in text
    assert not {"\x1b", "\x07", "\r"} & set(text)
    assert text.strip()


def test_every_command_is_in_the_tree() -> None:
    assert {path[0] for path in PATHS if path} == set(COMMANDS)
