"""The pictures in docs/screens show what the code draws."""

import xml.etree.ElementTree as xml
from pathlib import Path

import pytest
from typer.testing import CliRunner

from oasis.cli.main import app
from oasis.ui.terminal.pictures import pictures, words_of

FOLDER = Path(__file__).parents[2] / "docs/screens"
PICTURES = dict(pictures())


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_is_up_to_date(name: str):
    assert words_of((FOLDER / f"{name}.svg").read_text(encoding="utf-8")) == words_of(PICTURES[name])


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_is_xml_that_fetches_nothing(name: str):
    xml.fromstring(PICTURES[name])
    assert "url(http" not in PICTURES[name]
    assert "@font-face" not in PICTURES[name]


def test_there_is_no_picture_that_nothing_draws():
    assert {file.stem for file in FOLDER.glob("*.svg")} == set(PICTURES)


def test_the_check_fails_for_a_picture_that_is_stale(tmp_path: Path):
    assert CliRunner().invoke(app, ["screens", str(tmp_path)]).exit_code == 0
    assert CliRunner().invoke(app, ["screens", str(tmp_path), "--check"]).exit_code == 0
    file = tmp_path / "answer.svg"
    file.write_text(file.read_text(encoding="utf-8").replace("Speed", "Spade"), encoding="utf-8")
    assert CliRunner().invoke(app, ["screens", str(tmp_path), "--check"]).exit_code != 0
    assert "Spade" in file.read_text(encoding="utf-8")
