"""NodeSet2 files as exporters write them: odd, incomplete, contradictory; loaded as far as they go, the rest named."""

from pathlib import Path

import pytest
from oasis_opcua.driver import OpcUaDriver

from oasis.plant.driver import Budget, Scan
from tests.packs.opcua.lines import Shared
from tests.packs.opcua.simulator.nodeset_texts import (
    CIRCLE,
    LOST,
    NODESET,
    NOWHERE,
    ODD,
    PUMP,
    VIEW,
    loaded,
    nodeset,
    read,
    variable,
)

DISPLAYED = "<DisplayName>x</DisplayName>"


async def scanned(shared: Shared, item: str) -> Scan:
    driver = OpcUaDriver(shared.url)
    try:
        return await driver.scan([item], Budget(2000))
    finally:
        await driver.close()


async def test_units_and_ranges_of_a_nodeset_are_read_with_its_values(shared: Shared, tmp_path: Path):
    counts = await loaded(shared, nodeset(tmp_path, "pumps", PUMP))
    assert (counts.nodes, counts.notes) == ({"urn:pumps": 4}, ())
    (reading,) = await read(shared, "nsu=urn:pumps;s=Pump.Flow")
    assert (reading.value, reading.point.form.unit, reading.where) == (3.5, "m³/h", "Float, EURange 0 to 12.5")


@pytest.mark.parametrize(
    ("name", "nodes", "count", "said"),
    [
        ("odd", ODD, 1, ["a value that cannot be read, its node is there without it: ns=1;s=Odd (1:Odd, line 7): "
                         "there is no data type NoSuchType"]),
        ("lost", LOST, 1, ["a reference to a node that is not there, left out: ns=1;s=Lost (1:Lost, line 7): i=987654",
                           "a parent that is not there: ns=1;s=Lost (1:Lost, line 7): i=987654",
                           "a node that no browse from the root finds: ns=1;s=Lost (1:Lost, line 7)"]),
        ("parts", VIEW + NOWHERE, 2, ["a reference to a node that is not there, left out: ns=1;s=O (1:O, line 10): "
                                      "i=987654; ns=1;s=O (1:O, line 10): ns=1;s=Missing"]),
        ("twice", variable("A") + variable("A"), 1, ["a node that stands in it twice, the first one counts: ns=1;s=A "
                                                     "(1:A, line 6)"]),
        ("circle", CIRCLE, 2, ["a node that no browse from the root finds: ns=1;s=A (1:A, line 7); ns=1;s=B (1:B, "
                               "line 8)"]),
        ("letters", variable("L", "i=6", "<t:Int32>x1</t:Int32>"), 1,
         ["a value that cannot be read, its node is there without it: ns=1;s=L (1:L, line 6): invalid literal for int() "
          "with base 10: 'x1'"]),
        ("beyond", variable("B", "i=3", "<t:Byte>256</t:Byte>"), 1,
         ["a value that cannot be read, its node is there without it: ns=1;s=B (1:B, line 6): 256 is no Byte: it holds "
          "0 to 255"]),
        ("unknown", '<UAObject NodeId="ns=7;i=1" BrowseName="1:U"/>', 0,
         ["a node that cannot be read, left out: ns=7;i=1 (1:U, line 6): namespace 7 is used, and the file's "
          "NamespaceUris names 1"]),
        ("nameless", '<UAObject BrowseName="1:U"/>', 0,
         ["a node that cannot be read, left out: without NodeId (1:U): '' is neither a NodeId nor an alias of the file"]),
        ("strange", '<UAThing NodeId="ns=1;i=1" BrowseName="1:U"/>', 0,
         ["an element that is no node of NodeSet2, left out: ns=1;i=1 (1:U, line 6): UAThing"]),
        ("alias", '<UAObject NodeId="ns=1;i=1" BrowseName="1:U" ParentNodeId="i=85"><References><Reference '
         'ReferenceType="HasWheels">i=85</Reference></References></UAObject>', 1,
         ["a reference that cannot be read, left out: ns=1;i=1 (1:U, line 6): 'HasWheels' is neither a NodeId nor an "
          "alias of the file"]),
        ("own", '<UAObject NodeId="i=85" BrowseName="Objects"/>', 0,
         ["a node that is there already (OPC UA's own, or another file's), left out: i=85 (Objects, line 6)"]),
        ("rank", variable("R", "i=6", "", 'ValueRank="many"'), 0,
         ["a node that cannot be read, left out: ns=1;s=R (1:R, line 6): its ValueRank 'many': invalid literal for int() "
          "with base 10: 'many'"]),
    ],
)  # fmt: skip
async def test_what_cannot_be_loaded_is_named_with_its_line_and_the_rest_is_there(
    shared: Shared, tmp_path: Path, name: str, nodes: str, count: int, said: list[str]
):
    counts = await loaded(shared, nodeset(tmp_path, name, nodes))
    assert counts.nodes == {f"urn:{name}": count}
    assert list(counts.notes) == [f"{name}.xml: {note}" for note in said]


