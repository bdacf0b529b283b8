"""A NodeSet2 file made ready for asyncua's importer, and what of it the importer cannot take.

Faults of asyncua 2.1 that are met here: a missing DataType is taken as none, where the schema means BaseDataType; a
value without white space before its first element is dropped; a data type finds its encodings by its own references
only; a newer UA model than its own is refused unread; views end the import; so does a node that stands twice.
"""

from xml.etree import ElementTree as Xml

from oasis.errors import ToolFault
from oasis_opcua.simulator.nodeset_files import SCHEMA

BASE_DATA_TYPE = "i=24"
HAS_ENCODING = "i=38"
READABLE = frozenset({
    "", "Null", "Boolean", "SByte", "Byte", "Int16", "UInt16", "Int32", "UInt32", "Int64", "UInt64", "Float", "Double",
    "String", "DateTime", "Guid", "ByteString", "XmlElement", "NodeId", "ExpandedNodeId", "StatusCode",
    "QualifiedName", "LocalizedText", "ExtensionObject",
})  # fmt: skip
"""Types of values that asyncua's parser reads, alone or as ListOf."""


def shaped(root: Xml.Element, name: str) -> list[str]:
    """Change the file's tree to what asyncua imports; gives a note for each thing that is left out.

    Raises ToolFault for nodes that stand twice and for parents in a circle: nothing of such a file is meant.
    """
    _check(root, name)
    notes = _without_views(root)
    for node in root:
        if node.tag in (f"{SCHEMA}UAVariable", f"{SCHEMA}UAVariableType"):
            node.attrib.setdefault("DataType", BASE_DATA_TYPE)
            notes += _with_value(node)
    _link_encodings(root)
    for model in root.findall(f"{SCHEMA}Models/{SCHEMA}Model"):
        for required in model.findall(f"{SCHEMA}RequiredModel"):
            model.remove(required)
    return [f"{name}: {note}" for note in notes]


def named(node: Xml.Element) -> str:
    """A node of a file: id, browse name, and the parent it asks for."""
    parent = node.get("ParentNodeId")
    return f"{node.get('NodeId')} ({node.get('BrowseName')}{f', parent {parent}' if parent else ''})"


def with_text(root: Xml.Element, text: str) -> Xml.Element | None:
    """The first node of which a part is exactly this text."""
    return next((node for node in root if any((part.text or "").strip() == text for part in node.iter())), None)


def _check(root: Xml.Element, name: str) -> None:
    parents: dict[str, str] = {}
    for node in root:
        if (own := node.get("NodeId")) is None:
            continue
        if own in parents:
            raise ToolFault(f"{name} was not loaded: the node {named(node)} stands in it twice. Leave one of them out.")
        parents[own] = node.get("ParentNodeId", "")
    for own in parents:
        path = [own]
        while (above := parents.get(path[-1], "")) and above in parents:
            if above in path:
                circle = " < ".join([*path[path.index(above) :], above])
                raise ToolFault(
                    f"{name} was not loaded: its nodes are each other's parents: {circle}. Mend ParentNodeId."
                )
            path.append(above)


def _without_views(root: Xml.Element) -> list[str]:
    notes: list[str] = []
    for view in root.findall(f"{SCHEMA}UAView"):
        notes.append(f"{named(view)} is a view, which asyncua does not import: it is left out")
        root.remove(view)
    return notes


def _with_value(node: Xml.Element) -> list[str]:
    """Make the node's value one that is read; a note where it cannot be."""
    value = node.find(f"{SCHEMA}Value")
    if value is None:
        return []
    for element in value.iter():
        if len(element) and element.text is None:
            element.text = "\n"
    kind = value[0].tag.rpartition("}")[2] if len(value) else ""
    if kind.removeprefix("ListOf") in READABLE:
        return []
    node.remove(value)
    return [f"{named(node)} has a value of type {kind}, which asyncua cannot read: it is there without a value"]


def _link_encodings(root: Xml.Element) -> None:
    """Give each data type a reference to its Default Binary encoding; files have it the other way round."""
    types = {node.get("NodeId"): node for node in root.findall(f"{SCHEMA}UADataType")}
    for encoding in root.findall(f"{SCHEMA}UAObject"):
        if encoding.get("BrowseName") != "Default Binary":
            continue
        for reference in encoding.iter(f"{SCHEMA}Reference"):
            owner = types.get((reference.text or "").strip())
            if reference.get("ReferenceType") not in (HAS_ENCODING, "HasEncoding") or owner is None:
                continue
            references = owner.find(f"{SCHEMA}References")
            if references is None:
                references = Xml.SubElement(owner, f"{SCHEMA}References")
            own = {(r.text or "").strip() for r in references}
            if encoding.get("NodeId") not in own:
                added = Xml.Element(f"{SCHEMA}Reference", {"ReferenceType": HAS_ENCODING})
                added.text = encoding.get("NodeId")
                references.insert(0, added)
