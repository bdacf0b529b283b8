"""Nodes as they are written and as they go over the wire."""

import base64
import uuid
from collections.abc import Sequence
from typing import Any

from oasis_opcua.items import BASE, Node
from oasis_opcua.untyped import ua

_KINDS = {
    ua.NodeIdType.TwoByte: "i",
    ua.NodeIdType.FourByte: "i",
    ua.NodeIdType.Numeric: "i",
    ua.NodeIdType.String: "s",
    ua.NodeIdType.Guid: "g",
    ua.NodeIdType.ByteString: "b",
}


def to_wire(node: Node, index: int) -> Any:
    """The NodeId with the namespace index that the server has for the node's URI now."""
    match node.kind:
        case "i":
            return ua.NodeId(int(node.id), index)
        case "g":
            return ua.NodeId(uuid.UUID(node.id), index)
        case "b":
            return ua.NodeId(base64.b64decode(node.id), index)
        case _:
            return ua.NodeId(node.id, index)


def from_wire(wire: Any, namespaces: Sequence[str]) -> Node:
    """The node of a NodeId or ExpandedNodeId; an index without a URI is written as one that no server has."""
    index = wire.NamespaceIndex
    uri = getattr(wire, "NamespaceUri", None) or (
        namespaces[index] if index < len(namespaces) else f"urn:unknown-namespace-index:{index}"
    )
    kind = _KINDS[wire.NodeIdType]
    identifier = wire.Identifier
    text = base64.b64encode(identifier).decode() if kind == "b" else str(identifier)
    return Node(BASE if index == 0 and uri == BASE else str(uri), kind, text)
