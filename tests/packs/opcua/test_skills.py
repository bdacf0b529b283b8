"""The pack's skills: short lines, and examples that the line really shows."""

from pathlib import Path

import pytest
from oasis_opcua import PACK
from oasis_opcua.simulator.populate import ALARMS
from oasis_opcua.simulator.signals import LINE, MAINTENANCE

from oasis.core.front_matter import split

SKILLS = sorted(Path(str(PACK.skills)).iterdir())


@pytest.mark.parametrize("folder", SKILLS, ids=lambda folder: folder.name)
def test_a_skill_is_named_as_its_folder_and_described_in_few_words(folder: Path):
    front, body = split((folder / "SKILL.md").read_text(encoding="utf-8"))
    assert front["name"] == folder.name
    assert len(str(front["description"]).split()) <= 12
    assert len(body.split()) > 150


def test_the_four_skills_are_there():
    assert [folder.name for folder in SKILLS] == [
        "browsing-an-undocumented-server", "opcua-namespaces", "opcua-trust-and-certificates", "reading-an-alarm-list",
    ]  # fmt: skip


def test_examples_are_those_of_the_line():
    text = {folder.name: (folder / "SKILL.md").read_text(encoding="utf-8") for folder in SKILLS}
    for severity, source, message in ALARMS:
        assert f"{severity} {source}: {message}" in text["reading-an-alarm-list"].replace("\n", " ")
    assert LINE in text["opcua-namespaces"]
    assert MAINTENANCE in text["opcua-namespaces"]
