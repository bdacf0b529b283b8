"""NodeSet2 files: ordered, loaded, browsed back whole; what cannot be loaded explained."""

import asyncio
import re
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest
from oasis_opcua import items
from oasis_opcua.driver import OpcUaDriver
from oasis_opcua.simulator.nodeset_files import SCHEMA, examine, in_order
from oasis_opcua.simulator.nodesets import Loaded, load
from oasis_opcua.untyped import ua

from oasis.errors import ToolFault
from oasis.plant.driver import Budget
from tests.packs.opcua.lines import INPUTS, Shared

needs_inputs = pytest.mark.skipif(not INPUTS.is_dir(), reason="the NodeSets of the OPC Foundation are not here")
_CLASSES = {
    "UAObject": "object", "UAVariable": "variable", "UAMethod": "method", "UAObjectType": "object type",
    "UAVariableType": "variable type", "UAReferenceType": "reference type", "UADataType": "data type",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class InFile:
    """A node as a file has it. `type` is the name of its DataType, empty for what is no variable."""

    item: str
    kind: str
    name: str
    type: str


def nodes_of(paths: list[Path]) -> list[InFile]:
    """Every node of NodeSet2 files, read without asyncua."""
    names: dict[str, str] = {}
    for path in paths:
        root, uris, _ = _parsed(path)
        for node in root.findall(f"{SCHEMA}UADataType"):
            names[_item(node.get("NodeId", ""), uris)] = node.get("BrowseName", "").rpartition(":")[2]
    return [node for path in paths for node in _nodes(path, names)]


def _parsed(path: Path) -> tuple[Xml.Element, list[str], dict[str, str]]:
    """Root, namespace URIs and aliases of a file."""
    root = Xml.parse(path).getroot()
    uris = [items.BASE, *((uri.text or "").strip() for uri in root.findall(f"{SCHEMA}NamespaceUris/{SCHEMA}Uri"))]
    aliases = {a.get("Alias", ""): (a.text or "").strip() for a in root.findall(f"{SCHEMA}Aliases/{SCHEMA}Alias")}
    return root, uris, aliases


def _nodes(path: Path, names: dict[str, str]) -> list[InFile]:
    root, uris, aliases = _parsed(path)
    found: list[InFile] = []
    for node in root:
        kind = _CLASSES.get(node.tag.removeprefix(SCHEMA))
        if kind:
            name = re.sub(r"^\d+:", "", node.get("BrowseName", ""))
            data_type = _item(aliases.get(given := node.get("DataType", "i=24"), given), uris)
            type_name = names.get(data_type) or ua.ObjectIdNames.get(
                int(data_type[2:]) if data_type[:2] == "i=" else -1
            )
            found.append(
                InFile(_item(node.get("NodeId", ""), uris), kind, name, str(type_name) if kind == "variable" else "")
            )
    return found


def _item(text: str, uris: list[str]) -> str:
    index = re.match(r"ns=(\d+);", text)
    return f"nsu={uris[int(index[1])]};{text[index.end() :]}" if index else text


@needs_inputs
def test_nodesets_are_ordered_by_what_they_need_whatever_the_order_given():
    models = [examine(path) for path in sorted(INPUTS.glob("*.xml"), reverse=True)]
    names = [uri.rstrip("/").rpartition("/")[2] for model in in_order(models) for uri in model.uris]
    assert names[0] == "DI"
    assert sorted(names) == ["DI", "IA", "Machinery"]


@needs_inputs
async def test_nodesets_are_browsed_back_whole_with_classes_names_and_types(shared: Shared, driver: OpcUaDriver):
    scan = await driver.scan(["i=84"], Budget(requests=20_000, seconds=300))
    assert scan.stopped == ""
    found = {entry.item: entry for entry in scan.found}
    expected = nodes_of(list(INPUTS.glob("*.xml")))
    assert len(expected) == sum(shared.line.loaded.nodes.values())
    assert shared.line.loaded.notes == ()
    missing = [node for node in expected if node.item not in found]
    assert missing == []
    wrong = [
        n for n in expected if (found[n.item].kind, found[n.item].fields["name"].split("/")[-1]) != (n.kind, n.name)
    ]
    assert [n for n in wrong if "/" not in n.name] == []
    variables = [node for node in expected if node.kind == "variable"]
    typed: dict[str, str] = {}
    for start in range(0, len(variables), 200):
        part = variables[start : start + 200]
        for reading in await driver.read([driver.point(node.item) for node in part]):
            typed.setdefault(reading.point.address.partition(" [")[0], re.split(r"\[|,", reading.where)[0])
    assert {n.item: typed[n.item] for n in variables} == {n.item: n.type for n in variables}


NODESET = """<?xml version="1.0" encoding="utf-8"?>
<UANodeSet xmlns="http://opcfoundation.org/UA/2011/03/UANodeSet.xsd"
           xmlns:t="http://opcfoundation.org/UA/2008/02/Types.xsd">
  <NamespaceUris><Uri>{uri}</Uri></NamespaceUris>
  <Models><Model ModelUri="{uri}" Version="1.0" PublicationDate="2026-01-01T00:00:00Z">{needs}</Model></Models>
  {nodes}
</UANodeSet>
"""
PUMP = """
  <UAObject NodeId="ns=1;s=Pump" BrowseName="1:Pump"><DisplayName>Pump</DisplayName><References>
    <Reference ReferenceType="i=35" IsForward="false">i=85</Reference>
    <Reference ReferenceType="i=40">i=58</Reference></References></UAObject>
  <UAVariable NodeId="ns=1;s=Pump.Flow" BrowseName="1:Flow" ParentNodeId="ns=1;s=Pump" DataType="i=10">
    <DisplayName>Flow</DisplayName><References>
    <Reference ReferenceType="i=47" IsForward="false">ns=1;s=Pump</Reference>
    <Reference ReferenceType="i=40">i=2368</Reference></References>
    <Value><t:Float>3.5</t:Float></Value></UAVariable>
  <UAVariable NodeId="ns=1;s=Pump.Flow.Unit" BrowseName="EngineeringUnits" ParentNodeId="ns=1;s=Pump.Flow" DataType="i=887">
    <DisplayName>EngineeringUnits</DisplayName><References>
    <Reference ReferenceType="i=46" IsForward="false">ns=1;s=Pump.Flow</Reference>
    <Reference ReferenceType="i=40">i=68</Reference></References>
    <Value><t:ExtensionObject><t:TypeId><t:Identifier>i=888</t:Identifier></t:TypeId><t:Body><t:EUInformation>
      <t:NamespaceUri>http://www.opcfoundation.org/UA/units/un/cefact</t:NamespaceUri><t:UnitId>5067858</t:UnitId>
      <t:DisplayName><t:Text>m³/h</t:Text></t:DisplayName><t:Description><t:Text>cubic metre per hour</t:Text></t:Description>
      </t:EUInformation></t:Body></t:ExtensionObject></Value></UAVariable>
  <UAVariable NodeId="ns=1;s=Pump.Flow.Range" BrowseName="EURange" ParentNodeId="ns=1;s=Pump.Flow" DataType="i=884">
    <DisplayName>EURange</DisplayName><References>
    <Reference ReferenceType="i=46" IsForward="false">ns=1;s=Pump.Flow</Reference>
    <Reference ReferenceType="i=40">i=68</Reference></References>
    <Value><t:ExtensionObject><t:TypeId><t:Identifier>i=885</t:Identifier></t:TypeId><t:Body><t:Range>
      <t:Low>0</t:Low><t:High>12.5</t:High></t:Range></t:Body></t:ExtensionObject></Value></UAVariable>
"""
ODD = """
  <UAVariable NodeId="ns=1;s=Odd" BrowseName="1:Odd" ParentNodeId="i=85" DataType="i=10"><DisplayName>Odd</DisplayName>
    <References><Reference ReferenceType="i=35" IsForward="false">i=85</Reference></References>
    <Value><t:NoSuchType>1</t:NoSuchType></Value></UAVariable>
"""
LOST = """
  <UAObject NodeId="ns=1;s=Lost" BrowseName="1:Lost" ParentNodeId="i=987654"><DisplayName>Lost</DisplayName>
    <References><Reference ReferenceType="i=47" IsForward="false">i=987654</Reference></References></UAObject>
"""
VIEW = """
  <UAView NodeId="ns=1;s=V" BrowseName="1:V"><DisplayName>V</DisplayName><References>
    <Reference ReferenceType="i=35" IsForward="false">i=87</Reference></References></UAView>
"""
NOWHERE = """
  <UAObject NodeId="ns=1;s=O" BrowseName="1:O" ParentNodeId="i=85"><DisplayName>O</DisplayName><References>
    <Reference ReferenceType="i=35" IsForward="false">i=85</Reference>
    <Reference ReferenceType="i=40">i=58</Reference>
    <Reference ReferenceType="i=47">i=987654</Reference>
    <Reference ReferenceType="i=47">ns=1;s=Missing</Reference></References></UAObject>
"""
CIRCLE = """
  <UAObject NodeId="ns=1;s=A" BrowseName="1:A" ParentNodeId="ns=1;s=B"><DisplayName>A</DisplayName></UAObject>
  <UAObject NodeId="ns=1;s=B" BrowseName="1:B" ParentNodeId="ns=1;s=A"><DisplayName>B</DisplayName></UAObject>
"""
LETTERS = """
  <UAVariable NodeId="ns=1;s=Letters" BrowseName="1:Letters" ParentNodeId="i=85" DataType="i=6">
    <DisplayName>Letters</DisplayName><References>
    <Reference ReferenceType="i=35" IsForward="false">i=85</Reference></References>
    <Value><t:Int32>x1</t:Int32></Value></UAVariable>
"""
STRUCTURE = """
  <UADataType NodeId="ns=1;i=10" BrowseName="1:Place"><DisplayName>Place</DisplayName><References>
    <Reference ReferenceType="i=45" IsForward="false">i=22</Reference></References>
    <Definition Name="1:Place"><Field Name="X" DataType="i=11"/><Field Name="Y" DataType="i=11"/></Definition></UADataType>
  <UAObject NodeId="ns=1;i=11" BrowseName="Default Binary" SymbolicName="DefaultBinary">
    <DisplayName>Default Binary</DisplayName><References>
    <Reference ReferenceType="i=38" IsForward="false">ns=1;i=10</Reference>
    <Reference ReferenceType="i=40">i=76</Reference></References></UAObject>
  <UAObject NodeId="ns=1;i=13" BrowseName="Default XML" SymbolicName="DefaultXml">
    <DisplayName>Default XML</DisplayName><References>
    <Reference ReferenceType="i=38" IsForward="false">ns=1;i=10</Reference>
    <Reference ReferenceType="i=40">i=76</Reference></References></UAObject>
  <UAVariable NodeId="ns=1;i=12" BrowseName="1:P" ParentNodeId="i=85" DataType="ns=1;i=10"><DisplayName>P</DisplayName>
    <References><Reference ReferenceType="i=35" IsForward="false">i=85</Reference>
    <Reference ReferenceType="i=40">i=63</Reference></References>
    <Value><t:ExtensionObject><t:TypeId><t:Identifier>ns=1;i=13</t:Identifier></t:TypeId><t:Body>
      <Place xmlns="urn:points"><X>1.5</X><Y>2</Y></Place></t:Body></t:ExtensionObject></Value></UAVariable>
"""


def nodeset(folder: Path, name: str, nodes: str = "", needs: str = "") -> Path:
    path = folder / f"{name}.xml"
    required = f'<RequiredModel ModelUri="urn:{needs}" Version="2.0"/>' if needs else ""
    path.write_text(NODESET.format(uri=f"urn:{name}", nodes=nodes, needs=required), encoding="utf-8")
    return path


async def test_units_and_ranges_of_a_nodeset_are_read_with_its_values(shared: Shared, tmp_path: Path):
    counts = await _loaded(shared, [nodeset(tmp_path, "pumps", PUMP)])
    assert (counts.nodes, counts.notes) == ({"urn:pumps": 4}, ())
    driver = OpcUaDriver(shared.url)
    (reading,) = await driver.read([driver.point("nsu=urn:pumps;s=Pump.Flow")])
    await driver.close()
    assert (reading.value, reading.point.form.unit, reading.where) == (3.5, "m³/h", "Float, EURange 0 to 12.5")


async def test_a_value_that_cannot_be_read_is_named_with_its_node(shared: Shared, tmp_path: Path):
    loaded = await _loaded(shared, [nodeset(tmp_path, "odd", ODD)])
    assert loaded.nodes == {"urn:odd": 1}
    assert loaded.notes == (
        "odd.xml: ns=1;s=Odd (1:Odd, parent i=85) has a value of type NoSuchType, which asyncua cannot read: it is there "
        "without a value",
    )


async def test_a_node_that_cannot_be_imported_is_named(shared: Shared, tmp_path: Path):
    with pytest.raises(
        ToolFault, match=r"lost.xml was not loaded: .*It stopped at the node ns=1;s=Lost \(1:Lost, parent i=987654\)"
    ):
        await _loaded(shared, [nodeset(tmp_path, "lost", LOST)])


async def test_a_model_in_an_older_version_than_asked_for_is_noted(shared: Shared, tmp_path: Path):
    loaded = await _loaded(shared, [nodeset(tmp_path, "newer", needs="old"), nodeset(tmp_path, "old")])
    assert loaded.notes == ("newer.xml asks for urn:old 2.0, and 1.0 is loaded: newer nodes may be missing",)


async def test_a_view_is_left_out_and_a_reference_to_nowhere_is_noted(shared: Shared, tmp_path: Path):
    loaded = await _loaded(shared, [nodeset(tmp_path, "parts", VIEW + NOWHERE)])
    assert loaded.nodes == {"urn:parts": 1}
    assert loaded.notes == (
        "parts.xml: ns=1;s=V (1:V) is a view, which asyncua does not import: it is left out",
        "parts.xml: 2 references lead to nodes that are not there and are left out: O to 987654, O to Missing",
    )


async def test_a_structure_of_the_files_own_type_keeps_its_value(shared: Shared, tmp_path: Path):
    await _loaded(shared, [nodeset(tmp_path, "points", STRUCTURE)])
    driver = OpcUaDriver(shared.url)
    (reading,) = await driver.read([driver.point("nsu=urn:points;i=12")])
    await driver.close()
    assert (reading.value, reading.where) == ("Place(X 1.5, Y 2)", "Place")


@pytest.mark.parametrize(
    ("name", "nodes", "said"),
    [
        ("twice", "ODD ODD", r"the node ns=1;s=Odd \(1:Odd, parent i=85\) stands in it twice"),
        ("circle", "CIRCLE", r"its nodes are each other's parents: ns=1;s=A < ns=1;s=B < ns=1;s=A"),
        ("letters", "LETTERS", r"invalid literal .* It stopped at the node ns=1;s=Letters \(1:Letters, parent i=85\)"),
    ],
)
async def test_what_contradicts_itself_is_named(shared: Shared, tmp_path: Path, name: str, nodes: str, said: str):
    with pytest.raises(ToolFault, match=said):
        await _loaded(shared, [nodeset(tmp_path, name, "".join(globals()[part] for part in nodes.split()))])


def test_a_model_that_no_file_holds_is_named_with_its_version(tmp_path: Path):
    with pytest.raises(ToolFault, match=r"a.xml needs the model urn:b version 2.0 or newer, which none of the files"):
        in_order([examine(nodeset(tmp_path, "a", needs="b"))])


def test_models_that_need_each_other_are_named(tmp_path: Path):
    circle = [nodeset(tmp_path, "a", needs="b"), nodeset(tmp_path, "b", needs="a")]
    with pytest.raises(ToolFault, match=r"in a circle and none can be first: a.xml, b.xml"):
        in_order([examine(path) for path in circle])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("<UANodeSet", "is not well-formed XML: line 1"),
        ("<html/>", "is no NodeSet2 file: its root element is html"),
        ('<!DOCTYPE x [<!ENTITY a "b">]><x/>', "declares a document type or entities"),
    ],
)
def test_what_is_no_nodeset_is_said(tmp_path: Path, text: str, said: str):
    path = tmp_path / "x.xml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ToolFault, match=said):
        examine(path)


def test_a_file_that_is_not_there_is_said(tmp_path: Path):
    with pytest.raises(ToolFault, match="cannot be read"):
        examine(tmp_path / "none.xml")


async def _loaded(shared: Shared, paths: list[Path]) -> Loaded:
    return await asyncio.to_thread(shared.run, load(shared.line.server, paths))
