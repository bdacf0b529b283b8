"""Single settings written into the user's file: everything else in it stays."""

import os
from pathlib import Path

import pytest

from oasis.agent.settings_file import write_settings
from oasis.config import load, user_file
from oasis.errors import ConfigError


def given(text: str) -> Path:
    user_file().parent.mkdir(parents=True, exist_ok=True)
    user_file().write_bytes(text.encode())
    return user_file()


def test_a_first_setting_makes_the_file(tmp_path: Path):
    file = write_settings({"model": 'C:\\models\\a "b".gguf'})
    assert load(tmp_path, {}).model == 'C:\\models\\a "b".gguf'
    if os.name != "nt":
        assert file.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("# mine\nkv = false\n", '# mine\nkv = false\nmodel = "m"\n'),
        ('# mine\nmodel = "old" # why\nkv = false', '# mine\nmodel = "m"\nkv = false'),
        ("kv = false\n\n[mcp.cad]\ncommand = ['x']\n", "kv = false\n\nmodel = \"m\"\n[mcp.cad]\ncommand = ['x']\n"),
        ("kv = false\r\n", 'kv = false\r\nmodel = "m"\r\n'),
        (
            "[mcp.cad]\ncommand = ['x']\nenv = { model = \"y\" }\n",
            'model = "m"\n[mcp.cad]\ncommand = [\'x\']\nenv = { model = "y" }\n',
        ),
    ],
)
def test_comments_and_other_keys_stay(before: str, after: str):
    file = given(before)
    write_settings({"model": "m"})
    assert file.read_bytes().decode() == after


def test_several_kinds_of_values_are_written(tmp_path: Path):
    write_settings({"packs": ["modbus", "opcua"], "kv": False, "context": 8192})
    settings = load(tmp_path, {})
    assert (settings.packs, settings.kv, settings.context) == (["modbus", "opcua"], False, 8192)


@pytest.mark.parametrize("before", ['model = """\nold\n"""\n', 'allow = [\n "edit",\n]\n"model" = "old"\n'])
def test_what_cannot_be_changed_safely_is_left_with_a_hint(before: str):
    file = given(before)
    with pytest.raises(ConfigError, match='Write it there yourself: model = "m"'):
        write_settings({"model": "m"})
    assert file.read_text() == before


def test_a_file_that_is_no_toml_is_left():
    file = given("model = m\n")
    with pytest.raises(ConfigError, match="is no TOML"):
        write_settings({"kv": True})
    assert file.read_text() == "model = m\n"


def test_only_settings_are_written():
    with pytest.raises(ConfigError, match="`modle` is no setting"):
        write_settings({"modle": "m"})
    assert not user_file().exists()
