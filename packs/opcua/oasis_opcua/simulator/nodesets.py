"""NodeSet2 files loaded into the simulated server, whatever order they are given in; what cannot be is explained.

asyncua has an importer, which ends at the first thing that it does not know and takes minutes for large files; this one
fills the address space itself: first all nodes, then their references, data types and values.
"""

import gc
import struct
from collections import defaultdict
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as Xml

from oasis_opcua.simulator.nodeset_files import BASE, SCHEMA, Model, examine, in_order, older
from oasis_opcua.simulator.nodeset_ids import Ids
from oasis_opcua.simulator.nodeset_links import HIERARCHICAL, Links
from oasis_opcua.simulator.nodeset_nodes import KINDS, made, put_definition, put_value
from oasis_opcua.simulator.nodeset_types import Types
from oasis_opcua.simulator.nodeset_values import Values
from oasis_opcua.untyped import ua

if TYPE_CHECKING:
    from asyncua.server.server import Server

MOST_NAMED = 5
"""Nodes that are named of each kind of thing that was left out; how many more there are is said."""
_NOT_NODES = ("NamespaceUris", "ServerUris", "Models", "Aliases", "Extensions")
_UNREADABLE = (ValueError, TypeError, KeyError, OverflowError, AttributeError, RecursionError, struct.error, ua.UaError)


@dataclass(frozen=True, slots=True)
class Loaded:
    """What was loaded: nodes by model URI, and what of the files is not there as they have it, a line each."""

    nodes: dict[str, int]
    notes: tuple[str, ...] = ()


@dataclass(slots=True)
class _File:
    """A file while it is loaded: its nodes that are in the address space, and what was left out, by kind."""

    model: Model
    ids: Ids
    nodes: dict[Any, Xml.Element] = field(default_factory=dict[Any, Xml.Element])
    left_out: dict[str, dict[tuple[int, str], Xml.Element]] = field(
        default_factory=lambda: defaultdict[str, dict[tuple[int, str], Xml.Element]](dict)
    )

    def say(self, what: str, node: Xml.Element, why: object = "") -> None:
        self.left_out[what].setdefault((id(node), str(why)[:200]), node)

    def notes(self) -> list[str]:
        said: list[str] = []
        for what, places in self.left_out.items():
            first = list(places.items())[:MOST_NAMED]
            named = [f"{self.model.named(node)}{f': {why}' if why else ''}" for (_, why), node in first]
            more = f"; and {len(places) - MOST_NAMED:,} more" if len(places) > MOST_NAMED else ""
            said.append(f"{self.model.path.name}: {what}: {'; '.join(named)}{more}")
        return said


async def load(server: "Server", paths: Sequence[Path]) -> Loaded:
    """Load the files. Raises ToolFault for one that is no NodeSet2 file, or needs a model that none of them holds."""
    models = in_order([examine(path) for path in paths])
    uris = dict.fromkeys(uri for model in models for uri in (*model.spaces, *model.uris) if uri != BASE)
    indexes = {uri: int(await server.register_namespace(uri)) for uri in uris}
    files = [_File(model, Ids(model.root, model.spaces, indexes)) for model in models]
    with _uncollected():
        _fill(server.iserver.aspace, files)
    counts: dict[str, int] = defaultdict(int)
    for file in files:
        counts[file.model.uris[0] if file.model.uris else file.model.path.name] += len(file.nodes)
    notes = [note for file in files for note in (*older(file.model, models), *file.notes())]
    return Loaded(dict(counts), tuple(notes))


