"""Data types of the simulated server's address space: what values are sent as, and what structures consist of."""

import dataclasses
from typing import Any, get_type_hints

from oasis_opcua.untyped import ua

SUBTYPE, ENCODING = ua.NodeId(ua.ObjectIds.HasSubtype), ua.NodeId(ua.ObjectIds.HasEncoding)
STRUCTURE, UNION, ENUMERATION = (
    ua.NodeId(n) for n in (ua.ObjectIds.Structure, ua.ObjectIds.Union, ua.ObjectIds.Enumeration)
)
OPTION_SET = ua.NodeId(ua.ObjectIds.OptionSet)
_BUILT_IN = 25
_MOST_ABOVE = 40


class Types:
    """Looks up data types in an address space; what was found is kept."""

    def __init__(self, space: Any) -> None:
        self._space = space
        self._above: dict[Any, tuple[Any, ...]] = {}
        self._by_name: dict[str, Any] = {}

    def above(self, kind: Any) -> tuple[Any, ...]:
        """The data type and its supertypes, nearest first."""
        if kind not in self._above:
            path = [kind]
            while (up := self._one(path[-1], SUBTYPE, is_forward=False)) is not None and len(path) < _MOST_ABOVE:
                path.append(up)
            self._above[kind] = tuple(path)
        return self._above[kind]

    def built_in(self, kind: Any) -> Any:
        """The VariantType that values of the data type are sent as; Variant for abstract numbers and the like."""
        for one in self.above(kind):
            if one == ENUMERATION:
                return ua.VariantType.Int32
            if one == STRUCTURE:
                return ua.VariantType.ExtensionObject
            if not one.NamespaceIndex and isinstance(one.Identifier, int) and 0 < one.Identifier <= _BUILT_IN:
                return ua.VariantType(one.Identifier)
        return ua.VariantType.Variant

    def definition(self, kind: Any) -> Any:
        """The DataTypeDefinition that its node has; None where it has none."""
        data = self._space[kind].attributes.get(ua.AttributeIds.DataTypeDefinition) if kind in self._space else None
        return data.value.Value.Value if data is not None and data.value.Value is not None else None

    def encoding(self, kind: Any) -> Any:
        """The id of its binary encoding; None where it has none."""
        for reference in self._space[kind].references:
            is_binary = reference.BrowseName is not None and reference.BrowseName.Name == "Default Binary"
            if reference.ReferenceTypeId == ENCODING and reference.IsForward and is_binary:
                return reference.NodeId
        return None

    def of_structure(self, wire: Any, name: str) -> Any:
        """The data type of a structure's value: `wire` is its own id or that of an encoding, `name` its element's.

        Raises ValueError where it is neither.
        """
        if wire in self._space:
            if self._node_class(wire) == ua.NodeClass.DataType:
                return wire
            if (owner := self._one(wire, ENCODING, is_forward=False)) is not None:
                return owner
        if not self._by_name:
            for key in list(self._space.keys()):
                if self._node_class(key) == ua.NodeClass.DataType:
                    self._by_name.setdefault(
                        self._space[key].attributes[ua.AttributeIds.BrowseName].value.Value.Value.Name, key
                    )
        if name in self._by_name:
            return self._by_name[name]
        of = "" if wire.is_null() else f" with the encoding {wire.to_string()}"
        raise ValueError(f"there is no data type {name[:60]}{of}")

    def python(self, kind: Any) -> Any:
        """asyncua's class for a structure of OPC UA's own; None for another."""
        if kind.NamespaceIndex:
            return None
        found = getattr(ua, str(ua.ObjectIdNames.get(kind.Identifier)), None)
        return found if dataclasses.is_dataclass(found) else None

    def _node_class(self, wire: Any) -> Any:
        return self._space[wire].attributes[ua.AttributeIds.NodeClass].value.Value.Value

    def _one(self, wire: Any, kind: Any, *, is_forward: bool) -> Any:
        node = self._space.get(wire)
        for reference in node.references if node is not None else ():
            if reference.ReferenceTypeId == kind and reference.IsForward is is_forward:
                return reference.NodeId
        return None


def hints(kind: Any) -> dict[str, Any]:
    """Types of the fields of one of asyncua's classes, by name."""
    return get_type_hints(kind, {"ua": ua})
