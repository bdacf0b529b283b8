"""Values of NodeSet2 files, of every type, alone, in lists and in structures, read back from the line."""

from pathlib import Path

import pytest

from oasis.plant.values import Value
from tests.packs.opcua.lines import Shared
from tests.packs.opcua.simulator.nodeset_texts import STRUCTURE, loaded, nodeset, read, variable

GUID = "72962b91-fa75-4ae6-8d28-b404dc7daf63"
UNIT = (
    "<t:ExtensionObject><t:TypeId><t:Identifier>i=888</t:Identifier></t:TypeId><t:Body><t:EUInformation>"
    "<t:NamespaceUri>u</t:NamespaceUri><t:UnitId>-1</t:UnitId><t:DisplayName><t:Locale>en</t:Locale><t:Text>bar</t:Text>"
    "</t:DisplayName><t:Description/></t:EUInformation></t:Body></t:ExtensionObject>"
)
SINGLE: dict[str, tuple[str, Value | None]] = {
    "Boolean": ("<t:Boolean>true</t:Boolean>", True),
    "SByte": ("<t:SByte>-128</t:SByte>", -128),
    "Byte": ("<t:Byte>255</t:Byte>", 255),
    "Int16": ("<t:Int16>-5</t:Int16>", -5),
    "UInt16": ("<t:UInt16>65535</t:UInt16>", 65535),
    "Int32": ("<t:Int32> 7 </t:Int32>", 7),
    "UInt32": ("<t:UInt32>4294967295</t:UInt32>", 4294967295),
    "Int64": ("<t:Int64>-9223372036854775808</t:Int64>", -(1 << 63)),
    "UInt64": ("<t:UInt64>18446744073709551615</t:UInt64>", (1 << 64) - 1),
    "Float": ("<t:Float>1.5E2</t:Float>", 150.0),
    "Double": ("<t:Double>-INF</t:Double>", float("-inf")),
    "String": ("<t:String> Öl &lt;5 bar </t:String>", " Öl <5 bar "),
    "DateTime": ("<t:DateTime>2026-03-02T04:05:06.1234567+02:00</t:DateTime>", "2026-03-02T02:05:06.123Z"),
    "Guid": (f"<t:Guid><t:String>{GUID}</t:String></t:Guid>", GUID),
    "ByteString": ("<t:ByteString>AA\n ECAw==</t:ByteString>", b"\x00\x01\x02\x03"),
    "XmlElement": ("<t:XmlElement><a xmlns='' b='1'/></t:XmlElement>", '<a b="1" />'),
    "NodeId": ("<t:NodeId><t:Identifier>ns=1;s=Int16</t:Identifier></t:NodeId>", "nsu=urn:each;s=Int16"),
    "ExpandedNodeId": ("<t:ExpandedNodeId><t:Identifier>i=85</t:Identifier></t:ExpandedNodeId>", "i=85"),
    "StatusCode": ("<t:StatusCode><t:Code>2150891520</t:Code></t:StatusCode>", "BadNodeIdUnknown"),
    "QualifiedName": ("<t:QualifiedName><t:NamespaceIndex>1</t:NamespaceIndex><t:Name>N</t:Name></t:QualifiedName>", "N"),
    "LocalizedText": ("<t:LocalizedText><t:Locale>de</t:Locale><t:Text>Tür</t:Text></t:LocalizedText>", "Tür"),
    "ExtensionObject": (UNIT, "bar ()"),
    "Empty": ("<t:String/>", ""),
    "EarlyTime": ("<t:DateTime>0001-01-01T00:00:00</t:DateTime>", "1601-01-01T00:00:00.000Z"),
    "NoValue": ("", None),
}  # fmt: skip
LISTED = [name for name in list(SINGLE)[:22] if name != "ExpandedNodeId"]


async def test_a_value_of_every_type_is_the_same_on_the_line(shared: Shared, tmp_path: Path):
    nodes = "\n".join(variable(name, "i=24", value) for name, (value, _) in SINGLE.items())
    counts = await loaded(shared, nodeset(tmp_path, "each", nodes))
    assert (counts.nodes, counts.notes) == ({"urn:each": len(SINGLE)}, ())
    readings = await read(shared, *(f"nsu=urn:each;s={name}" for name in SINGLE))
    assert {n: r.value for n, r in zip(SINGLE, readings, strict=True)} == {n: v for n, (_, v) in SINGLE.items()}


