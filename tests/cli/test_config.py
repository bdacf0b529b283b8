"""`oasis config` and shell completion."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from oasis.cli.main import app
from oasis.config import KEYS, user_file

runner = CliRunner()


def settings(text: str) -> None:
    user_file().parent.mkdir(parents=True, exist_ok=True)
    user_file().write_text(text)


def as_json(project: Path) -> dict[str, Any]:
    return json.loads(runner.invoke(app, ["config", "--json", "--project", str(project)]).output)


def test_every_setting_is_shown_with_its_value_and_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    settings('mode = "read_only"\nkv = false')
    (tmp_path / "oasis.toml").write_text('packs = ["modbus"]')
    monkeypatch.setenv("OASIS_CONTEXT", "8192")
    rows = as_json(tmp_path)
    assert tuple(rows) == KEYS
    assert {key: row for key, row in rows.items() if row["source"] != "default"} == {
        "mode": {"value": "read_only", "source": "user's oasis.toml"},
        "kv": {"value": False, "source": "user's oasis.toml"},
        "packs": {"value": ["modbus"], "source": "project's oasis.toml"},
        "context": {"value": 8192, "source": "environment"},
    }
    text = runner.invoke(app, ["config", "--project", str(tmp_path)]).output
    assert 'mode         "read_only"                              user\'s oasis.toml' in text.splitlines()


def test_secrets_are_shown_in_no_form(tmp_path: Path):
    settings(
        'api_key = "sec-a"\nserver = "http://me:sec-d@127.0.0.1:1"\n'
        '[mcp.cad]\ncommand = ["cad", "--token", "sec-e", "--api-key=sec-f", "--deep"]\nenv = { TOKEN = "sec-b" }\n'
        '[mcp.docs]\nurl = "http://127.0.0.1:1/mcp?access_token=sec-g&x=1"\nheaders = { Authorization = "sec-c" }\n'
        '[[hooks]]\nevent = "turn_end"\ncommand = ["post", "https://me:sec-h@host/"]\n'
    )
    for arguments in (["config"], ["config", "--json"]):
        output = runner.invoke(app, [*arguments, "--project", str(tmp_path)]).output
        assert "sec-" not in output
        assert output.count("(set, not shown)") == 8
        assert all(kept in output for kept in ("TOKEN", "--token", "--api-key=", "--deep", "&x=1", "http://me:"))


def test_what_a_projects_file_says_is_printed_without_control_characters(tmp_path: Path):
    (tmp_path / "oasis.toml").write_text('packs = ["\\u001b[31mred"]')
    assert "\x1b" not in runner.invoke(app, ["config", "--project", str(tmp_path)]).output


def test_the_path_of_the_users_file_is_printed():
    result = runner.invoke(app, ["config", "path"])
    assert result.stdout.strip() == str(user_file())


@pytest.mark.parametrize(
    ("words", "wanted"),
    [("oasis ses", "sessions"), ("oasis config ", "path"), ("oasis run --mod", "--model"), ("oasis kv st", "stats")],
)
def test_a_shell_completes_commands_and_options(words: str, wanted: str):
    count = len(words.split()) - (not words.endswith(" "))
    environment = {"_OASIS_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(count)}
    output = runner.invoke(app, [], prog_name="oasis", env=environment).output
    assert wanted in output.split()


def test_completion_can_be_installed_by_the_program_itself():
    assert "--install-completion" in runner.invoke(app, ["--help"]).output
