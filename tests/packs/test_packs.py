"""Packs: found by entry point, registered last, every byte before them unchanged."""

from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from oasis import packs
from oasis.agent.assembly import toolbox
from oasis.errors import ConfigError
from oasis.plant.pack import Pack
from oasis.tools.skill import Skills


def made(name: str, folder: Path) -> Pack:
    file = folder / name / "SKILL.md"
    file.parent.mkdir(parents=True)
    file.write_text(f"---\nname: use-{name}\ndescription: before {name}\n---\nbody")
    return Pack(name, {}, f"{name}://host", folder)


@pytest.fixture
def two_packs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = {name: made(name, tmp_path / name) for name in ("zeta", "alpha")}
    entries = [EntryPoint(name, f"{name}:PACK", packs.GROUP) for name in found]
    monkeypatch.setattr(packs, "entry_points", lambda group: [e for e in entries if e.group == group])
    monkeypatch.setattr(EntryPoint, "load", lambda self: found[self.name])


def test_the_modbus_pack_is_found_by_entry_point():
    assert packs.find_packs()["modbus"].name == "modbus"


def test_with_a_pack_every_byte_of_the_head_before_it_is_the_same(tmp_path: Path):
    without, with_pack = (toolbox(tmp_path, names).prefix.wire for names in ([], ["modbus"]))
    assert with_pack.startswith(without)
    assert len(with_pack) > len(without)


@pytest.mark.usefixtures("two_packs")
def test_packs_stand_in_order_of_names_whatever_the_order_of_the_choice():
    for chosen in (["zeta", "alpha"], ["alpha", "zeta", "alpha"]):
        assert [pack.name for pack in packs.chosen_packs(chosen)] == ["alpha", "zeta"]


@pytest.mark.usefixtures("two_packs")
def test_a_pack_s_words_and_skill_lines_end_the_reading_tool(tmp_path: Path):
    box = toolbox(tmp_path, ["zeta", "alpha"])
    said = "alpha://host\nskill use-alpha: before alpha\nzeta://host\nskill use-zeta: before zeta"
    assert box.prefix.tools[-1].name == "plant_read"
    assert box.prefix.tools[-1].description.endswith(f":\n{said}")


@pytest.mark.usefixtures("two_packs")
def test_a_chosen_pack_s_skills_can_be_loaded(tmp_path: Path):
    assert (
        Skills(tmp_path / "none", packs.pack_skills(packs.chosen_packs(["alpha"])))
        .body("use-alpha")
        .startswith("body\n")
    )


@pytest.mark.usefixtures("two_packs")
def test_an_unknown_pack_is_named_with_those_there_are():
    with pytest.raises(ConfigError, match=r"no pack 'beta'\. Installed are: alpha, zeta"):
        packs.chosen_packs(["beta"])


def test_a_pack_that_does_not_load_is_an_error_in_words(monkeypatch: pytest.MonkeyPatch):
    broken = EntryPoint("broken", "oasis_no_such_module:PACK", packs.GROUP)
    monkeypatch.setattr(packs, "entry_points", lambda group: [broken])
    with pytest.raises(ConfigError, match="The pack 'broken' cannot be loaded"):
        packs.find_packs()


def test_what_is_no_pack_is_named_so(monkeypatch: pytest.MonkeyPatch):
    wrong = EntryPoint("wrong", "json:dumps", packs.GROUP)
    monkeypatch.setattr(packs, "entry_points", lambda group: [wrong])
    with pytest.raises(ConfigError, match="The pack 'wrong' is no pack: json:dumps is a function"):
        packs.find_packs()


def test_choosing_a_pack_imports_no_driver(tmp_path: Path):
    import subprocess
    import sys

    code = "import sys; from pathlib import Path; from oasis.agent.assembly import toolbox; toolbox(Path(), ['modbus']); print('pymodbus' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout == "False\n"
