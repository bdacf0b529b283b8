"""NodeSet2 files for the simulated server: read in the order their models need, faults explained in words.

Format: OPC UA Part 6, Annex F.
"""

import logging
import re
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as Xml

from oasis.errors import ToolFault

if TYPE_CHECKING:
    from asyncua.server.server import Server

SCHEMA = "{http://opcfoundation.org/UA/2011/03/UANodeSet.xsd}"
BASE = "http://opcfoundation.org/UA/"
BASE_DATA_TYPE = "i=24"
READABLE = frozenset({
    "", "Null", "Boolean", "SByte", "Byte", "Int16", "UInt16", "Int32", "UInt32", "Int64", "UInt64", "Float", "Double",
    "String", "DateTime", "Guid", "ByteString", "XmlElement", "NodeId", "ExpandedNodeId", "StatusCode",
    "QualifiedName", "LocalizedText", "ExtensionObject",
})  # fmt: skip
"""Types of values that asyncua's parser reads, alone or as ListOf."""


@dataclass(frozen=True, slots=True)
class Model:
    """A NodeSet file and what it says of itself. `needs` maps model URIs to the version asked for; `nodes` counts."""

    path: Path
    uris: tuple[str, ...]
    version: str
    needs: dict[str, str]
    nodes: int
    root: Xml.Element


def examine(path: Path) -> Model:
    """What the file is. Raises ToolFault for what is no NodeSet2 file."""
    try:
        text = path.read_bytes()
    except OSError as fault:
        raise ToolFault(f"The NodeSet {path} cannot be read: {fault.strerror}. Check the path.") from fault
    if b"<!ENTITY" in text or b"<!DOCTYPE" in text:
        raise ToolFault(f"{path.name} declares a document type or entities, which no NodeSet2 file does; not loaded.")
    try:
        root = Xml.fromstring(text)  # noqa: S314
    except Xml.ParseError as fault:
        line, column = fault.position
        raise ToolFault(
            f"{path.name} is not well-formed XML: line {line}, column {column + 1}: {fault}. "
            "It may be cut off; fetch or export it again."
        ) from fault
    if root.tag != f"{SCHEMA}UANodeSet":
        raise ToolFault(
            f"{path.name} is no NodeSet2 file: its root element is {root.tag.rpartition('}')[2]}, not UANodeSet of "
            "http://opcfoundation.org/UA/2011/03/UANodeSet.xsd. Export it as NodeSet2."
        )
    models = root.findall(f"{SCHEMA}Models/{SCHEMA}Model")
    uris = tuple(m.get("ModelUri", "") for m in models) or tuple(
        (u.text or "").strip() for u in root.findall(f"{SCHEMA}NamespaceUris/{SCHEMA}Uri")[:1]
    )
    needs = {
        r.get("ModelUri", ""): r.get("Version", "")
        for m in models
        for r in m.findall(f"{SCHEMA}RequiredModel")
        if r.get("ModelUri") != BASE
    }
    version = models[0].get("Version", "") if models else ""
    nodes = sum(1 for child in root if child.tag.startswith(f"{SCHEMA}UA"))
    return Model(path, uris, version, needs, nodes, root)


def in_order(models: Sequence[Model]) -> list[Model]:
    """The models, each after those it needs. Raises ToolFault for a requirement that no file meets, or a circle."""
    offered = {uri: model for model in models for uri in model.uris}
    for model in models:
        for uri, version in sorted(model.needs.items()):
            if uri not in offered:
                raise ToolFault(
                    f"{model.path.name} needs the model {uri}"
                    f"{f' version {version} or newer' if version else ''}, which none of the files given holds "
                    f"(they hold {', '.join(sorted(offered)) or 'none'}). Name that NodeSet file as well."
                )
    ordered: list[Model] = []
    waiting = list(models)
    while waiting:
        done = {uri for model in ordered for uri in model.uris}
        ready = [m for m in waiting if all(uri in done or uri in m.uris for uri in m.needs)]
        if not ready:
            circle = ", ".join(m.path.name for m in waiting)
            raise ToolFault(f"These NodeSets need each other in a circle and none can be first: {circle}.")
        ordered += ready
        waiting = [m for m in waiting if m not in ready]
    return ordered


@dataclass(frozen=True, slots=True)
class Loaded:
    """What was loaded: nodes by model URI, and what of the files is not there as they have it, a line each."""

    nodes: dict[str, int]
    notes: tuple[str, ...] = ()


