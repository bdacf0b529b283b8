"""`oasis mcp`: what is set, and whether it works."""

import json
import sys
from pathlib import Path

import pytest
from platformdirs import user_config_path
from typer.testing import CliRunner

from oasis.cli.mcp import app
from oasis.errors import ConfigError
from tests.tools.mcp.conftest import Raw


@pytest.fixture
def is_set(raw: Raw) -> Raw:
    """Settings with one server that works, `plc`, and one that does not, `down`."""
    command = json.dumps(list(raw.server().command))
    file = user_config_path("oasis") / "oasis.toml"
    file.parent.mkdir(parents=True)
    file.write_text(
        f'[mcp.plc]\ncommand = {command}\nenv = {{ KEY = "hush" }}\nread_only = ["echo"]\n'
        '[mcp.down]\ncommand = ["/no/such/program", "--key=hush"]\n'
    )
    return raw


def test_servers_are_listed_without_starting_them_and_without_their_secrets(is_set: Raw):
    result = CliRunner().invoke(app, ["list"])
    assert result.stdout == (
        f"down  /no/such/program  60 s a call\nplc  {sys.executable}  60 s a call  only reads: echo\n"
    )
    assert is_set.lines("starts") == []


def test_a_server_that_works_is_shown_as_the_model_sees_it(is_set: Raw):
    result = CliRunner().invoke(app, ["test", "plc"])
    assert result.exit_code == 0
    assert result.stdout == (
        "plc: 1 tool, 177 characters of every prompt, about 44 tokens\n  plc_echo  (read)  Does echo.\n"
    )
    assert not is_set.is_running()


def test_a_server_that_is_down_is_said_and_the_exit_code_tells(is_set: Raw):
    result = CliRunner().invoke(app, ["test", "--json"])
    assert result.exit_code == 1
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert [(row["name"], row["is_running"], len(row["tools"])) for row in rows] == [
        ("down", False, 0),
        ("plc", True, 1),
    ]
    assert "MCP server down did not start (/no/such/program): there is no such program." in result.stderr


def test_an_unknown_server_is_said_with_those_there_are(is_set: Raw):
    result = CliRunner().invoke(app, ["test", "plo"])
    assert isinstance(result.exception, ConfigError)
    assert str(result.exception) == "There is no MCP server 'plo' in your settings. There are: down, plc."


def test_without_servers_it_is_said_where_they_are_set(private_user_folders: Path):
    result = CliRunner().invoke(app, [])
    assert result.exit_code == 0
    assert "No MCP servers are set. Add a table [mcp.NAME] to " in result.stderr
