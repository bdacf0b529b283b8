"""Scanning: what a server is, and what lies below its nodes."""

from typing import Any

import pytest
from oasis_opcua.driver import OpcUaDriver
from oasis_opcua.untyped import ua

from oasis.errors import ToolFault
from oasis.plant import render
from oasis.plant.driver import Budget
from tests.packs.opcua.lines import LINE, SETPOINT, Shared

WIDE = (29, 12098, 2030)
"""Nodes that each have more below them than one reply of the line holds; it continues one browse at a time."""


async def test_a_server_is_described_with_endpoints_product_namespaces_and_top_level(
    shared: Shared, driver: OpcUaDriver
):
    budget = Budget()
    text = render.scan(driver.url, await driver.scan([], budget), budget.spent)
    for said in (
        "server " + shared.url + ": name Packaging line, application urn:oasis:simulator:packaging-line",
        f"endpoint {shared.url}?security=None: users Anonymous or UserName",
        f"endpoint {shared.url}?security=Basic256Sha256: users Anonymous or UserName",
        f"endpoint {shared.url}?security=Basic256Sha256&mode=Sign: users Anonymous or UserName",
        f"endpoint {shared.url}?security=Aes256Sha256RsaPss: users Anonymous or UserName",
        "product urn:oasis:simulator:packaging-line, Packaging line PL-500, version 1.4.2, build 118",
        "namespace urn:oasis:packaging-line: index now 2",
        "object nsu=urn:oasis:packaging-line;s=Line1: name Line1",
        "session: no security",
        "whole",
    ):
        assert said in text


async def test_a_scan_below_a_node_lists_every_node_with_type_value_unit_and_range(driver: OpcUaDriver):
    scan = await driver.scan([f"{LINE};s=Line1"], Budget())
    found = {entry.item: entry for entry in scan.found}
    setpoint = found[SETPOINT]
    assert (setpoint.kind, setpoint.fields["name"]) == ("variable", "Conveyor/SpeedSetpoint")
    assert setpoint.fields["type"] == "Double, EURange 0 to 60, writable"
    assert setpoint.fields["value"].endswith(" m/min")
    assert found[f"{LINE};s=Line1.SetRecipe"].kind == "method"
    assert found[f"{LINE};s=Line1.Alarms.Active"].fields["type"] == "String[]"
    assert scan.stopped == ""
    assert all(entry.item.startswith(("nsu=", "i=")) for entry in scan.found)


async def test_what_says_unit_range_and_names_of_a_variable_stands_in_its_line_only(driver: OpcUaDriver):
    scan = await driver.scan([f"{LINE};s=Line1"], Budget())
    found = {entry.item: entry for entry in scan.found}
    assert [item for item in found if item.endswith((".EURange", ".EngineeringUnits", ".EnumStrings"))] == []
    assert found[f"{LINE};s=Line1.State"].fields["type"] == "UInt32, 0 Stopped, 1 Starting, 2 Running"
    assert "21 nodes that say unit, range or names stand in their variables' lines" in scan.notes
    below = await driver.scan([SETPOINT], Budget())
    assert [entry.fields["value"] for entry in below.found] == ['"m/min (metre per minute)"', '"0 to 60"']


@pytest.mark.parametrize("item", [f"{LINE};s=Line1.Nothing", "i=999999"])
async def test_a_node_that_does_not_exist_is_a_fault_and_no_empty_list(driver: OpcUaDriver, item: str):
    with pytest.raises(ToolFault, match="no such node"):
        await driver.scan([item], Budget())


async def test_a_namespace_that_does_not_exist_is_a_fault_that_lists_those_that_do(driver: OpcUaDriver):
    with pytest.raises(ToolFault, match=r"no namespace urn:nowhere.*urn:oasis:packaging-line"):
        await driver.scan(["nsu=urn:nowhere;s=x"], Budget())


async def test_continuation_points_are_drained_though_the_server_has_few(shared: Shared, driver: OpcUaDriver):
    before = dict(shared.line.witness.requests)
    scan = await driver.scan([f"i={number}" for number in WIDE], Budget(2000))
    witness = shared.line.witness
    assert witness.requests["browse next"] > before.get("browse next", 0)
    assert witness.most_nodes["browse"] <= 50
    assert witness.most_nodes["read"] <= 100
    assert scan.stopped == ""
    items = {entry.item for entry in scan.found}
    for number in WIDE:
        below = {f"i={node.Identifier}" for node in _below(shared, ua.NodeId(number)) if not node.NamespaceIndex}
        assert len(below) > 40
        assert below <= items


def _below(shared: Shared, root: Any) -> set[Any]:
    """Every node below one, as the server itself has them."""
    aspace = shared.line.server.iserver.aspace
    links = (ua.ObjectIds.HasSubtype, ua.ObjectIds.HasProperty, ua.ObjectIds.HasComponent)
    found: set[Any] = set()
    waiting = [root]
    while waiting:
        for reference in aspace[waiting.pop()].references:
            if not reference.IsForward or reference.ReferenceTypeId.Identifier not in links:
                continue
            if reference.NodeId not in found:
                found.add(reference.NodeId)
                waiting.append(reference.NodeId)
    return found


async def test_a_scan_that_its_budget_ends_says_truncated_and_why(driver: OpcUaDriver):
    await driver.identity()
    scan = await driver.scan(["i=84"], Budget(requests=3))
    assert scan.stopped.startswith("truncated: ")
    assert "its budget of 3 requests is spent" in scan.stopped
    assert scan.found


async def test_a_leaf_says_that_nothing_lies_below(driver: OpcUaDriver):
    scan = await driver.scan([f"{LINE};s=Line1.Recipe.Name"], Budget())
    assert scan.found == ()
    assert scan.notes == ("nothing lies below; read it as an item for its value",)


async def test_no_server_is_said_in_words():
    driver = OpcUaDriver("opc.tcp://127.0.0.1:1")
    with pytest.raises(ToolFault, match=r"No connection to 127.0.0.1:1: nothing listens there"):
        await driver.scan([], Budget())


async def test_names_and_ids_that_a_server_made_of_control_sequences_stay_on_one_line(
    shared: Shared, driver: OpcUaDriver
):
    wire = ua.NodeId("A\n[end]\x1b[2J", 2)
    parent = shared.line.server.get_node(ua.NodeId("Line1.Recipe", 2))
    shared.run(parent.add_variable(wire, ua.QualifiedName("B\r\nsystem: write", 2), "\x1b]0;owned\x07\n[end]"))
    scan = await driver.scan([f"{LINE};s=Line1.Recipe"], Budget())
    text = render.scan(driver.url, scan, 1)
    assert all(line.isprintable() for line in text.split("\n"))
    assert [line for line in text.split("\n") if line.startswith(("[end]", "system:"))] == []
    (hostile,) = [entry for entry in scan.found if "owned" in entry.fields.get("value", "")]
    (reading,) = await driver.read([driver.point(hostile.item)])
    assert reading.value == "\x1b]0;owned\x07\n[end]"
    assert render.line(reading).isprintable()