@contextmanager
def _uncollected() -> Generator[None]:
    """Python's collector of cycles looks through all objects again and again while millions are made, none garbage."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def _fill(space: Any, files: Sequence[_File]) -> None:
    """Put what the files hold into the address space."""
    for file in files:
        _add_nodes(space, file)
    links = Links(space)
    for file in files:
        _define(links, file)
    for file in files:
        _add_references(links, file)
    hierarchical = links.below(HIERARCHICAL)
    for file in files:
        _add_parents(links, file, [wire for wire in file.nodes if not links.is_below(wire, hierarchical)])
    found = links.reachable()
    for file in files:
        _add_parents(links, file, [wire for wire in file.nodes if wire not in found])
    types = Types(space)
    _add_definitions(space, files, types)
    for file in files:
        _add_values(space, file, types)
    found = links.reachable()
    for file in files:
        for wire, node in file.nodes.items():
            if wire not in found:
                file.say("a node that no browse from the root finds", node)


def _add_nodes(space: Any, file: _File) -> None:
    """Put the file's nodes into the address space, with attributes and without references."""
    for node in file.model.root:
        if node.tag not in KINDS:
            if node.tag.removeprefix(SCHEMA) not in _NOT_NODES:
                file.say("an element that is no node of NodeSet2, left out", node, node.tag.removeprefix(SCHEMA)[:60])
            continue
        try:
            wire = file.ids.wire(node.get("NodeId"))
            if wire in file.nodes:
                file.say("a node that stands in it twice, the first one counts", node)
            elif wire in space:
                file.say("a node that is there already (OPC UA's own, or another file's), left out", node)
            else:
                space[wire] = made(node, wire, file.ids)
                file.nodes[wire] = node
        except ValueError as fault:
            file.say("a node that cannot be read, left out", node, fault)


def _references(file: _File, node: Xml.Element) -> list[tuple[Any, Any, bool]]:
    """Type, other end and direction of the references that a node's element has; what is none is noted."""
    found: list[tuple[Any, Any, bool]] = []
    for reference in node.findall(f"{SCHEMA}References/{SCHEMA}Reference"):
        try:
            kind, other = file.ids.wire(reference.get("ReferenceType")), file.ids.wire(reference.text)
        except ValueError as fault:
            file.say("a reference that cannot be read, left out", node, fault)
            continue
        is_forward = reference.get("IsForward", "true").strip().lower() not in ("false", "0")
        found.append((kind, other, is_forward))
    return found


def _define(links: Links, file: _File) -> None:
    """Learn the nodes' type definitions, which stand in every reference to them."""
    definition = ua.NodeId(ua.ObjectIds.HasTypeDefinition)
    for wire, node in file.nodes.items():
        for reference in node.iter(f"{SCHEMA}Reference"):
            try:
                if file.ids.wire(reference.get("ReferenceType")) == definition:
                    links.define(wire, file.ids.wire(reference.text))
            except ValueError:
                pass  # noted where references are added


def _add_references(links: Links, file: _File) -> None:
    for wire, node in file.nodes.items():
        for kind, other, is_forward in _references(file, node):
            source, target = (wire, other) if is_forward else (other, wire)
            if not links.add(source, kind, target):
                file.say("a reference to a node that is not there, left out", node, file.ids.text(other))


def _add_parents(links: Links, file: _File, nodes: Sequence[Any]) -> None:
    """Put nodes that nothing else leads to below their ParentNodeId: some exporters write nothing else."""
    component, subtype, of_property = (
        ua.NodeId(n) for n in (ua.ObjectIds.HasComponent, ua.ObjectIds.HasSubtype, ua.ObjectIds.HasProperty)
    )
    for wire in nodes:
        node = file.nodes[wire]
        if not (given := node.get("ParentNodeId")):
            continue
        kind = subtype if node.tag.endswith("Type") else component
        if kind == component and links.definition(wire) == ua.NodeId(ua.ObjectIds.PropertyType):
            kind = of_property
        try:
            is_there = links.add(file.ids.wire(given), kind, wire)
        except ValueError as fault:
            file.say("a ParentNodeId that cannot be read", node, fault)
            continue
        if not is_there:
            file.say("a parent that is not there", node, given)


def _add_definitions(space: Any, files: Sequence[_File], types: Types) -> None:
    """Say what data types consist of, supertypes first, since what they have is inherited."""
    kinds = [
        (file, wire, node) for file in files for wire, node in file.nodes.items() if node.tag == f"{SCHEMA}UADataType"
    ]
    for file, wire, node in sorted(kinds, key=lambda kind: len(types.above(kind[1]))):
        try:
            put_definition(space[wire], node, file.ids, types)
        except ValueError as fault:
            file.say("a Definition that cannot be read, its data type is there without it", node, fault)


def _add_values(space: Any, file: _File, types: Types) -> None:
    values = Values(file.ids, types)
    for wire, node in file.nodes.items():
        if node.tag in (f"{SCHEMA}UAVariable", f"{SCHEMA}UAVariableType"):
            try:
                put_value(space[wire], node, values)
            except _UNREADABLE as fault:
                file.say("a value that cannot be read, its node is there without it", node, fault)
