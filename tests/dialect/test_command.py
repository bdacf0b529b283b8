"""`oasis dialect`."""

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from oasis.cli.dialect import dialect
from oasis.dialect.borders import examine_borders
from oasis.dialect.infer import infer
from oasis.engine.embedded import EmbeddedEngine
from oasis.engine.llama import LlamaClient
from oasis.errors import OasisError
from tests.dialect.templates import HERMES, MOVING, PLAIN


def oasis_dialect(*arguments: str | Path) -> Result:
    app = typer.Typer(add_completion=False)
    app.command()(dialect)
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, source in (("a-hermes", HERMES), ("b-moving", MOVING), ("c-plain", PLAIN), ("d-broken", "{% if %}")):
        (tmp_path / f"{name}.jinja").write_text(source, encoding="utf-8")
    return tmp_path


def test_one_file_shows_what_was_inferred(folder: Path) -> None:
    run = oasis_dialect(folder / "a-hermes.jinja")
    assert run.exit_code == 0
    assert "token lane" in run.output
    assert '"<tool_call>"' in run.output


def test_a_folder_shows_a_table_with_reasons_and_totals(folder: Path) -> None:
    run = oasis_dialect(folder)
    assert run.exit_code == 0
    rows = {line.split()[0]: line for line in run.output.splitlines()}
    assert "writes a block of instructions after the last message" in rows["b-moving.jinja"]
    assert "not valid jinja (line 1" in rows["d-broken.jinja"]
    assert "4 templates: 2 token lane, 2 chat lane" in run.output


def test_json_says_the_same_in_full(folder: Path) -> None:
    shown = json.loads(oasis_dialect("--json", folder).output)
    assert [t["lane"] for t in shown["templates"]] == ["tokens", "chat", "tokens", "chat"]
    assert shown["templates"][0]["facts"]["call_section"] == "<tool_call>"
    assert shown["totals"] == {"templates": 4, "tokens": 2, "chat": 2, "appending": 2, "own_calls": 1}


def test_a_file_that_cannot_be_read_is_exit_code_1_and_the_others_are_shown(folder: Path) -> None:
    run = oasis_dialect(folder / "a-hermes.jinja", folder / "none.jinja")
    assert run.exit_code == 1
    assert "a-hermes.jinja" in run.output
    assert "none.jinja cannot be read" in run.output


def test_an_empty_folder_is_exit_code_1(tmp_path: Path) -> None:
    assert oasis_dialect(tmp_path).exit_code == 1


def test_nothing_named_says_what_to_name() -> None:
    with pytest.raises(OasisError, match="--server"):
        dialect(None, "", False)


@pytest.mark.engine
async def test_a_server_shows_its_template_and_its_borders(client: LlamaClient) -> None:
    props = await client.props()
    made = infer(props["chat_template"], props["bos_token"], props["eos_token"])
    borders = await examine_borders(made, client.tokenize)
    assert len(borders) > 5
    assert all(border.is_same for border in borders)


@pytest.mark.engine
async def test_a_border_that_the_tokeniser_sees_is_reported(client: LlamaClient) -> None:
    made = infer((await client.props())["chat_template"])

    async def joining(text: str, special: bool) -> list[int]:
        return [text.count("\n\n"), *await client.tokenize(text, special)] if "Map" in text else [0]

    borders = await examine_borders(made, joining)
    assert any(not border.is_same for border in borders)


@pytest.mark.engine
def test_the_command_asks_a_running_server(dense_engine: EmbeddedEngine) -> None:
    found = oasis_dialect("--server", dense_engine.url)
    assert found.exit_code == 0
    assert "token lane" in found.output
    assert "Tokenised apart, 0 of" in found.output


def test_a_file_that_is_no_template_is_exit_code_1(tmp_path: Path) -> None:
    (tmp_path / "passwd").write_text("root:x:0:0")
    found = oasis_dialect(tmp_path / "passwd")
    assert found.exit_code == 1
    assert "no chat template" in found.output
