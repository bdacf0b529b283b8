import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from oasis.agent.assembly import toolbox
from oasis.cli.main import app
from oasis.core.prefix import Prefix
from oasis.core.tool import ToolSpec
from oasis.engine.embedded import EmbeddedEngine
from oasis.errors import ConfigError
from oasis.measure.prefix import compare, frozen_prefix

TOOLS = tuple(ToolSpec(name, f"Does {name}.", {"type": "object"}) for name in ("read", "write"))
PREFIX = Prefix("Be brief.\nBe right.", TOOLS)


@pytest.fixture(autouse=True)
def no_model_at_hand(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("oasis.measure.prefix_cost.models_here", list)


def oasis(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["prefix", *arguments])
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.output


def test_an_unchanged_head_has_no_difference():
    assert compare(PREFIX.wire, PREFIX) is None


@pytest.mark.parametrize(
    ("changed", "place"),
    [
        (Prefix("Be brief.\nBe wrong.", TOOLS), "the system text"),
        (Prefix(PREFIX.system, (TOOLS[0], ToolSpec("write", "Writes.", {"type": "object"}))), "tool write"),
        (Prefix(PREFIX.system, TOOLS[::-1]), "tool 1: read became write"),
        (Prefix(PREFIX.system, TOOLS[:1]), "what follows the last tool of the head now"),
        (Prefix(PREFIX.system, (*TOOLS, TOOLS[0])), "what follows the last tool of the frozen head"),
    ],
)
def test_a_change_is_named_by_the_part_it_is_in(changed: Prefix, place: str):
    change = compare(PREFIX.wire, changed)
    assert change is not None
    assert (change.place, change.bytes_added) == (place, len(changed.wire) - len(PREFIX.wire))


def test_a_frozen_head_is_read_back_whole():
    assert frozen_prefix(PREFIX.wire, "prefix.txt") == PREFIX


def test_a_file_that_holds_no_head_is_an_error_that_says_how_to_make_one():
    with pytest.raises(ConfigError, match=r"no frozen prefix.*--update"):
        frozen_prefix(b"{", "prefix.txt")


def test_check_passes_on_the_repositorys_own_head():
    code, said = oasis("--check")
    assert (code, "3," in said or "bytes" in said) == (0, True)


def test_check_names_the_byte_the_part_and_the_cost_of_a_change(tmp_path: Path):
    fixture = tmp_path / "head.txt"
    wire = toolbox(Path()).prefix.wire
    fixture.write_bytes(wire.replace(b"Find lines", b"Find all of the lines"))
    code, said = oasis("--check", "--fixture", str(fixture))
    assert code == 1
    assert f"at byte {wire.index(b'Find lines') + 5:,}, in tool search" in said
    assert "-11 bytes" in said
    assert "search -" in said
    assert "estimate" in said


def test_update_writes_a_fixture_that_check_accepts_with_packs_too(tmp_path: Path):
    fixture = tmp_path / "ci" / "head.txt"
    assert oasis("--update", "--fixture", str(fixture), "--pack", "modbus")[0] == 0
    assert oasis("--check", "--fixture", str(fixture), "--pack", "modbus")[0] == 0
    assert oasis("--check", "--fixture", str(fixture))[0] == 1


SITE = """
[site]
name = "Tank"
[endpoints.tank]
url = "modbus://127.0.0.1:5020/1"
[tags.level]
endpoint = "tank"
address = "input 0"
"""


def test_a_site_file_adds_the_tool_that_writes_after_everything_else(tmp_path: Path):
    (tmp_path / "plant.toml").write_text(SITE)
    pack = ["--json", "--pack", "modbus"]
    bare, with_site = (json.loads(oasis(*pack, *more)[1]) for more in ([], ["--site", str(tmp_path / "plant.toml")]))
    assert with_site["parts"][: len(bare["parts"])] == bare["parts"]
    assert [part["name"] for part in with_site["parts"][len(bare["parts"]) :]] == ["plant_write"]


def test_a_site_file_without_a_pack_says_which_flag_is_missing(tmp_path: Path):
    (tmp_path / "plant.toml").write_text(SITE)
    with pytest.raises(ConfigError, match="Add --pack"):
        oasis("--site", str(tmp_path / "plant.toml"))


def test_with_packs_a_fixture_has_to_be_named():
    with pytest.raises(ConfigError, match="--fixture"):
        oasis("--check", "--pack", "modbus")


def test_without_a_tokeniser_the_tokens_are_called_an_estimate():
    assert "Tokens by an estimate of 4 bytes a token" in oasis()[1]


@pytest.mark.engine
def test_with_a_server_every_part_has_its_tokens_and_its_cold_milliseconds(dense_engine: EmbeddedEngine):
    code, said = oasis("--server", dense_engine.url)
    lines = [line.split() for line in said.splitlines()]
    head = next(line for line in lines if line[0] == "head")
    parts = [line for line in lines[1:] if len(line) >= 4 and line[0] not in ("head", "Tokens")]
    assert code == 0
    assert sum(int(line[-2].replace(",", "")) for line in parts) == int(head[2].replace(",", ""))
    assert all(float(line[-1]) > 0 for line in parts)
