"""NodeSet2 files: what each holds and needs, and the order to load them in (OPC UA Part 6, Annex F)."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree as Xml

from oasis.errors import ToolFault

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


def older(model: Model, models: Sequence[Model]) -> list[str]:
    """A note for each model that is needed in a newer version than the one given."""
    given = {uri: other.version for other in models for uri in other.uris}
    return [
        f"{model.path.name} asks for {uri} {version}, and {given[uri]} is loaded: newer nodes may be missing"
        for uri, version in model.needs.items()
        if _numbers(given[uri]) < _numbers(version)
    ]


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.split(".") if part.isdigit()]
