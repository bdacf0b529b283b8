"""Nodes of a NodeSet file as the server holds them: their attributes, before references and values."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any
from xml.etree import ElementTree as Xml

from asyncua.server.address_space import AttributeValue, NodeData

from oasis_opcua.simulator.nodeset_files import SCHEMA
from oasis_opcua.simulator.nodeset_ids import Ids
from oasis_opcua.simulator.nodeset_types import ENUMERATION, OPTION_SET, Types
from oasis_opcua.simulator.nodeset_values import Values
from oasis_opcua.untyped import pack, ua

KINDS: Mapping[str, Any] = {f"{SCHEMA}UA{kind.name}": kind for kind in ua.NodeClass if kind != ua.NodeClass.Unspecified}
"""Node classes by the tag of their elements."""
_TYPES: Mapping[str, Any] = {kind.name: kind for kind in ua.VariantType}
_IDS: Mapping[str, Any] = {attribute.name: attribute for attribute in ua.AttributeIds}
_SHARED: dict[tuple[str, int], Any] = {}
_BASE_DATA_TYPE = "i=24"
_READ = 1


def made(element: Xml.Element, wire: Any, ids: Ids) -> NodeData:
    """The node of an element. Raises ValueError, in words, for an attribute that is none."""
    kind = KINDS[element.tag]
    node = NodeData(wire)
    name = ids.name(element.get("BrowseName", ""))
    _put(node, "NodeId", wire, "NodeId")
    _put(node, "NodeClass", int(kind), "Int32")
    _put(node, "BrowseName", name, "QualifiedName")
    _put(node, "DisplayName", _text(element, "DisplayName") or ua.LocalizedText(name.Name), "LocalizedText")
    if (description := _text(element, "Description")) is not None and description.Text:
        _put(node, "Description", description, "LocalizedText")
    _put(node, "WriteMask", 0, "UInt32")
    _put(node, "UserWriteMask", 0, "UInt32")
    for attribute, given, default in _ATTRIBUTES.get(kind.name, ()):
        text = element.get(given)
        read, wire_kind = _READERS[attribute]
        try:
            _put(node, attribute, read(default if text is None else text, ids), wire_kind)
        except ValueError as fault:
            raise ValueError(f"its {given} {text!r:.60}: {fault}") from fault
    if kind.name == "ReferenceType" and (inverse := _text(element, "InverseName")) is not None:
        _put(node, "InverseName", inverse, "LocalizedText")
    if kind.name == "Variable":
        level = element.get("AccessLevel", str(_READ))
        _put(node, "UserAccessLevel", int(element.get("UserAccessLevel", level)) & 0xFF, "Byte")
    if kind.name in ("Variable", "VariableType"):
        node.attributes[ua.AttributeIds.Value] = _timed(ua.Variant())
    return node


def put_value(node: NodeData, element: Xml.Element, values: Values) -> None:
    """Give the node the value that its element has. Raises ValueError, in words, for one that cannot be read."""
    holder = element.find(f"{SCHEMA}Value")
    if holder is None or not len(holder):
        return
    variant = values.variant(holder[0])
    pack(ua.VariantType.Variant, variant)  # what cannot be sent would end a client's session later
    node.attributes[ua.AttributeIds.Value] = _timed(variant)


def put_definition(node: NodeData, element: Xml.Element, ids: Ids, types: Types) -> None:
    """Give a data type its DataTypeDefinition. Raises ValueError, in words, for a field that is none."""
    given = element.find(f"{SCHEMA}Definition")
    if given is None:
        return
    above = types.above(node.nodeid)
    fields = given.findall(f"{SCHEMA}Field")
    is_set = _flag(given.get("IsOptionSet")) or OPTION_SET in above
    if ENUMERATION in above or is_set:
        definition = ua.EnumDefinition(Fields=[_enum_field(field, n) for n, field in enumerate(fields)])
    elif types.built_in(node.nodeid) == ua.VariantType.ExtensionObject:
        definition = _structure(node.nodeid, given, fields, ids, types)
    else:
        raise ValueError("its Definition belongs neither to an enumeration nor to a structure")
    _put(node, "DataTypeDefinition", definition, "ExtensionObject")


def _structure(wire: Any, given: Xml.Element, fields: list[Xml.Element], ids: Ids, types: Types) -> Any:
    """A structure's definition, with the fields that it inherits, which a file leaves out (Part 6, F.12)."""
    above = types.above(wire)
    inherited: Any = types.definition(above[1]) if len(above) > 1 else None
    own = [_structure_field(field, ids) for field in fields]
    if isinstance(inherited, ua.StructureDefinition):
        own = [*inherited.Fields, *own]
    kinds = ua.StructureType
    is_subtyped = any(_flag(field.get("AllowSubTypes")) for field in fields)
    if _flag(given.get("IsUnion")):
        kind = kinds.UnionWithSubtypedValues if is_subtyped else kinds.Union
    elif is_subtyped:
        kind = kinds.StructureWithSubtypedValues
    else:
        kind = kinds.StructureWithOptionalFields if any(f.IsOptional for f in own) else kinds.Structure
    base = above[1] if len(above) > 1 else ua.NodeId()
    encoding = types.encoding(wire) or ua.NodeId()
    return ua.StructureDefinition(DefaultEncodingId=encoding, BaseDataType=base, StructureType=kind, Fields=own)


