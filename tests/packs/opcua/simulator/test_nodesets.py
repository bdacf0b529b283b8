"""NodeSet2 files: ordered, loaded, browsed back whole; what cannot be loaded explained."""

import re
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest
from oasis_opcua import items
from oasis_opcua.driver import OpcUaDriver
from oasis_opcua.simulator.nodeset_files import SCHEMA, examine, in_order
from oasis_opcua.untyped import ua

from oasis.plant.driver import Budget
from tests.packs.opcua.lines import INPUTS, Shared

needs_inputs = pytest.mark.skipif(not INPUTS.is_dir(), reason="the NodeSets of the OPC Foundation are not here")
_CLASSES = {
    "UAObject": "object", "UAVariable": "variable", "UAMethod": "method", "UAObjectType": "object type",
    "UAVariableType": "variable type", "UAReferenceType": "reference type", "UADataType": "data type",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class InFile:
    """A node as a file has it. `type` is the name of its DataType, empty for what is no variable."""

    item: str
    kind: str
    name: str
    type: str


def nodes_of(paths: list[Path]) -> list[InFile]:
    """Every node of NodeSet2 files, read without asyncua."""
    names: dict[str, str] = {}
    for path in paths:
        root, uris, _ = _parsed(path)
        for node in root.findall(f"{SCHEMA}UADataType"):
            names[_item(node.get("NodeId", ""), uris)] = node.get("BrowseName", "").rpartition(":")[2]
    return [node for path in paths for node in _nodes(path, names)]


def _parsed(path: Path) -> tuple[Xml.Element, list[str], dict[str, str]]:
    """Root, namespace URIs and aliases of a file."""
    root = Xml.parse(path).getroot()
    uris = [items.BASE, *((uri.text or "").strip() for uri in root.findall(f"{SCHEMA}NamespaceUris/{SCHEMA}Uri"))]
    aliases = {a.get("Alias", ""): (a.text or "").strip() for a in root.findall(f"{SCHEMA}Aliases/{SCHEMA}Alias")}
    return root, uris, aliases


def _nodes(path: Path, names: dict[str, str]) -> list[InFile]:
    root, uris, aliases = _parsed(path)
    found: list[InFile] = []
    for node in root:
        kind = _CLASSES.get(node.tag.removeprefix(SCHEMA))
        if kind:
            name = re.sub(r"^\d+:", "", node.get("BrowseName", ""))
            data_type = _item(aliases.get(given := node.get("DataType", "i=24"), given), uris)
            type_name = names.get(data_type) or ua.ObjectIdNames.get(
                int(data_type[2:]) if data_type[:2] == "i=" else -1
            )
            found.append(
                InFile(_item(node.get("NodeId", ""), uris), kind, name, str(type_name) if kind == "variable" else "")
            )
    return found


def _item(text: str, uris: list[str]) -> str:
    index = re.match(r"ns=(\d+);", text)
    return f"nsu={uris[int(index[1])]};{text[index.end() :]}" if index else text


@needs_inputs
def test_nodesets_are_ordered_by_what_they_need_whatever_the_order_given():
    models = [examine(path) for path in sorted(INPUTS.glob("*.xml"), reverse=True)]
    names = [uri.rstrip("/").rpartition("/")[2] for model in in_order(models) for uri in model.uris]
    assert names[0] == "DI"
    assert sorted(names) == ["DI", "IA", "Machinery"]


@needs_inputs
async def test_nodesets_are_browsed_back_whole_with_classes_names_and_types(shared: Shared, driver: OpcUaDriver):
    scan = await driver.scan(["i=84"], Budget(requests=20_000, seconds=300))
    assert scan.stopped == ""
    found = {entry.item: entry for entry in scan.found}
    expected = nodes_of(list(INPUTS.glob("*.xml")))
    assert len(expected) == sum(shared.line.loaded.nodes.values())
    assert shared.line.loaded.notes == ()
    missing = [node for node in expected if node.item not in found]
    assert missing == []
    wrong = [
        n for n in expected if (found[n.item].kind, found[n.item].fields["name"].split("/")[-1]) != (n.kind, n.name)
    ]
    assert [n for n in wrong if "/" not in n.name] == []
    variables = [node for node in expected if node.kind == "variable"]
    typed: dict[str, str] = {}
    for start in range(0, len(variables), 200):
        part = variables[start : start + 200]
        for reading in await driver.read([driver.point(node.item) for node in part]):
            typed.setdefault(reading.point.address.partition(" [")[0], re.split(r"\[|,", reading.where)[0])
    assert {n.item: typed[n.item] for n in variables} == {n.item: n.type for n in variables}
