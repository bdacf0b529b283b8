"""Packs: found by entry point, registered last, every byte before them unchanged."""

from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from oasis import packs, resources
from oasis.core.pack import Pack
from oasis.core.prefix import Prefix
from oasis.core.tool import Arguments, Outcome, Preview, Risk, Tool, ToolSpec
from oasis.errors import ConfigError
from oasis.tools.builtin import builtin
from oasis.tools.skill import Skills
from oasis.tools.workspace import Workspace


async def _preview(_: Arguments) -> Preview:
    return Preview("", "")


async def _run(_: Arguments) -> Outcome:
    return Outcome("")


def made(name: str, folder: Path) -> Pack:
    file = folder / name / "SKILL.md"
    file.parent.mkdir(parents=True)
    file.write_text(f"---\nname: use-{name}\ndescription: before {name}\n---\nbody")
    tools = [Tool(ToolSpec(f"{name}_{n}", "d", {}), Risk.READ, _preview, _run) for n in (1, 2)]
    return Pack(name, lambda: tools, folder)


@pytest.fixture
def two_packs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = {name: made(name, tmp_path / name) for name in ("zeta", "alpha")}
    entries = [EntryPoint(name, f"{name}:PACK", packs.GROUP) for name in found]
    monkeypatch.setattr(packs, "entry_points", lambda group: [e for e in entries if e.group == group])
    monkeypatch.setattr(EntryPoint, "load", lambda self: found[self.name])


def test_the_modbus_pack_is_found_by_entry_point():
    found = packs.find_packs()
    assert found["modbus"].name == "modbus"
    assert [tool.spec.name for tool in packs.pack_tools(["modbus"])] == ["modbus_read"]


def test_with_a_pack_every_byte_of_the_head_before_it_is_the_same(tmp_path: Path):
    tools = builtin(Workspace(tmp_path, tmp_path), Skills(resources.skills_folder()))
    without = Prefix("system", tuple(t.spec for t in tools)).wire
    with_pack = Prefix("system", tuple(t.spec for t in (*tools, *packs.pack_tools(["modbus"])))).wire
    assert with_pack.startswith(without)
    assert len(with_pack) > len(without)


@pytest.mark.usefixtures("two_packs")
def test_packs_stand_in_order_of_names_whatever_the_order_of_the_choice():
    for chosen in (["zeta", "alpha"], ["alpha", "zeta", "alpha"]):
        assert [t.spec.name for t in packs.pack_tools(chosen)] == ["alpha_1", "alpha_2", "zeta_1", "zeta_2"]


@pytest.mark.usefixtures("two_packs")
def test_a_pack_s_skill_lines_end_its_last_tool():
    descriptions = {t.spec.name: t.spec.description for t in packs.pack_tools(["alpha"])}
    assert descriptions == {"alpha_1": "d", "alpha_2": "d\nskill use-alpha: before alpha"}


@pytest.mark.usefixtures("two_packs")
def test_a_chosen_pack_s_skills_can_be_loaded(tmp_path: Path):
    assert Skills(tmp_path / "none", packs.pack_skills(["alpha"])).body("use-alpha").startswith("body\n")


@pytest.mark.usefixtures("two_packs")
def test_an_unknown_pack_is_named_with_those_there_are():
    with pytest.raises(ConfigError, match=r"no pack 'beta'\. Installed are: alpha, zeta"):
        packs.pack_tools(["beta"])


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

    code = "import sys; from oasis.packs import pack_tools; pack_tools(['modbus']); print('pymodbus' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout == "False\n"