async def test_lists_of_every_type_are_read_element_by_element(shared: Shared, tmp_path: Path):
    nodes = "\n".join(
        variable(name, "i=24", f"<t:ListOf{name}>{SINGLE[name][0] * 2}</t:ListOf{name}>", 'ValueRank="1"')
        for name in LISTED
    ).replace("ns=1;s=Int16</t", "ns=1;s=Int32</t")
    assert (await loaded(shared, nodeset(tmp_path, "lists", nodes))).notes == ()
    for name in LISTED:
        expected = "nsu=urn:lists;s=Int32" if name == "NodeId" else SINGLE[name][1]
        assert [r.value for r in await read(shared, f"nsu=urn:lists;s={name}")] == [expected] * 2


async def test_an_empty_list_a_matrix_and_a_list_of_variants_are_shown(shared: Shared, tmp_path: Path):
    matrix = (
        "<t:Matrix><t:Dimensions><t:UInt32>2</t:UInt32><t:UInt32>3</t:UInt32></t:Dimensions><t:Elements>"
        + "".join(f"<t:Int32>{n}</t:Int32>" for n in range(6))
        + "</t:Elements></t:Matrix>"
    )
    inner = ("<t:Int32>1</t:Int32>", "<t:String>two</t:String>")
    variants = "".join(f"<t:Variant><t:Value>{one}</t:Value></t:Variant>" for one in inner)
    nodes = variable("None", "i=6", "<t:ListOfInt32/>", 'ValueRank="1"')
    nodes += variable("Grid", "i=6", matrix, 'ValueRank="2" ArrayDimensions="2,3"')
    nodes += variable("Mixed", "i=24", f"<t:ListOfVariant>{variants}</t:ListOfVariant>", 'ValueRank="1"')
    assert (await loaded(shared, nodeset(tmp_path, "rows", nodes))).notes == ()
    (empty,) = await read(shared, "nsu=urn:rows;s=None")
    assert empty.status == "no such element: the array has 0"
    assert [r.value for r in await read(shared, "nsu=urn:rows;s=Grid")] == ["[0, 1, 2]", "[3, 4, 5]"]
    assert [r.value for r in await read(shared, "nsu=urn:rows;s=Mixed")] == ["1", '"two"']


async def test_a_structure_of_the_files_own_type_keeps_its_value(shared: Shared, tmp_path: Path):
    await loaded(shared, nodeset(tmp_path, "points", STRUCTURE))
    (reading,) = await read(shared, "nsu=urn:points;i=12")
    assert (reading.value, reading.where) == ("Place(X 1.5, Y 2)", "Place")


def data_type(number: int, name: str, fields: str, above: str = "i=22", options: str = "") -> str:
    """A data type with its encodings: number, and behind it number + 1 (binary) and + 2 (XML)."""
    encodings = "".join(
        f'<UAObject NodeId="ns=1;i={number + offset}" BrowseName="Default {kind}"><DisplayName>Default {kind}'
        f'</DisplayName><References><Reference ReferenceType="HasEncoding" IsForward="false">ns=1;i={number}</Reference>'
        '<Reference ReferenceType="HasTypeDefinition">i=76</Reference></References></UAObject>'
        for offset, kind in ((1, "Binary"), (2, "XML"))
    )
    return (
        f'<UADataType NodeId="ns=1;i={number}" BrowseName="1:{name}"><DisplayName>{name}</DisplayName><References>'
        f'<Reference ReferenceType="HasSubtype" IsForward="false">{above}</Reference></References>'
        f'<Definition Name="1:{name}" {options}>{fields}</Definition></UADataType>{encodings}'
    )


def boxed(number: int, body: str) -> str:
    return (
        f"<t:ExtensionObject><t:TypeId><t:Identifier>ns=1;i={number + 2}</t:Identifier></t:TypeId><t:Body>{body}</t:Body>"
        "</t:ExtensionObject>"
    )


TYPES = "".join([
    data_type(100, "Colour", '<Field Name="Red" Value="0"/><Field Name="Green" Value="5"/>', "i=29"),
    data_type(110, "Base", '<Field Name="Id" DataType="i=7"/>'),
    data_type(120, "Part", '<Field Name="Name" DataType="i=12"/><Field Name="Weight" DataType="i=11" IsOptional="true"/>'
              '<Field Name="Colour" DataType="ns=1;i=100" IsOptional="true"/>'),
    data_type(130, "Box", '<Field Name="Parts" DataType="ns=1;i=120" ValueRank="1"/><Field Name="Span" DataType="i=884"/>'
              '<Field Name="Any" DataType="i=24"/><Field Name="At" DataType="i=294"/>', "ns=1;i=110"),
    data_type(140, "Choice", '<Field Name="Number" DataType="i=6"/><Field Name="Text" DataType="i=12"/>', "i=12756",
              'IsUnion="true"'),
    data_type(150, "Flags", '<Field Name="Run" Value="0"/><Field Name="Alarm" Value="1"/>', "i=5", 'IsOptionSet="true"'),
    data_type(160, "Bare", "").replace('<Definition Name="1:Bare" ></Definition>', ""),
    data_type(170, "Tree", '<Field Name="Name" DataType="i=12"/><Field Name="Below" DataType="ns=1;i=170" ValueRank="1"/>'),
])  # fmt: skip
PART = "<Part><Name>lid</Name><Weight>2.5</Weight></Part>"
BOX = (
    f"<Box><Id>7</Id><Parts>{PART}<Part><Name>cap</Name><Colour>Green_5</Colour></Part></Parts>"
    "<Span><Low>0</Low><High>9</High></Span><Any><Value><t:Boolean>true</t:Boolean></Value></Any>"
    "<At>2026-03-02T04:05:06Z</At></Box>"
)
TREE = "<Tree><Name>a</Name><Below><Tree><Name>b</Name><Below/></Tree></Below></Tree>"


