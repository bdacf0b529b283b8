"""Settings and where they come from."""

from pathlib import Path
from typing import Any

import pytest

from oasis import config
from oasis.agent.assembly import toolbox
from oasis.config import KEYS, Settings, Source, load, loading
from oasis.errors import ConfigError


@pytest.fixture(autouse=True)
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's settings file, not written yet."""
    for name in config.VARIABLES.values():
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "user"
    folder.mkdir()
    monkeypatch.setattr(loading, "user_config_path", lambda _: folder)
    return folder / "oasis.toml"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "plant"
    folder.mkdir()
    return folder


def dumped(**values: Any) -> dict[str, Any]:
    return Settings(**values).model_dump()


def test_the_nearest_to_the_command_line_wins(user: Path, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "oasis.toml").write_text('packs = ["modbus"]\nfiles = ["io.csv"]')
    user.write_text('server = "http://a"\nmodel = "m"\ncontext = 4096\nallow = ["edit"]')
    monkeypatch.setenv("OASIS_SERVER", "http://b")
    monkeypatch.setenv("OASIS_CONTEXT", "8192")
    settings = load(project, {"server": "http://c", "max_steps": 9})
    assert settings.model_dump() == dumped(
        server="http://c", model="m", context=8192, packs=["modbus"], files=["io.csv"], allow=["edit"], max_steps=9
    )
    assert {key: source for key, source in settings.sources.items() if source is not Source.DEFAULT} == {
        "server": Source.FLAG,
        "max_steps": Source.FLAG,
        "context": Source.ENVIRONMENT,
        "model": Source.USER,
        "allow": Source.USER,
        "packs": Source.PROJECT,
        "files": Source.PROJECT,
    }


def test_without_anything_there_are_defaults(project: Path) -> None:
    settings = load(project, {})
    assert settings.model_dump() == dumped()
    assert dict(settings.sources) == dict.fromkeys(KEYS, Source.DEFAULT)


@pytest.mark.parametrize(
    "key",
    ["server", "model", "api_key", "allow", "deny", "mode", "editor", "hooks", "mcp", "rules", "context", "max_steps"],
)
def test_a_projects_file_may_not_set_what_is_the_users(key: str, user: Path, project: Path) -> None:
    (project / "oasis.toml").write_text(f'{key} = "x"')
    with pytest.raises(ConfigError) as caught:
        load(project, {key: "x"} if key in ("server", "model") else {})
    assert f"sets `{key}`, which a project's file may not: " in str(caught.value)
    assert str(user) in str(caught.value)


@pytest.mark.parametrize("name", ["../secret.txt", "/etc/passwd", "a/../../b"])
def test_a_projects_file_names_files_inside_it_only(name: str, project: Path) -> None:
    (project / "oasis.toml").write_text(f'files = ["{name}"]')
    with pytest.raises(ConfigError, match="outside the project"):
        load(project, {})


def test_a_link_out_of_the_project_is_outside(project: Path, tmp_path: Path) -> None:
    (project / "io.csv").symlink_to(tmp_path / "elsewhere.csv")
    (project / "oasis.toml").write_text('files = ["io.csv"]')
    with pytest.raises(ConfigError, match="outside the project"):
        load(project, {})


def test_an_unknown_key_suggests_the_one_meant(user: Path, project: Path) -> None:
    user.write_text('sever = "http://a"')
    with pytest.raises(ConfigError, match=r"`sever` in .*oasis\.toml is no setting\. Did you mean `server`\?"):
        load(project, {})