def _structure_field(field: Xml.Element, ids: Ids) -> Any:
    sizes = field.get("ArrayDimensions")
    return ua.StructureField(
        Name=field.get("Name", ""),
        Description=_text(field, "Description") or ua.LocalizedText(),
        DataType=ids.wire(field.get("DataType", _BASE_DATA_TYPE)),
        ValueRank=ua.Int32(int(field.get("ValueRank", "-1"))),
        ArrayDimensions=_sizes(sizes) if sizes else [],
        MaxStringLength=ua.UInt32(int(field.get("MaxStringLength", "0"))),
        IsOptional=_flag(field.get("IsOptional")) or _flag(field.get("AllowSubTypes")),
    )


def _enum_field(field: Xml.Element, number: int) -> Any:
    name = field.get("Name", "")
    return ua.EnumField(
        Value=ua.Int64(int(field.get("Value", str(number)))),
        DisplayName=_text(field, "DisplayName") or ua.LocalizedText(name),
        Description=_text(field, "Description") or ua.LocalizedText(),
        Name=name,
    )


def _put(node: NodeData, attribute: str, value: Any, kind: str) -> None:
    node.attributes[_IDS[attribute]] = AttributeValue(_data(value, kind))


def _data(value: Any, kind: str) -> Any:
    """The attribute's DataValue. Those of flags and small numbers are shared by all nodes: they are never changed."""
    if not isinstance(value, bool | int):
        return ua.DataValue(ua.Variant(value, _TYPES[kind], is_array=isinstance(value, list)))
    if (data := _SHARED.get((kind, value))) is None:
        data = _SHARED[kind, value] = ua.DataValue(ua.Variant(value, _TYPES[kind]))
    return data


def _timed(variant: Any) -> AttributeValue:
    now = datetime.now(UTC)
    return AttributeValue(ua.DataValue(variant, SourceTimestamp=now, ServerTimestamp=now))


def _text(element: Xml.Element, name: str) -> Any:
    """The first of the texts of that name: files may have one for each language."""
    found = element.find(f"{SCHEMA}{name}")
    return None if found is None else ua.LocalizedText(found.text or "", found.get("Locale") or None)


def _flag(text: str | None) -> bool:
    return (text or "").strip().lower() in ("true", "1")


def _sizes(text: str) -> list[Any]:
    return [ua.UInt32(int(size)) for size in text.split(",") if size.strip()]


def _bounded(low: int, high: int) -> Callable[[str, Ids], int]:
    def read(text: str, _: Ids) -> int:
        number = int(text)
        if not low <= number <= high:
            raise ValueError(f"{low} to {high} is possible")
        return number

    return read


def _is_true(text: str, _: Ids) -> bool:
    return _flag(text)


_READERS: Mapping[str, tuple[Callable[[str, Ids], Any], str]] = {
    "DataType": (lambda text, ids: ids.wire(text), "NodeId"),
    "ValueRank": (_bounded(-3, 1 << 30), "Int32"),
    "ArrayDimensions": (lambda text, _: _sizes(text), "UInt32"),
    "AccessLevel": (lambda text, _: int(text) & 0xFF, "Byte"),
    "MinimumSamplingInterval": (lambda text, _: float(text), "Double"),
    "Historizing": (_is_true, "Boolean"),
    "EventNotifier": (_bounded(0, 255), "Byte"),
    "IsAbstract": (_is_true, "Boolean"),
    "Symmetric": (_is_true, "Boolean"),
    "ContainsNoLoops": (_is_true, "Boolean"),
    "Executable": (_is_true, "Boolean"),
    "UserExecutable": (_is_true, "Boolean"),
}
_VALUE = (
    ("DataType", "DataType", _BASE_DATA_TYPE),
    ("ValueRank", "ValueRank", "-1"),
    ("ArrayDimensions", "ArrayDimensions", ""),
)
_ABSTRACT = ("IsAbstract", "IsAbstract", "false")
_ATTRIBUTES: Mapping[str, tuple[tuple[str, str, str], ...]] = {
    "Object": (("EventNotifier", "EventNotifier", "0"),),
    "Variable": (
        *_VALUE,
        ("AccessLevel", "AccessLevel", str(_READ)),
        ("MinimumSamplingInterval", "MinimumSamplingInterval", "0"),
        ("Historizing", "Historizing", "false"),
    ),
    "Method": (("Executable", "Executable", "true"), ("UserExecutable", "UserExecutable", "true")),
    "ObjectType": (_ABSTRACT,),
    "VariableType": (*_VALUE, _ABSTRACT),
    "ReferenceType": (_ABSTRACT, ("Symmetric", "Symmetric", "false")),
    "DataType": (_ABSTRACT,),
    "View": (("ContainsNoLoops", "ContainsNoLoops", "false"), ("EventNotifier", "EventNotifier", "0")),
}
"""By node class: attribute, its name in the file, and what it is where the file does not say (Part 6, F.4 to F.12)."""
