"""What packs cost in the head, and that no combination of them moves a byte before their first tool."""

from itertools import combinations
from pathlib import Path

import pytest

from oasis.agent.assembly import toolbox
from oasis.config import Settings
from oasis.measure.prefix_cost import costs
from oasis.packs import find_packs

PACKS = ("ethercat", "modbus", "opcua")
COMBINATIONS = [names for size in range(4) for names in combinations(PACKS, size)]
MOST_BYTES_ONE, MOST_BYTES_ALL = 1_500, 3_600
"""Where no tokenizer is at hand: SmolLM2's makes a token of 3.4 to 3.6 bytes of these texts."""
MOST_TOKENS_ONE, MOST_TOKENS_ALL = 350, 1_000
MOST_TOKENS_WITH_SITE = 450
SITE = """
[site]
name = "Boiler house"
[endpoints.boiler]
url = "modbus://127.0.0.1:502/1"

[tags.set_point]
endpoint = "boiler"
address = "holding 0"
type = "uint16"
scale = 0.1
unit = "degC"
write = true
min = 20
max = 95
max_step = 10
"""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    path = tmp_path / "plant.toml"
    path.write_text(SITE)
    return path


def test_all_three_packs_are_installed():
    assert tuple(find_packs()) == PACKS


@pytest.mark.parametrize("names", COMBINATIONS, ids="+".join)
def test_no_combination_of_packs_moves_a_byte_before_the_plant_s_first_tool(names: tuple[str, ...]):
    bare, packed = toolbox(Path()).prefix, toolbox(Path(), names).prefix
    assert packed.wire.startswith(bare.wire)
    assert [tool.name for tool in packed.tools[len(bare.tools) :]] == (["plant_scan", "plant_read"] if names else [])


@pytest.mark.parametrize("names", COMBINATIONS[1:], ids="+".join)
def test_what_packs_add_is_bounded_in_bytes(names: tuple[str, ...]):
    added = len(toolbox(Path(), names).prefix.wire) - len(toolbox(Path()).prefix.wire)
    assert added <= (MOST_BYTES_ONE if len(names) == 1 else MOST_BYTES_ALL)


def test_a_site_file_moves_no_byte_before_the_tool_that_writes(site: Path):
    without, with_site = toolbox(Path(), ["modbus"]).prefix, toolbox(Path(), ["modbus"], site).prefix
    assert with_site.wire.startswith(without.wire)
    assert [tool.name for tool in with_site.tools[len(without.tools) :]] == ["plant_write"]


async def test_what_packs_cost_in_smollm2_s_tokens(site: Path):
    heads = [toolbox(Path(), names).prefix for names in COMBINATIONS]
    heads.append(toolbox(Path(), ["modbus"], site).prefix)
    counted = await costs(heads, Settings(threads=1), prefill=False)
    if "smollm2" not in counted.source:
        pytest.skip("needs `oasis models pull smollm2-135m`")
    added = [counted.tokens(n) - counted.tokens(0) for n in range(len(heads))]
    by_names = dict(zip(COMBINATIONS, added, strict=False))
    assert {names: cost for names, cost in by_names.items() if len(names) == 1 and cost > MOST_TOKENS_ONE} == {}
    assert by_names[PACKS] <= MOST_TOKENS_ALL
    assert added[-1] <= MOST_TOKENS_WITH_SITE
