"""References between nodes of an address space: each in both directions, each once; and what can be browsed."""

from typing import Any

from oasis_opcua.untyped import ua

HIERARCHICAL = ua.NodeId(ua.ObjectIds.HierarchicalReferences)
_ROOT = ua.NodeId(ua.ObjectIds.RootFolder)
_TYPE_DEFINITION, _MODELLING_RULE, _SUBTYPE, _ENCODING = (
    ua.NodeId(n)
    for n in (
        ua.ObjectIds.HasTypeDefinition,
        ua.ObjectIds.HasModellingRule,
        ua.ObjectIds.HasSubtype,
        ua.ObjectIds.HasEncoding,
    )
)
_ONE_WAY = (_TYPE_DEFINITION, _MODELLING_RULE)
"""References that servers do not show at their target, where there would be thousands."""


class Links:
    """Adds references to the nodes of an address space."""

    def __init__(self, space: Any) -> None:
        self._space = space
        self._there: dict[Any, set[tuple[Any, Any, bool]]] = {}
        self._types: dict[Any, Any] = {}

    def define(self, source: Any, kind: Any) -> None:
        """Say what a node's type definition is, before references to it are made."""
        self._types[source] = kind

    def add(self, source: Any, kind: Any, target: Any) -> bool:
        """Add a forward reference. False where a node of it does not exist."""
        if source not in self._space or target not in self._space or kind not in self._space:
            return False
        self._one(source, kind, target, is_forward=True)
        if kind not in _ONE_WAY:
            self._one(target, kind, source, is_forward=False)
        return True

    def is_below(self, wire: Any, kinds: set[Any]) -> bool:
        """Does one of these references lead to the node?"""
        return any(not r.IsForward and r.ReferenceTypeId in kinds for r in self._space[wire].references)

    def below(self, kind: Any) -> set[Any]:
        """A type and its subtypes."""
        found = {kind}
        waiting = [kind]
        while waiting:
            node = self._space.get(waiting.pop())
            for reference in node.references if node is not None else ():
                is_subtype = reference.ReferenceTypeId == _SUBTYPE and reference.IsForward
                if is_subtype and reference.NodeId not in found:
                    found.add(reference.NodeId)
                    waiting.append(reference.NodeId)
        return found

    def reachable(self) -> set[Any]:
        """Every node that a browse from the root finds."""
        kinds = {*self.below(HIERARCHICAL), _ENCODING}
        found = {_ROOT}
        waiting = [_ROOT]
        while waiting:
            node = self._space.get(waiting.pop())
            for reference in node.references if node is not None else ():
                if reference.IsForward and reference.ReferenceTypeId in kinds and reference.NodeId not in found:
                    found.add(reference.NodeId)
                    waiting.append(reference.NodeId)
        return found

    def _of(self, source: Any) -> set[tuple[Any, Any, bool]]:
        if source not in self._there:
            node = self._space[source]
            self._there[source] = {(r.ReferenceTypeId, r.NodeId, bool(r.IsForward)) for r in node.references}
        return self._there[source]

    def _one(self, source: Any, kind: Any, target: Any, *, is_forward: bool) -> None:
        there = self._of(source)
        if (kind, target, is_forward) in there:
            return
        there.add((kind, target, is_forward))
        attributes = self._space[target].attributes
        ids = ua.AttributeIds
        self._space[source].references.append(
            ua.ReferenceDescription(
                ReferenceTypeId=kind,
                IsForward=is_forward,
                NodeId=target,
                BrowseName=attributes[ids.BrowseName].value.Value.Value,
                DisplayName=attributes[ids.DisplayName].value.Value.Value,
                NodeClass=attributes[ids.NodeClass].value.Value.Value,
                TypeDefinition=self.definition(target),
            )
        )

    def definition(self, wire: Any) -> Any:
        """A node's type definition; a null id where it has none."""
        if wire not in self._types:
            references = self._space[wire].references
            found = (r.NodeId for r in references if r.ReferenceTypeId == _TYPE_DEFINITION and r.IsForward)
            self._types[wire] = next(found, ua.NodeId())
        return self._types[wire]
