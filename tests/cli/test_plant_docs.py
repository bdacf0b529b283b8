"""README.md, docs/plant.md and docs/lab.md show what the commands print: each is run against the lab, held still.

`pytest tests/cli/test_plant_docs.py --snapshot-update` writes anew what they show.
"""

import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from oasis.cli.plant import approve
from tests.cli.plant_command import plant
from tests.lab.threaded import Place, boiler

ROOT = Path(__file__).parents[2]
COMMAND = re.compile(r"^\$ (oasis plant .*)\n((?:(?!\$ |```).*\n)*)", re.MULTILINE)
WITH_TABLES = ("scan", "read", "compare", "browse", "write", "audit", "check")
VARIES = (
    (r"\d{4}-\d\d-\d\dT[\d:.]+[+-]\d\d:\d\d", "TIME"),
    (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC", "TIME"),
    (r"\b[0-9a-f]{8}\b", "ID"),
    (r"\b\d+ ms\b", "MS"),
    (r"\b\d+ requests\b", "REQUESTS"),
    (r"wire    00 [0-9a-f]{2} ", "wire    00 01 "),
    (r"[─\s]+", " "),
)


def alike(text: str) -> str:
    """The text without what is another each time: times, ids, durations, the width of columns."""
    for pattern, instead in VARIES:
        text = re.sub(pattern, instead, text)
    return text.strip()


@pytest.fixture
def at_a_terminal(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An engineer at 80 columns who says y."""

    async def answer(question: str) -> str:
        print(f"{question}y", file=sys.stderr)
        return "y"

    monkeypatch.setattr(approve, "has_person", lambda: True)
    monkeypatch.setattr(approve, "answer", answer)
    monkeypatch.setenv("COLUMNS", "80")
    for name in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.setenv(name, "engineer")
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def lab(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Place]:
    with boiler(tmp_path, neighbour_s=0.4, slow_s=5.0, **request.param) as place:
        yield place


def printed(command: str, lab: Place) -> str:
    """What the command prints with the lab at its fixed port."""
    here = lab.url.removeprefix("modbus://127.0.0.1")
    _, _, *arguments = shlex.split(command.replace(":5020", here))
    done = plant(*arguments, *(["--table"] if set(arguments) & set(WITH_TABLES) else []))
    shown = (done.error + done.out).replace(here, ":5020")
    shown = re.sub(r"\S+/(audit/lab-)[0-9a-f]{8}", r"~/.local/state/oasis/\g<1>0f1e2d3c", shown)
    return "".join(f"{line.rstrip()}\n" for line in shown.splitlines())


@pytest.mark.usefixtures("at_a_terminal")
@pytest.mark.parametrize(
    ("name", "lab"),
    [("README.md", {}), ("docs/plant.md", {}), ("docs/lab.md", {"faults": True})],
    indirect=["lab"],
    ids=["README", "plant", "lab"],
)
def test_the_document_shows_what_the_commands_print(name: str, lab: Place, request: pytest.FixtureRequest):
    text = (ROOT / name).read_text(encoding="utf-8")
    tokens: list[str] = []

    def anew(block: re.Match[str]) -> str:
        command = block[1]
        if "audit revert" in command:
            command = re.sub(r"revert [0-9a-f]{8}", f"revert {tokens[0]}", command)
        got = printed(command, lab)
        tokens.extend(re.findall(r"^token   ([0-9a-f]{8})", got, re.MULTILINE))
        return block[0] if alike(got) == alike(block[2]) else f"$ {command}\n{got}"

    renewed = COMMAND.sub(anew, text)
    if request.config.getoption("update_snapshots", default=False):
        (ROOT / name).write_text(renewed, encoding="utf-8")
    assert len(tokens) >= 1
    assert renewed == text
