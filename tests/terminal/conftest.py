"""A project for sessions in a pty."""

from pathlib import Path

import pytest


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "a.st").write_text("A := 1;\nB := 2;\n")
    return folder