async def test_structures_with_optional_inherited_and_nested_fields_and_unions_are_decoded(
    shared: Shared, tmp_path: Path
):
    nodes = TYPES + "\n".join([
        variable("Part", "ns=1;i=120", boxed(120, PART)),
        variable("Box", "ns=1;i=130", boxed(130, BOX)),
        variable("Choice", "ns=1;i=140", boxed(140, "<Choice><SwitchField>2</SwitchField><Text>b</Text></Choice>")),
        variable("Tree", "ns=1;i=170", boxed(170, TREE)),
        variable("Empty", "ns=1;i=130", boxed(130, "<Box/>")),
    ])  # fmt: skip
    assert (await loaded(shared, nodeset(tmp_path, "shapes", nodes))).notes == ()
    names = ("Part", "Box", "Choice", "Tree", "Empty")
    assert [r.value for r in await read(shared, *(f"nsu=urn:shapes;s={name}" for name in names))] == [
        'Part(Name "lid", Weight 2.5)',
        'Box(Id 7, Parts [Part(Name "lid", Weight 2.5), Part(Name "cap", Colour 5)], Span 0 to 9, Any true, '
        "At 2026-03-02T04:05:06.000Z)",
        'Choice(Text "b")',
        'Tree(Name "a", Below [Tree(Name "b", Below [])])',
        "Box(Id 0, Parts [], Span 0 to 0, Any -, At 1601-01-01T00:00:00.000Z)",
    ]


async def test_enumerations_and_option_sets_are_read_as_numbers_with_their_type(shared: Shared, tmp_path: Path):
    nodes = TYPES + variable("Colour", "ns=1;i=100", "<t:Int32>5</t:Int32>")
    nodes += variable("Flags", "ns=1;i=150", "<t:UInt16>3</t:UInt16>")
    assert (await loaded(shared, nodeset(tmp_path, "sets", nodes))).notes == ()
    colour, flags = await read(shared, "nsu=urn:sets;s=Colour", "nsu=urn:sets;s=Flags")
    assert (colour.value, colour.where, colour.more) == (5, "Colour", ('stands for "Green"',))
    assert (flags.value, flags.where) == (3, "Flags")


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (boxed(160, "<Bare/>"), "its type ns=6;i=160 has no Definition that says which fields it has"),
        (boxed(120, "<Part><Name>a</Name><Weight>heavy</Weight></Part>"), "its field Weight: could not convert string"),
        ("<t:Banana/>", "there is no data type Banana"),
        ("<t:DateTime>yesterday</t:DateTime>", "Invalid isoformat string: 'yesterday'"),
        ("<t:Boolean>perhaps</t:Boolean>", "'perhaps' is neither true nor false"),
        ("<t:ListOfVariant>" + "<t:Variant><t:Value><t:ListOfVariant>" * 60 + "</t:ListOfVariant></t:Value></t:Variant>"
         * 60 + "</t:ListOfVariant>", "it is nested more than 40 deep"),
    ],
)  # fmt: skip
async def test_a_value_that_cannot_be_read_is_named_with_why(
    shared: Shared, tmp_path: Path, value: str, said: str, request: pytest.FixtureRequest
):
    name = f"bad{request.node.callspec.id[:3].encode().hex()}{len(value)}"
    (note,) = (await loaded(shared, nodeset(tmp_path, name, TYPES + variable("V", "i=24", value)))).notes
    assert note.startswith(
        f"{name}.xml: a value that cannot be read, its node is there without it: ns=1;s=V (1:V, line "
    )
    assert said.replace("ns=6;", "") in note.replace(f"ns={_index(shared, f'urn:{name}')};i", "i")


def _index(shared: Shared, uri: str) -> int:
    return shared.run(shared.line.server.get_namespace_array()).index(uri)
