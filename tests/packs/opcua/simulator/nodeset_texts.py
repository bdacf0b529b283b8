"""NodeSet2 files that tests write: one model each, of the nodes given."""

import asyncio
from pathlib import Path

from oasis_opcua.driver import OpcUaDriver
from oasis_opcua.simulator.nodesets import Loaded, load

from oasis.plant.values import Reading
from tests.packs.opcua.lines import Shared

NODESET = """<?xml version="1.0" encoding="utf-8"?>
<UANodeSet xmlns="http://opcfoundation.org/UA/2011/03/UANodeSet.xsd"
           xmlns:t="http://opcfoundation.org/UA/2008/02/Types.xsd">
  <NamespaceUris><Uri>{uri}</Uri>{more}</NamespaceUris>
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


def nodeset(folder: Path, name: str, nodes: str = "", needs: str = "", more: str = "") -> Path:
    """A file of the model urn:NAME; `needs` is the model it requires, `more` are further namespaces, with commas."""
    path = folder / f"{name}.xml"
    required = f'<RequiredModel ModelUri="urn:{needs}" Version="2.0"/>' if needs else ""
    uris = "".join(f"<Uri>{uri}</Uri>" for uri in more.split(",") if uri)
    text = NODESET.format(uri=f"urn:{name}", nodes=nodes, needs=required, more=uris)
    path.write_text(text, encoding="utf-8")
    return path


def variable(name: str, data_type: str = "i=24", value: str = "", attributes: str = "") -> str:
    """A variable below Objects, its node id its name."""
    held = f"<Value>{value}</Value>" if value else ""
    return (
        f'<UAVariable NodeId="ns=1;s={name}" BrowseName="1:{name}" DataType="{data_type}" {attributes}>'
        f'<DisplayName>{name}</DisplayName><References><Reference ReferenceType="i=35" IsForward="false">i=85'
        f'</Reference><Reference ReferenceType="i=40">i=63</Reference></References>{held}</UAVariable>'
    )


async def loaded(shared: Shared, *paths: Path) -> Loaded:
    return await asyncio.to_thread(shared.run, load(shared.line.server, paths))


async def read(shared: Shared, *texts: str) -> list[Reading]:
    """The items' readings, on a connection of their own: the server's namespaces have changed."""
    driver = OpcUaDriver(shared.url)
    try:
        return await driver.read([driver.point(text) for text in texts])
    finally:
        await driver.close()
