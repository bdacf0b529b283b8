"""README, --help and the files beside them agree."""

import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from oasis.cli.main import COMMANDS, app
from oasis.cli.run import EXIT_CODES
from oasis.engine.weights import named

REPOSITORY = Path(__file__).parent.parent
README = (REPOSITORY / "README.md").read_text(encoding="utf-8")
PROJECT: dict[str, Any] = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def shown_commands() -> list[list[str]]:
    """Every `oasis ...` line of README's shell blocks, without its comment."""
    blocks = "\n".join(re.findall(r"```sh\n(.*?)```", README, re.DOTALL))
    lines = [line for line in blocks.splitlines() if line.split(maxsplit=1)[:1] == ["oasis"]]
    return [shlex.split(line.replace("|", "").split(" < ")[0], comments=True)[1:] for line in lines]


def found(words: list[str]) -> tuple[Any, list[str]]:
    """The command that the words name, its subcommand included, and the words after it."""
    command: Any = typer.main.get_command(app)
    while words and hasattr(command, "get_command"):
        inner = command.get_command(None, words[0])
        if inner is None:
            break
        command, words = inner, words[1:]
    return command, words


def flags(command: Any) -> set[str]:
    return {flag for parameter in command.params for flag in (*parameter.opts, *parameter.secondary_opts)}


def test_readme_begins_with_the_two_commands() -> None:
    assert re.match(r"# Oasis\n\n```sh\n\./install\.sh demo .*\n\./install\.sh test .*\n```\n", README)


@pytest.mark.parametrize("words", shown_commands(), ids=" ".join)
def test_a_command_in_the_readme_has_the_flags_it_is_shown_with(words: list[str]) -> None:
    command, rest = found(words)
    names_one = bool(words) and not words[0].startswith("-")
    assert not names_one or command.name == words[0] or words[0] in COMMANDS
    assert {word for word in rest if word.startswith("-")} <= {*flags(command), "--help"}


@pytest.mark.parametrize("name", COMMANDS)
def test_readme_shows_every_command_that_help_lists(name: str) -> None:
    assert f"oasis {name}" in README or f"install.sh {name}" in README
    assert CliRunner().invoke(app, [name, "--help"]).exit_code == 0


def test_readme_lists_the_exit_codes_that_a_run_can_end_with() -> None:
    shown = {int(code) for code in re.findall(r"^\| (\d+) \|", README, re.MULTILINE)}
    assert shown == {*EXIT_CODES.values(), 1, 2}


@pytest.mark.parametrize(
    "page", ["README.md", "AGENTS.md", *(f"docs/{p.name}" for p in sorted((REPOSITORY / "docs").glob("*.md")))]
)
def test_a_document_names_only_files_that_exist(page: str) -> None:
    text = (REPOSITORY / page).read_text(encoding="utf-8")
    named = re.findall(
        r"(?<![\w/.~\\])((?:docs|oasis|tests|fixtures|packs|skills)/[\w/.-]*\w\.(?:md|py|toml|json|sh))\b", text
    )
    assert [name for name in named if "NAME" not in name and not (REPOSITORY / name).exists()] == []


def test_dependencies_has_one_line_for_each_dependency() -> None:
    declared = [*PROJECT["dependencies"], *(d for group in PROJECT["optional-dependencies"].values() for d in group)]
    names = {re.split(r"[^\w-]", dependency)[0] for dependency in declared} - {"oasis-agent"}
    rows = re.findall(
        r"^\| (?:(?:engine|modbus|opcua|ethercat|mcp) \| )?([\w-]+) \|",
        (REPOSITORY / "docs/dependencies.md").read_text(),
        re.MULTILINE,
    )
    assert sorted(row for row in rows if row not in ("package", "extra")) == sorted(names)


def test_the_models_that_documents_name_can_be_fetched() -> None:
    pages = [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").glob("*.md"))]
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    found = set(re.findall(r"(?:models pull|--model) ([a-z0-9][a-z0-9.-]*)(?=[\s`])", text)) - {"model.gguf"}
    assert "smollm2-135m" in found
    assert sorted(name for name in found if "/" not in name and named(name) is None) == []
