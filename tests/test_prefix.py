"""The head is the same for every project, user, machine and day, and what is added comes last."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from oasis.agent import assembly
from oasis.agent.assembly import toolbox
from oasis.agent.prompt import assemble
from oasis.core.divergence import common_prefix
from oasis.core.prefix import Prefix
from oasis.core.tool import ToolSpec
from oasis.dialect.infer import infer
from oasis.dialect.parts import text_of
from oasis.resources import shipped, skills_folder

HEADS = """
import json
from pathlib import Path
from oasis.agent.assembly import toolbox
from oasis.dialect.infer import infer
from oasis.dialect.parts import text_of
prefix = toolbox(Path(), {packs!r}).prefix
template = "{{{{ strftime_now('%d %B %Y') }}}}" + Path({template!r}).read_text(encoding="utf-8")
print(json.dumps([prefix.digest, text_of(infer(template).head(prefix))]))
"""
ANOTHER_DAY = """
import time, datetime
real = time.time
time.time = lambda: real() + 200 * 86400.5
class Later(datetime.datetime):
    @classmethod
    def now(cls, tz=None): return cls.fromtimestamp(time.time(), tz)
class LaterDate(datetime.date):
    @classmethod
    def today(cls): return cls.fromtimestamp(time.time())
datetime.datetime, datetime.date = Later, LaterDate
"""
BACKWARDS = """
import os, pathlib
listdir, scandir, iterdir, glob = os.listdir, os.scandir, pathlib.Path.iterdir, pathlib.Path.glob
class Reversed:
    def __init__(self, it): self.all = list(it)[::-1]; self.at = iter(self.all)
    def __enter__(self): return self
    def __exit__(self, *a): pass
    def __iter__(self): return self
    def __next__(self): return next(self.at)
    def close(self): pass
os.listdir = lambda *a: listdir(*a)[::-1]
os.scandir = lambda *a: Reversed(scandir(*a))
pathlib.Path.iterdir = lambda self: iter(list(iterdir(self))[::-1])
pathlib.Path.glob = lambda self, *a, **k: iter(list(glob(self, *a, **k))[::-1])
"""
CIRCUMSTANCES = {
    "another date": (ANOTHER_DAY, {}),
    "another time zone": ("", {"TZ": "Pacific/Kiritimati"}),
    "another locale": ("", {"LC_ALL": "de_DE.ISO-8859-1", "LANG": "de_DE.ISO-8859-1", "PYTHONUTF8": "0"}),
    "another user and home": ("", {"USER": "anna", "LOGNAME": "anna", "HOME": "anna's home", "COLUMNS": "40"}),
    "another hash seed": ("", {"PYTHONHASHSEED": "4711"}),
    "another file system order": (BACKWARDS, {}),
}


def heads(directory: Path, before: str = "", packs: tuple[str, ...] = ("modbus",), **environment: str) -> list[str]:
    """Digest of the head, and its text in a dialect whose template writes the date, in a fresh process."""
    template = str(shipped("fixtures/templates/tags.jinja"))
    code = before + HEADS.format(packs=list(packs), template=template)
    environment = {**os.environ, "PYTHONHASHSEED": "0", **environment}
    said = subprocess.run(
        [sys.executable, "-c", code], cwd=directory, env=environment, check=True, capture_output=True, encoding="utf-8"
    )
    return json.loads(said.stdout)


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    return heads(tmp_path_factory.mktemp("empty"))


@pytest.mark.parametrize("name", CIRCUMSTANCES)
def test_the_head_is_the_same_under(name: str, usual: list[str], tmp_path: Path):
    before, environment = CIRCUMSTANCES[name]
    if "HOME" in environment:
        home = tmp_path / environment["HOME"]
        home.mkdir()
        environment = {**environment, "HOME": str(home), "USERPROFILE": str(home)}
    assert heads(tmp_path, before, **environment) == usual


def test_the_head_is_the_same_in_a_project_with_notes_skills_and_settings(usual: list[str], tmp_path: Path):
    (tmp_path / "AGENTS.md").write_text("Sources are in awl/.")
    (tmp_path / "oasis.toml").write_text('packs = ["modbus"]\n')
    skill = tmp_path / "skills" / "aaa-own"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: aaa-own\ndescription: Ours.\n---\nDo it.\n")
    assert heads(tmp_path) == usual


def test_the_frozen_head_is_what_is_assembled():
    assert toolbox(Path()).prefix.wire == shipped("fixtures/prefix.txt").read_bytes()


def test_a_pack_moves_no_byte_before_it():
    bare, packed = toolbox(Path()).prefix, toolbox(Path(), ["modbus"]).prefix
    assert len(packed.wire) > len(bare.wire)
    assert packed.wire.startswith(bare.wire)


def test_a_tool_added_last_moves_no_byte_before_it():
    bare = toolbox(Path()).prefix
    more = assemble([*bare.tools, ToolSpec("aaa", "First by name, last by order.", {"type": "object"})])
    assert more.wire.startswith(bare.wire)


def test_a_skill_added_last_moves_no_byte_before_its_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    bare = toolbox(Path()).prefix.wire
    bundled = tmp_path / "skills"
    shutil.copytree(skills_folder(), bundled)
    (bundled / "zzz-last").mkdir()
    (bundled / "zzz-last" / "SKILL.md").write_text("---\nname: zzz-last\ndescription: The last one.\n---\nDo it.\n")
    monkeypatch.setattr(assembly, "skills_folder", lambda: bundled)
    longer = toolbox(Path()).prefix.wire
    line = longer.index(b"zzz-last")
    assert common_prefix(bare, longer) >= line - len(b"\\n- ")
    assert longer[common_prefix(bare, longer) :].endswith(bare[common_prefix(bare, longer) :])


@pytest.mark.parametrize("template", sorted(p.name for p in shipped("fixtures/templates").glob("*.jinja")))
def test_a_pack_moves_no_character_before_it_in_a_dialect(template: str):
    dialect = infer((shipped("fixtures/templates") / template).read_text(encoding="utf-8"))
    bare, packed = toolbox(Path()).prefix, toolbox(Path(), ["modbus"]).prefix
    last = bare.tools[-1]
    other = Prefix(bare.system, (*bare.tools, ToolSpec("\N{SNOWMAN}", "\N{SNOWMAN}", {"type": "object"})))
    head, longer, different = (text_of(dialect.head(prefix)) for prefix in (bare, packed, other))
    end_of_tools = common_prefix(longer.encode(), different.encode())
    assert end_of_tools > head.encode().index(last.name.encode())
    assert common_prefix(head.encode(), longer.encode()) >= _end_of(last, head)


def _end_of(tool: ToolSpec, head: str) -> int:
    """Where the last text of the tool's description ends in a head."""
    tail = json.dumps(tool.description.splitlines()[-1], ensure_ascii=False)[1:-1]
    return len(head[: head.rindex(tail) + len(tail)].encode())
