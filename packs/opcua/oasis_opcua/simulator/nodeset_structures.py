"""Structures in the values of a NodeSet file. Those of OPC UA's own become asyncua's objects, others their binary
encoding (OPC UA Part 6, 5.2.6 and 5.2.7), so that nothing has to be known of them to serve them."""

import struct
import typing
import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from enum import Enum
from typing import Any
from xml.etree import ElementTree as Xml

from asyncua.common.utils import Buffer

from oasis_opcua.simulator.nodeset_ids import Ids
from oasis_opcua.simulator.nodeset_types import STRUCTURE, UNION, Types, hints
from oasis_opcua.untyped import from_binary, pack, to_binary, ua

MOST_DEEP = 40
_MATRIX_RANK = 1
Single = Callable[[str, Xml.Element, int], Any]
"""Reads one value: its type's name, its element, how deep it is nested."""


class Structures:
    """Reads the structures of one file."""

    def __init__(self, ids: Ids, types: Types, single: Single) -> None:
        self._ids = ids
        self._types = types
        self._single = single

    def boxed(self, element: Xml.Element, deep: int) -> Any:
        """An ExtensionObject: its type and its body. Raises ValueError for one whose type is not known."""
        body = next((child for child in element if local(child) == "Body"), None)
        given = next((child for child in element.iter() if local(child) == "Identifier"), None)
        wire = self._ids.wire(given.text) if given is not None and given.text else ua.NodeId()
        if body is None or not len(body):
            return ua.ExtensionObject()
        if local(body[0]) == "ByteString":
            return self._of_bytes(wire, self._single("ByteString", body[0], deep))
        return self._object(self._types.of_structure(wire, local(body[0])), body[0], deep)

    def of_name(self, name: str, element: Xml.Element, deep: int) -> Any:
        """A structure that stands without its envelope. Raises ValueError for a name that is no type's."""
        return self._object(self._types.of_structure(ua.NodeId(), name), element, deep)

    def _of_bytes(self, wire: Any, data: bytes) -> Any:
        if wire in ua.extension_objects_by_typeid:
            return from_binary(ua.extension_objects_by_typeid[wire], Buffer(data))
        return ua.ExtensionObject(TypeId=wire, Body=data)

    def _object(self, kind: Any, element: Xml.Element, deep: int) -> Any:
        if known := self._types.python(kind):
            return self._known(known, element, deep)
        encoding = self._types.encoding(kind)
        if encoding is None:
            raise ValueError(f"its type {kind.to_string()} has no binary encoding (Default Binary)")
        return ua.ExtensionObject(TypeId=encoding, Body=self._encoded(kind, element, deep))

    def _known(self, kind: Any, element: Xml.Element, deep: int) -> Any:
        """An object of one of asyncua's classes."""
        there = {local(child): child for child in element}
        given = {name: self._hinted(hint, there[name], deep + 1) for name, hint in hints(kind).items() if name in there}
        given.pop("Encoding", None)
        return kind(**given)

    def _hinted(self, hint: Any, element: Xml.Element, deep: int) -> Any:
        """A field's value, as the type hint of asyncua's class says."""
        options = [one for one in typing.get_args(hint) if one is not type(None)]
        if typing.get_origin(hint) is list:
            return [self._hinted(options[0], one, deep) for one in element]
        if options:
            return self._hinted(options[0], element, deep)
        if issubclass(hint, Enum):
            return hint(self._single("Int32", element, deep))
        return self._single(hint.__name__, element, deep)

    def _encoded(self, kind: Any, element: Xml.Element | None, deep: int) -> bytes:
        """A structure's fields as OPC UA Binary. What is missing is sent as its type's empty value."""
        if deep > MOST_DEEP:
            raise ValueError(f"it is nested more than {MOST_DEEP} deep")
        definition = self._types.definition(kind)
        if not isinstance(definition, ua.StructureDefinition):
            parent = next((p for p in map(self._types.python, self._types.above(kind)[1:]) if p), None)
            if parent is None or parent in (ua.ExtensionObject,):
                raise ValueError(f"its type {kind.to_string()} has no Definition that says which fields it has")
            return bytes(to_binary(self._known(parent, element if element is not None else Xml.Element("x"), deep)))
        there = {local(child): child for child in (element if element is not None else ())}
        if definition.StructureType in (ua.StructureType.Union, ua.StructureType.UnionWithSubtypedValues):
            return self._union(definition, there, deep)
        optional = [field for field in definition.Fields if field.IsOptional and not _is_subtyped(definition)]
        mask = sum(1 << n for n, field in enumerate(optional) if field.Name in there)
        parts = [pack(ua.VariantType.UInt32, mask)] if optional or _has_mask(definition) else []
        for field in definition.Fields:
            if field.Name in there or not (field.IsOptional and not _is_subtyped(definition)):
                parts.append(self._field(definition, field, there.get(field.Name), deep + 1))
        return b"".join(parts)

    def _union(self, definition: Any, there: dict[str, Xml.Element], deep: int) -> bytes:
        for number, field in enumerate(definition.Fields, 1):
            if field.Name in there:
                data = self._field(definition, field, there[field.Name], deep + 1)
                return bytes(pack(ua.VariantType.UInt32, number)) + data
        return bytes(pack(ua.VariantType.UInt32, 0))

    def _field(self, definition: Any, field: Any, element: Xml.Element | None, deep: int) -> bytes:
        if field.ValueRank > _MATRIX_RANK:
            raise ValueError(f"its field {field.Name} is a matrix, which is not read in a structure")
        is_boxed = _is_subtyped(definition) and field.IsOptional
        try:
            if field.ValueRank < 0:
                return self._packed(field.DataType, element, deep, is_boxed=is_boxed)
            ones = [
                self._packed(field.DataType, one, deep, is_boxed=is_boxed)
                for one in (element if element is not None else ())
            ]
            return struct.pack("<i", len(ones)) + b"".join(ones)
        except ValueError as fault:
            raise ValueError(f"its field {field.Name}: {fault}") from fault

    def _packed(self, data_type: Any, element: Xml.Element | None, deep: int, *, is_boxed: bool) -> bytes:
        """One field's value; `is_boxed` where its type may be a subtype, which is then sent along."""
        kind = self._types.built_in(data_type)
        if kind == ua.VariantType.ExtensionObject and data_type not in (STRUCTURE, UNION) and not is_boxed:
            if known := self._types.python(data_type):
                return bytes(to_binary(self._known(known, element if element is not None else Xml.Element("x"), deep)))
            return self._encoded(data_type, element, deep)
        if element is None or (not len(element) and not (element.text or "").strip() and kind.name not in ("String",)):
            return bytes(pack(kind, _EMPTY[kind.name]() if kind.name in _EMPTY else 0))
        return bytes(pack(kind, self._single(kind.name, element, deep)))


def _is_subtyped(definition: Any) -> bool:
    return bool(
        definition.StructureType
        in (ua.StructureType.StructureWithSubtypedValues, ua.StructureType.UnionWithSubtypedValues)
    )


def _has_mask(definition: Any) -> bool:
    return bool(definition.StructureType == ua.StructureType.StructureWithOptionalFields)


def local(element: Xml.Element) -> str:
    """An element's name without its namespace."""
    return element.tag.rpartition("}")[2]


_EMPTY: dict[str, Any] = {
    "Boolean": bool,
    "String": lambda: None,
    "DateTime": lambda: datetime(1601, 1, 1, tzinfo=UTC),
    "Guid": lambda: uuid.UUID(int=0),
    "ByteString": lambda: None,
    "XmlElement": lambda: ua.XmlElement(""),
    "NodeId": ua.NodeId,
    "ExpandedNodeId": ua.NodeId,
    "StatusCode": ua.StatusCode,
    "QualifiedName": lambda: ua.QualifiedName("", 0),
    "LocalizedText": ua.LocalizedText,
    "ExtensionObject": lambda: None,
    "DataValue": ua.DataValue,
    "Variant": ua.Variant,
}
"""Empty values of the built-in types that are no numbers."""