async def test_five_of_a_kind_are_named_and_the_others_counted(shared: Shared, tmp_path: Path):
    nodes = "\n".join(variable(f"N{n}", "i=6", "<t:Int32>x</t:Int32>") for n in range(9))
    (note,) = (await loaded(shared, nodeset(tmp_path, "many", nodes))).notes
    assert note.count("line ") == 5
    assert note.endswith("; and 4 more")


async def test_a_file_without_models_has_its_first_namespace_as_model(shared: Shared, tmp_path: Path):
    path = nodeset(tmp_path, "bare", variable("A"))
    text = path.read_text(encoding="utf-8")
    begins, ends = text.index("<Models>"), text.index("</Models>") + len("</Models>")
    path.write_text(text[:begins] + text[ends:], encoding="utf-8")
    assert (await loaded(shared, path)).nodes == {"urn:bare": 1}


async def test_nodes_are_placed_by_parent_by_forward_or_by_inverse_references(shared: Shared, tmp_path: Path):
    nodes = f"""
      <UAObject NodeId="ns=1;i=1" BrowseName="1:ByParent" ParentNodeId="i=85">{DISPLAYED}</UAObject>
      <UAObject NodeId="ns=1;i=2" BrowseName="1:ByForward">{DISPLAYED}</UAObject>
      <UAObject NodeId="ns=1;i=3" BrowseName="1:ByInverse">{DISPLAYED}<References>
        <Reference ReferenceType="HasComponent" IsForward="false"> ns=1;i=2 </Reference></References></UAObject>
      <UAObject NodeId="ns=1;i=4" BrowseName="1:Above" ParentNodeId="ns=1;i=1">{DISPLAYED}<References>
        <Reference ReferenceType="Organizes">ns=1;i=2</Reference></References></UAObject>
      <UAObject NodeId="ns=1;i=5" BrowseName="1:Round" ParentNodeId="ns=1;i=3">{DISPLAYED}<References>
        <Reference ReferenceType="HasComponent">ns=1;i=4</Reference></References></UAObject>"""
    counts = await loaded(shared, nodeset(tmp_path, "placed", nodes))
    assert (counts.nodes, counts.notes) == ({"urn:placed": 5}, ())
    scan = await scanned(shared, "nsu=urn:placed;i=1")
    assert [entry.fields["name"] for entry in scan.found] == [
        "Above", "Above/ByForward", "Above/ByForward/ByInverse", "Above/ByForward/ByInverse/Round",
    ]  # fmt: skip


async def test_ids_of_every_kind_mean_the_same_in_the_file_and_on_the_line(shared: Shared, tmp_path: Path):
    ids = ["g=72962b91-fa75-4ae6-8d28-b404dc7daf63", "b=AAECAw==", 's="DB1"."Läuft; 1"', "i=4294967295"]
    nodes = "".join(
        variable("@", "i=6", "<t:Int32>5</t:Int32>").replace("ns=1;s=@", f"ns=1;{one.replace(chr(34), '&quot;')}")
        for one in ids
    )
    await loaded(shared, nodeset(tmp_path, "kinds", nodes))
    assert [reading.value for reading in await read(shared, *(f"nsu=urn:kinds;{one}" for one in ids))] == [5] * 4