def test_a_value_that_does_not_fit_names_its_place(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OASIS_CONTEXT", "large")
    with pytest.raises(ConfigError, match="`OASIS_CONTEXT` in the environment cannot be used"):
        load(project, {})


def test_a_file_that_is_no_toml_says_where(user: Path, project: Path) -> None:
    user.write_text("server = http://a")
    with pytest.raises(ConfigError, match=r"oasis\.toml is no TOML: .*line 1"):
        load(project, {})


def test_a_file_with_a_byte_order_mark_is_read(user: Path, project: Path) -> None:
    user.write_bytes('\ufeffserver = "http://a"\r\n'.encode())
    assert load(project, {}).server == "http://a"


def test_a_key_is_never_printed(user: Path, project: Path) -> None:
    user.write_text('api_key = "top-secret"')
    settings = load(project, {})
    assert settings.api_key == "top-secret"
    assert "top-secret" not in f"{settings!r} {settings} {settings.model_dump()} {settings.model_dump_json()}"


def test_a_key_that_does_not_fit_is_not_printed_either(user: Path, project: Path) -> None:
    user.write_text("api_key = 987654")
    with pytest.raises(ConfigError) as caught:
        load(project, {})
    assert "987654" not in str(caught.value)


def test_a_model_file_by_flag_sets_the_users_server_aside(user: Path, project: Path) -> None:
    user.write_text('server = "http://a"')
    assert load(project, {"model": "m.gguf"}).model_dump() == dumped(model="m.gguf")
    assert load(project, {"model": "qwen3"}).model_dump() == dumped(server="http://a", model="qwen3")


def test_a_server_by_flag_sets_the_users_model_file_aside(user: Path, project: Path) -> None:
    user.write_text('model = "m.gguf"')
    assert load(project, {"server": "http://a"}).model_dump() == dumped(server="http://a")


def test_every_setting_says_what_it_is() -> None:
    assert [name for name, field in Settings.model_fields.items() if not field.description and name != "secret"] == []


def test_mcp_servers_and_hooks_are_tables(user: Path, project: Path) -> None:
    user.write_text(
        '[mcp.cad]\ncommand = ["cad-mcp", "--stdio"]\nenv = { CAD_TOKEN = "top-secret" }\nread_only = ["list"]\n'
        '[mcp.docs]\nurl = "http://127.0.0.1:9000/mcp"\ntimeout_s = 5\n'
        '[[hooks]]\nevent = "after_tool"\ncommand = ["st-format"]\ntools = ["edit", "write"]\n'
    )
    settings = load(project, {})
    assert settings.mcp["cad"].command == ["cad-mcp", "--stdio"]
    assert settings.mcp["cad"].env["CAD_TOKEN"].get_secret_value() == "top-secret"
    assert settings.mcp["docs"].timeout_s == 5
    assert (settings.hooks[0].event, settings.hooks[0].tools) == ("after_tool", ["edit", "write"])
    assert "top-secret" not in f"{settings!r} {settings.model_dump_json()}"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[mcp.cad]\ncomand = ["x"]', r"`comand` of `mcp\.cad` in .* is no setting\. Did you mean `command`\?"),
        ('[mcp.cad]\ncommand = ["x"]\nurl = "http://a"', r"`mcp\.cad` .*either `command` or `url` is needed"),
        ("[mcp.cad]", r"`mcp\.cad` .*either `command` or `url` is needed"),
        ('[[hooks]]\nevent = "turn"\ncommand = ["x"]', r"`hooks\.0\.event` in .* cannot be used: .*'turn_end'"),
        ('[[hooks]]\nevent = "turn_end"\ncommand = "x; y"', r"`hooks\.0\.command` in .* cannot be used"),
        ('[[hooks]]\nevent = "turn_end"\ncommand = []', r"`hooks\.0\.command` in .* cannot be used"),
        ('packs = "modbus"', r"`packs` in .* cannot be used \('modbus'\): write a list, "),
        ('[[hooks]]\nevent = "turn_end"\ncommand = "x y"', r"`hooks\.0\.command` in .*: write a list, "),
        ('hooks = "x"', r"`hooks` in .* cannot be used: write it as tables, `\[\[hooks\]\]`"),
        ('[mcp]\nx = "y"', r"`mcp\.x` in .* cannot be used: write it as a table, `\[mcp\.NAME\]`"),
        ('deny = ["bsh:rm *"]', r"`deny` in .* cannot be used .*: `bsh:rm \*` names no tool\. Did you mean `bash`\?$"),
        ('allow = ["zzz"]', r"`zzz` names no tool\. There are: read, write, edit, search, bash, skill\."),
        ('mode = "yolo"', r"`mode` in .* cannot be used \('yolo'\): .*'read_only', 'ask' or 'accept_edits'"),
    ],
)
def test_a_table_that_does_not_fit_names_its_key(text: str, said: str, user: Path, project: Path) -> None:
    user.write_text(text)
    with pytest.raises(ConfigError, match=said):
        load(project, {})


def test_a_secret_in_a_table_that_does_not_fit_is_not_printed(user: Path, project: Path) -> None:
    user.write_text('[mcp.cad]\nenv = { A = "top-secret" }\nheaders = { B = 987654 }\ncommand = ["x"]')
    with pytest.raises(ConfigError) as caught:
        load(project, {})
    assert "top-secret" not in str(caught.value) and "987654" not in str(caught.value)


def test_the_documentation_names_every_setting() -> None:
    text = (Path(__file__).parent.parent / "docs" / "configuration.md").read_text(encoding="utf-8")
    named = {"mcp": "`[mcp.NAME]`", "hooks": "`[[hooks]]`"}
    assert [key for key in KEYS if named.get(key, f"`{key}`") not in text] == []


def test_the_documentation_names_every_key_of_a_hook() -> None:
    text = (Path(__file__).parent.parent / "docs" / "hooks.md").read_text(encoding="utf-8")
    assert [key for key in config.Hook.model_fields if f"| `{key}` |" not in text] == []


def test_rules_name_built_in_tools_and_those_with_an_underscore(user: Path, project: Path) -> None:
    user.write_text('allow = ["historian_query", "edit"]\ndeny = ["plant_write", "bash:rm *"]')
    assert load(project, {}).deny == ["plant_write", "bash:rm *"]


def test_the_built_in_tools_are_those_that_there_are(project: Path) -> None:
    assert tuple(spec.name for spec in toolbox(project).registry.specs) == config.BUILT_IN_TOOLS
