"""Nodes of an address space, built from signals."""

from typing import Any

from oasis_opcua.simulator.server import Limits, LineServer
from oasis_opcua.simulator.signals import Signal, Unit
from oasis_opcua.untyped import ua

_READ = int(ua.AccessLevel.CurrentRead.mask)
_WRITE = int(ua.AccessLevel.CurrentWrite.mask)
_HISTORY = int(ua.AccessLevel.HistoryRead.mask)
UNIT_NAMESPACE = "http://www.opcfoundation.org/UA/units/un/cefact"
LIMIT_NODES = {
    "read": ua.ObjectIds.Server_ServerCapabilities_OperationLimits_MaxNodesPerRead,
    "write": ua.ObjectIds.Server_ServerCapabilities_OperationLimits_MaxNodesPerWrite,
    "browse": ua.ObjectIds.Server_ServerCapabilities_OperationLimits_MaxNodesPerBrowse,
    "call": ua.ObjectIds.Server_ServerCapabilities_OperationLimits_MaxNodesPerMethodCall,
    "history": ua.ObjectIds.Server_ServerCapabilities_OperationLimits_MaxNodesPerHistoryReadData,
    "monitored": ua.ObjectIds.Server_ServerCapabilities_OperationLimits_MaxMonitoredItemsPerCall,
}


async def announce(server: LineServer, limits: Limits) -> None:
    """Write the limits where clients look for them."""
    for name, number in LIMIT_NODES.items():
        await server.get_node(ua.NodeId(number)).write_value(getattr(limits, name), ua.VariantType.UInt32)
    points = server.get_node(ua.NodeId(ua.ObjectIds.Server_ServerCapabilities_MaxBrowseContinuationPoints))
    await points.write_value(limits.continuations, ua.VariantType.UInt16)


class Builder:
    """Adds nodes; folders on the way to a signal are made when first needed."""

    def __init__(self, server: LineServer, indexes: dict[str, int]) -> None:
        self._server = server
        self._indexes = indexes
        self._folders: set[Any] = set()
        self.nodes: dict[tuple[str, str], Any] = {}

    def node_id(self, namespace: str, name: str) -> Any:
        return ua.NodeId(name, ua.Int16(self._indexes[namespace]))

    def folder(self, namespace: str, name: str) -> Any:
        """The object with this dotted name."""
        node = self.node_id(namespace, name)
        if node in self._folders:
            return node
        parent, _, last = name.rpartition(".")
        above = self.folder(namespace, parent) if parent else ua.NodeId(ua.ObjectIds.ObjectsFolder)
        link = ua.ObjectIds.HasComponent if parent else ua.ObjectIds.Organizes
        attributes = ua.ObjectAttributes(DisplayName=ua.LocalizedText(last))
        self._add(node, above, last, attributes, (ua.NodeClass.Object, link, ua.ObjectIds.BaseObjectType))
        self._folders.add(node)
        return node

    def variable(self, signal: Signal, initial: Any = None) -> Any:
        """A signal with its unit and range."""
        parent, _, last = signal.name.rpartition(".")
        node = self.node_id(signal.namespace, signal.name)
        value = signal.value if initial is None else initial
        kind = getattr(ua.VariantType, signal.kind)
        attributes = ua.VariableAttributes(
            DisplayName=ua.LocalizedText(last),
            Description=ua.LocalizedText(signal.description),
            Value=ua.Variant(value, kind),
            DataType=ua.NodeId(getattr(ua.ObjectIds, signal.kind)),
            ValueRank=ua.Int32(1 if isinstance(value, list) else -1),
            AccessLevel=ua.Byte(self._access(signal)),
            UserAccessLevel=ua.Byte(self._access(signal)),
            Historizing=signal.is_historised,
        )
        plain = ua.ObjectIds.MultiStateDiscreteType if signal.names else ua.ObjectIds.BaseDataVariableType
        kind_of = ua.ObjectIds.AnalogItemType if signal.unit else plain
        above = self.folder(signal.namespace, parent)
        self._add(node, above, last, attributes, (ua.NodeClass.Variable, ua.ObjectIds.HasComponent, kind_of))
        self.nodes[signal.namespace, signal.name] = node
        if signal.unit:
            self._property(node, signal, "EngineeringUnits", _unit(signal.unit), ua.ObjectIds.EUInformation)
        if signal.names:
            texts = [ua.LocalizedText(name) for name in signal.names]
            self._property(node, signal, "EnumStrings", texts, ua.ObjectIds.LocalizedText)
        if signal.low is not None and signal.high is not None:
            range_ = ua.Range(Low=ua.Double(signal.low), High=ua.Double(signal.high))
            self._property(node, signal, "EURange", range_, ua.ObjectIds.Range)
            if signal.is_writable:
                self._server.internals.ranges[node] = (signal.low, signal.high)
        return node

    def _access(self, signal: Signal) -> int:
        return _READ | (_WRITE if signal.is_writable else 0) | (_HISTORY if signal.is_historised else 0)

    def _property(self, owner: Any, signal: Signal, name: str, value: Any, kind: int) -> None:
        node = self.node_id(signal.namespace, f"{signal.name}.{name}")
        attributes = ua.VariableAttributes(
            DisplayName=ua.LocalizedText(name),
            Value=ua.Variant(value) if isinstance(value, list) else ua.Variant(value, ua.VariantType.ExtensionObject),
            DataType=ua.NodeId(kind),
            ValueRank=ua.Int32(1 if isinstance(value, list) else -1),
            AccessLevel=ua.Byte(_READ),
            UserAccessLevel=ua.Byte(_READ),
        )
        browse_name = ua.QualifiedName(name, 0)
        property_type = ua.ObjectIds.PropertyType
        self._add(
            node, owner, browse_name, attributes, (ua.NodeClass.Variable, ua.ObjectIds.HasProperty, property_type)
        )

    def _add(self, node: Any, parent: Any, name: Any, attributes: Any, what: tuple[Any, int, int]) -> None:
        """Add one node; `what` is its class, the reference from its parent, and its type definition."""
        node_class, link, kind = what
        browse_name = name if isinstance(name, ua.QualifiedName) else ua.QualifiedName(name, node.NamespaceIndex)
        item = ua.AddNodesItem(
            ParentNodeId=parent,
            ReferenceTypeId=ua.NodeId(link),
            RequestedNewNodeId=node,
            BrowseName=browse_name,
            NodeClass=node_class,
            NodeAttributes=attributes,
            TypeDefinition=ua.NodeId(kind),
        )
        for result in self._server.iserver.node_mgt_service.add_nodes([item]):
            result.StatusCode.check()


def _unit(unit: Unit) -> Any:
    """The unit's number is its UNECE code's characters as a big-endian integer (Part 8, 5.6.4.3)."""
    code, symbol, name = unit
    return ua.EUInformation(
        NamespaceUri=UNIT_NAMESPACE,
        UnitId=ua.Int32(int.from_bytes(code.encode(), "big")),
        DisplayName=ua.LocalizedText(symbol),
        Description=ua.LocalizedText(name),
    )