async def test_namespaces_are_those_of_the_file_whatever_the_server_numbers_them(shared: Shared, tmp_path: Path):
    one = nodeset(tmp_path, "space1", variable("A").replace("i=85", "ns=2;s=Home"), more="urn:space2,urn:space3")
    home = '<UAObject NodeId="ns=1;s=Home" BrowseName="3:Home" ParentNodeId="i=85"/>'
    two = nodeset(tmp_path, "space2", home, more="urn:space3,urn:space4")
    value = "<t:NodeId><t:Identifier>ns=2;s=Home</t:Identifier></t:NodeId>"
    three = nodeset(tmp_path, "space3", variable("At", "i=17", value), more="urn:space2")
    counts = await loaded(shared, three, one, two)
    assert (counts.nodes, counts.notes) == ({"urn:space3": 1, "urn:space1": 1, "urn:space2": 1}, ())
    assert [e.item for e in (await scanned(shared, "nsu=urn:space2;s=Home")).found] == ["nsu=urn:space1;s=A"]
    assert (await read(shared, "nsu=urn:space3;s=At"))[0].value == "nsu=urn:space2;s=Home"


async def test_a_method_without_arguments_and_one_with_are_read_as_their_signatures(shared: Shared, tmp_path: Path):
    argument = (
        "<t:ListOfExtensionObject><t:ExtensionObject><t:TypeId><t:Identifier>i=297</t:Identifier></t:TypeId><t:Body>"
        "<t:Argument><t:Name>Speed</t:Name><t:DataType><t:Identifier>i=11</t:Identifier></t:DataType>"
        "<t:ValueRank>-1</t:ValueRank><t:ArrayDimensions/></t:Argument></t:Body></t:ExtensionObject>"
        "</t:ListOfExtensionObject>"
    )
    nodes = f"""
      <UAObject NodeId="ns=1;i=1" BrowseName="1:M" ParentNodeId="i=85">{DISPLAYED}</UAObject>
      <UAMethod NodeId="ns=1;i=2" BrowseName="1:Halt" ParentNodeId="ns=1;i=1">{DISPLAYED}</UAMethod>
      <UAMethod NodeId="ns=1;i=3" BrowseName="1:Go" ParentNodeId="ns=1;i=1">{DISPLAYED}</UAMethod>
      <UAVariable NodeId="ns=1;i=4" BrowseName="InputArguments" ParentNodeId="ns=1;i=3" DataType="i=296" ValueRank="1">
        {DISPLAYED}<References><Reference ReferenceType="HasTypeDefinition">i=68</Reference></References>
        <Value>{argument}</Value></UAVariable>"""
    assert (await loaded(shared, nodeset(tmp_path, "methods", nodes))).notes == ()
    halt, go = await read(shared, "call nsu=urn:methods;i=2", "call nsu=urn:methods;i=3")
    assert (halt.more, go.more) == (("Halt()",), ("Go(Speed Double)",))


@pytest.mark.campaign
async def test_fifty_thousand_nodes_are_loaded_and_browsed_back(shared: Shared, tmp_path: Path):
    value = "<t:Double>1.5</t:Double>"
    plain = variable("@", "i=11", value).replace(">i=85<", ">ns=1;s=Home<")
    home = '<UAObject NodeId="ns=1;s=Home" BrowseName="1:Home" ParentNodeId="i=85"/>'
    nodes = home + "\n".join(plain.replace("@", f"N{n}") for n in range(49_000))
    path = tmp_path / "huge.xml"
    path.write_text(NODESET.format(uri="urn:huge", nodes=nodes, needs="", more=""), encoding="utf-8")
    counts = await loaded(shared, path)
    assert (counts.nodes, counts.notes) == ({"urn:huge": 49_001}, ())
    driver = OpcUaDriver(shared.url)
    scan = await driver.scan(["nsu=urn:huge;s=Home"], Budget(20_000, 600))
    await driver.close()
    assert (len(scan.found), scan.stopped) == (49_000, "")
