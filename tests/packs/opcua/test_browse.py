"""`oasis plant browse` on a server: what a scan gives as paths, as a tree."""

from tests.cli.plant_command import plant
from tests.packs.opcua.lines import LINE, SPEED, Shared


def test_nodes_below_a_node_stand_once_each_below_their_parents(shared: Shared):
    whole = plant("browse", shared.url, f"{LINE};s=Line1").json["below"]
    one = plant("browse", shared.url, f"{LINE};s=Line1", "--depth", 1).json["below"]
    (conveyor,) = [row for row in whole if row["fields"]["name"] == "Conveyor"]
    assert SPEED in [row["item"] for row in conveyor["below"]]
    assert SPEED not in [row["item"] for row in whole]
    assert [row["item"] for row in one] == [row["item"] for row in whole]
    assert not any("below" in row for row in one)
