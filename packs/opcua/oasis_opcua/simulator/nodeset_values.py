"""Values of a NodeSet file as the server holds them (OPC UA Part 6, 5.3 and Annex F)."""

import base64
import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from xml.etree import ElementTree as Xml

from oasis_opcua.simulator.nodeset_ids import Ids
from oasis_opcua.simulator.nodeset_structures import MOST_DEEP, Structures, local
from oasis_opcua.simulator.nodeset_types import Types
from oasis_opcua.untyped import ua
from oasis_opcua.variants import RANGES

_TYPES = {kind.name: kind for kind in ua.VariantType}
_FIRST = datetime(1601, 1, 1, tzinfo=UTC)
"""Earliest time of OPC UA (Part 6, 5.2.2.5); what lies before is sent as this."""


def part(element: Xml.Element, name: str) -> Xml.Element | None:
    """The first child of that name, whatever its namespace: exporters differ."""
    return next((child for child in element if local(child) == name), None)


def text_of(element: Xml.Element | None) -> str:
    return ((element.text if element is not None else "") or "").strip()


class Values:
    """Reads the values of one file. Each method raises ValueError, in words, for what is none."""

    def __init__(self, ids: Ids, types: Types) -> None:
        self._ids = ids
        self._structures = Structures(ids, types, self.single)
        self._special: dict[str, Callable[[Xml.Element, int], Any]] = {
            "NodeId": lambda element, _: self._node(element),
            "ExpandedNodeId": lambda element, _: self._expanded(element),
            "QualifiedName": lambda element, _: self._qualified(element),
            "ExtensionObject": self._structures.boxed,
            "Variant": self._inner,
            "DataValue": lambda element, deep: ua.DataValue(self._inner(element, deep)),
        }

    def variant(self, element: Xml.Element, deep: int = 0) -> Any:
        """The value that the child of a Value element is."""
        if deep > MOST_DEEP:
            raise ValueError(f"it is nested more than {MOST_DEEP} deep")
        name = local(element)
        if name == "Null":
            return ua.Variant()
        if name == "Matrix":
            return self._matrix(element, deep)
        if name.startswith("ListOf"):
            kind = name.removeprefix("ListOf")
            return ua.Variant([self.single(kind, one, deep + 1) for one in element], _variant_type(kind), is_array=True)
        return ua.Variant(self.single(name, element, deep + 1), _variant_type(name))

    def single(self, kind: str, element: Xml.Element, deep: int = 0) -> Any:
        """One value of the type with that name; a structure of OPC UA's own may stand without its envelope."""
        if deep > MOST_DEEP:
            raise ValueError(f"it is nested more than {MOST_DEEP} deep")
        if read := self._special.get(kind):
            return read(element, deep)
        if read := _PLAIN.get(kind):
            return read(element)
        if kind in RANGES:
            return _whole(text_of(element), kind)
        return self._structures.of_name(kind, element, deep)

    def _inner(self, element: Xml.Element, deep: int) -> Any:
        value = part(element, "Value")
        return self.variant(value[0], deep + 1) if value is not None and len(value) else ua.Variant()

    def _matrix(self, element: Xml.Element, deep: int) -> Any:
        sizes, elements = part(element, "Dimensions"), part(element, "Elements")
        if sizes is None or elements is None or not len(elements):
            raise ValueError("a Matrix has Dimensions and Elements")
        dimensions = [_whole(text_of(size), "UInt32") for size in sizes]
        kind = local(elements[0])
        flat = [self.single(kind, one, deep + 1) for one in elements]
        wanted = 1
        for size in dimensions:
            wanted *= size
        if wanted != len(flat):
            raise ValueError(f"its dimensions ask for {wanted} elements, and it has {len(flat)}")
        return ua.Variant(_rows(flat, dimensions), _variant_type(kind), dimensions, is_array=True)

    def _node(self, element: Xml.Element) -> Any:
        text = text_of(part(element, "Identifier"))
        return self._ids.wire(text) if text else ua.NodeId()

    def _expanded(self, element: Xml.Element) -> Any:
        wire = self._node(element)
        return ua.ExpandedNodeId(wire.Identifier, wire.NamespaceIndex)

    def _qualified(self, element: Xml.Element) -> Any:
        number = text_of(part(element, "NamespaceIndex"))
        name = part(element, "Name")
        return ua.QualifiedName((name.text if name is not None else "") or "", self._ids.index(int(number or 0)))


def _rows(flat: list[Any], dimensions: list[int]) -> list[Any]:
    if len(dimensions) < 2 or not flat:
        return flat
    size = len(flat) // dimensions[0]
    return [_rows(flat[n : n + size], dimensions[1:]) for n in range(0, len(flat), size)]


def _variant_type(kind: str) -> Any:
    """The VariantType of a type's name; what is no built-in type is a structure."""
    return _TYPES.get(kind, ua.VariantType.ExtensionObject)


def _whole(text: str, kind: str) -> int:
    """A whole number; an enumeration's is written NAME_NUMBER (Part 6, 5.3.2)."""
    low, high = RANGES[kind]
    number = int((text.rpartition("_")[2] or text) if text and not text.lstrip("+-").isdigit() else text or 0)
    if not low <= number <= high:
        raise ValueError(f"{number} is no {kind}: it holds {low} to {high}")
    return number


def _boolean(element: Xml.Element) -> bool:
    words = {"true": True, "1": True, "false": False, "0": False, "": False}
    text = text_of(element)
    if text.lower() not in words:
        raise ValueError(f"{text[:40]!r} is neither true nor false")
    return words[text.lower()]


def _time(element: Xml.Element) -> datetime:
    text = text_of(element)
    at = datetime.fromisoformat(text) if text else _FIRST
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    return max(at.astimezone(UTC) if at.year > 1601 else _FIRST, _FIRST)


def _guid(element: Xml.Element) -> uuid.UUID:
    inner = part(element, "String")
    return uuid.UUID(text_of(inner if inner is not None else element) or "0" * 32)


def _words(element: Xml.Element) -> Any:
    """A LocalizedText."""
    text, locale = part(element, "Text"), part(element, "Locale")
    said = text.text if text is not None else (element.text if not len(element) else None)
    return ua.LocalizedText(said, (text_of(locale) or None))


def _markup(element: Xml.Element) -> Any:
    inner = "".join(Xml.tostring(child, encoding="unicode").strip() for child in element)
    return ua.XmlElement(inner or (element.text or ""))


_PLAIN: dict[str, Callable[[Xml.Element], Any]] = {
    "Boolean": _boolean,
    "Float": lambda element: float(text_of(element) or 0),
    "Double": lambda element: float(text_of(element) or 0),
    "String": lambda element: element.text or "",
    "CharArray": lambda element: element.text or "",
    "DateTime": _time,
    "Guid": _guid,
    "ByteString": lambda element: base64.b64decode("".join((element.text or "").split()), validate=True),
    "XmlElement": _markup,
    "StatusCode": lambda element: ua.StatusCode(_whole(text_of(part(element, "Code")), "UInt32")),
    "LocalizedText": _words,
}
