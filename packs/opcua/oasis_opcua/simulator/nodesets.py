"""NodeSet2 files for the simulated server: read in the order their models need, faults explained in words.

Format: OPC UA Part 6, Annex F.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as Xml

from oasis.errors import ToolFault

if TYPE_CHECKING:
    from asyncua.server.server import Server

SCHEMA = "{http://opcfoundation.org/UA/2011/03/UANodeSet.xsd}"
BASE = "http://opcfoundation.org/UA/"


@dataclass(frozen=True, slots=True)
class Model:
    """A NodeSet file and what it says of itself. `needs` maps model URIs to the version asked for; `nodes` counts."""

    path: Path
    uris: tuple[str, ...]
    version: str
    needs: dict[str, str]
    nodes: int


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
    return Model(path, uris, version, needs, nodes)


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


class _Warnings(logging.Handler):
    """Keeps what asyncua's importer says while it works."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


async def load(server: "Server", paths: Sequence[Path]) -> dict[str, int]:
    """Import the files; gives the number of nodes by model URI. Raises ToolFault, with the node or element at fault."""
    counts: dict[str, int] = {}
    for model in in_order([examine(path) for path in paths]):
        heard = _Warnings()
        log = logging.getLogger("asyncua.common.xmlimporter")
        log.addHandler(heard)
        was, log.propagate = log.propagate, False
        try:
            nodes: list[Any] = await server.import_xml(str(model.path))
        except Exception as fault:  # asyncua raises whatever its parser stumbles over
            raise ToolFault(_explained(model, fault, heard.lines)) from fault
        finally:
            log.removeHandler(heard)
            log.propagate = was
        counts[model.uris[0] if model.uris else model.path.name] = len(nodes)
    return counts


def _explained(model: Model, fault: Exception, heard: Sequence[str]) -> str:
    """Why asyncua did not import the file: what it said last, the node it was at, what a model asks for."""
    missing = [line for line in heard if line.startswith("Model is missing")]
    if missing:
        return (
            f"{model.path.name} was not loaded: it asks for a newer version of a model than is loaded. "
            f"{'; '.join(missing)}. Name NodeSet files of matching versions."
        )
    where = next((line for line in reversed(heard) if "failure adding node" in line), "")
    at = f" It stopped at: {where.removeprefix('failure adding node ')[:400]}." if where else ""
    return (
        f"{model.path.name} was not loaded: asyncua cannot import it ({type(fault).__name__}: {str(fault)[:200]}).{at} "
        "Mend or leave out that node, or ask the model's author for a NodeSet of UA 1.05."
    )