async def load(server: "Server", paths: Sequence[Path]) -> Loaded:
    """Import the files. Raises ToolFault, with the node or element at fault, for one that cannot be imported."""
    models = in_order([examine(path) for path in paths])
    counts: dict[str, int] = {}
    notes: list[str] = [note for model in models for note in _older(model, models)]
    for model in models:
        notes += [f"{model.path.name}: {note}" for note in _prepared(model.root)]
        with _heard() as lines:
            try:
                nodes: list[Any] = await server.import_xml(xmlstring=Xml.tostring(model.root, encoding="unicode"))
            except Exception as fault:  # asyncua raises whatever its parser stumbles over
                raise ToolFault(_explained(model, fault, lines)) from fault
        notes += [f"{model.path.name}: {line[:300]}" for line in lines if "references" in line]
        counts[model.uris[0] if model.uris else model.path.name] = len(nodes)
    return Loaded(counts, tuple(notes))


def _prepared(root: Xml.Element) -> list[str]:
    """Write out what asyncua's importer does not assume by itself; gives a note for each value it cannot read.

    Faults of asyncua 2.1: a missing DataType is taken as none, where the schema's default is BaseDataType; a value
    without white space before its first element is dropped; a newer UA model than its own is refused unread.
    """
    notes: list[str] = []
    for node in root:
        if node.tag not in (f"{SCHEMA}UAVariable", f"{SCHEMA}UAVariableType"):
            continue
        node.attrib.setdefault("DataType", BASE_DATA_TYPE)
        value = node.find(f"{SCHEMA}Value")
        if value is None:
            continue
        for element in value.iter():
            if len(element) and element.text is None:
                element.text = "\n"
        kind = value[0].tag.rpartition("}")[2] if len(value) else ""
        if kind.removeprefix("ListOf") not in READABLE:
            notes.append(
                f"{node.get('NodeId')} ({node.get('BrowseName')}) has a value of type {kind}, which asyncua cannot "
                "read: the node is there without a value"
            )
            node.remove(value)
    for model in root.findall(f"{SCHEMA}Models/{SCHEMA}Model"):
        for required in model.findall(f"{SCHEMA}RequiredModel"):
            model.remove(required)
    return notes


def _older(model: Model, models: Sequence[Model]) -> list[str]:
    """A note for each model that is needed in a newer version than the one given."""
    given = {uri: other.version for other in models for uri in other.uris}
    return [
        f"{model.path.name} asks for {uri} {version}, and {given[uri]} is loaded: newer nodes may be missing"
        for uri, version in model.needs.items()
        if _numbers(given[uri]) < _numbers(version)
    ]


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.split(".") if part.isdigit()]


@contextmanager
def _heard() -> Generator[list[str]]:
    """What asyncua's importer and parser warn of while the context is open."""
    heard = _Warnings()
    logs = [logging.getLogger(f"asyncua.common.{name}") for name in ("xmlimporter", "xmlparser")]
    were = [log.propagate for log in logs]
    for log in logs:
        log.addHandler(heard)
        log.propagate = False
    try:
        yield heard.lines
    finally:
        for log, was in zip(logs, were, strict=True):
            log.removeHandler(heard)
            log.propagate = was


class _Warnings(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


def _explained(model: Model, fault: Exception, heard: Sequence[str]) -> str:
    """Why asyncua did not import the file: what it said, and the node it was at."""
    where = next((line for line in reversed(heard) if "failure adding node" in line), "")
    found = re.search(r"nodeid:NodeId\(Identifier='?(.*?)'?, NamespaceIndex=", where)
    node = next((n for n in model.root if found and n.get("NodeId", "").endswith(f"={found[1]}")), None)
    at = f" It stopped at the node {_named(node)}." if node is not None else ""
    return (
        f"{model.path.name} was not loaded: asyncua cannot import it ({type(fault).__name__}: {str(fault)[:300]}).{at} "
        "Mend or leave out that node, or name a further file that holds what it refers to."
    )


def _named(node: Xml.Element) -> str:
    """A node of a file: id, browse name, and the parent it asks for."""
    parent = node.get("ParentNodeId")
    return f"{node.get('NodeId')} ({node.get('BrowseName')}{f', parent {parent}' if parent else ''})"
