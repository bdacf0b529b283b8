"""NodeSet2 files: what each holds and needs, and the order to load them in (OPC UA Part 6, Annex F)."""

import codecs
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Xml
from xml.parsers import expat
from xml.sax.saxutils import escape

from oasis.errors import ToolFault

SCHEMA = "{http://opcfoundation.org/UA/2011/03/UANodeSet.xsd}"
BASE = "http://opcfoundation.org/UA/"
MOST_BYTES = 256 << 20
"""Largest file that is read."""
_HEAD = 1 << 16


@dataclass(frozen=True, slots=True)
class Model:
    """A NodeSet file and what it says of itself.

    `spaces` are its NamespaceUris, from index 1; `uris` its own models, `needs` those it asks for with their versions.
    """

    path: Path
    spaces: tuple[str, ...]
    uris: tuple[str, ...]
    version: str
    needs: dict[str, str]
    root: Xml.Element
    data: bytes

    def named(self, node: Xml.Element) -> str:
        """A node of the file: id, browse name, and the line where it begins."""
        own = node.get("NodeId", "without NodeId")
        said = [part for part in (node.get("BrowseName"), self._line(own)) if part]
        return f"{own} ({', '.join(said)})" if said else own

    def _line(self, node_id: str) -> str:
        text = _decoded(self.data)
        found = re.search(rf"\sNodeId\s*=\s*[\"']{re.escape(escape(node_id))}[\"']", text)
        return f"line {text.count(chr(10), 0, found.start() + 1) + 1}" if found else ""


def examine(path: Path) -> Model:
    """What the file is. Raises ToolFault for what is no NodeSet2 file."""
    root, data = _read(path)
    if root.tag != f"{SCHEMA}UANodeSet":
        hint = ""
        if root.tag.rpartition("}")[2] == "ModelDesign":
            hint = " It is a model's source: compile it (UA-ModelCompiler) and load the NodeSet2 file that comes of it."
        raise ToolFault(
            f"{path.name} is no NodeSet2 file: its root element is {root.tag.rpartition('}')[2][:60]}, not UANodeSet "
            f"of http://opcfoundation.org/UA/2011/03/UANodeSet.xsd.{hint or ' Export it as NodeSet2.'}"
        )
    models = root.findall(f"{SCHEMA}Models/{SCHEMA}Model")
    spaces = tuple((u.text or "").strip() for u in root.findall(f"{SCHEMA}NamespaceUris/{SCHEMA}Uri"))
    spaces = spaces[1:] if spaces[:1] == (BASE,) else spaces
    uris = tuple(m.get("ModelUri", "") for m in models) or spaces[:1]
    needs = {
        r.get("ModelUri", ""): r.get("Version", "")
        for m in models
        for r in m.findall(f"{SCHEMA}RequiredModel")
        if r.get("ModelUri") != BASE
    }
    version = models[0].get("Version", "") if models else ""
    return Model(path, spaces, uris, version, needs, root, data)


def _read(path: Path) -> tuple[Xml.Element, bytes]:
    """The file's tree and bytes. Raises ToolFault for what is not there, is no XML, or could grow without bounds."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise ToolFault(f"{path.name} has {path.stat().st_size:,} bytes, and at most {MOST_BYTES:,} are read.")
        data = path.read_bytes()
    except OSError as fault:
        raise ToolFault(f"The NodeSet {path} cannot be read: {fault.strerror}. Check the path.") from fault
    if not data.strip():
        raise ToolFault(f"{path.name} is empty. Fetch or export it again.")
    if _has_doctype(data):
        raise ToolFault(f"{path.name} declares a document type or entities, which no NodeSet2 file does; not loaded.")
    try:
        return Xml.fromstring(data), data  # noqa: S314
    except Xml.ParseError as fault:
        line, column = fault.position
        raise ToolFault(
            f"{path.name} is not well-formed XML: line {line}, column {column + 1}: {fault}. "
            "It may be cut off; fetch or export it again."
        ) from fault
    except (ValueError, LookupError) as fault:
        raise ToolFault(f"{path.name} is in an encoding that cannot be read ({fault}). Save it as UTF-8.") from fault


def _has_doctype(data: bytes) -> bool:
    """Does a document type stand before the root element? Entities are declared there only."""
    seen: list[bool] = []
    parser = expat.ParserCreate()

    def doctype(*_: Any) -> None:
        seen.append(True)
        raise _SeenEnough

    def element(*_: Any) -> None:
        raise _SeenEnough

    parser.StartDoctypeDeclHandler = doctype
    parser.StartElementHandler = element
    try:
        for start in range(0, len(data), _HEAD):
            parser.Parse(data[start : start + _HEAD])
    except (_SeenEnough, expat.ExpatError, ValueError, LookupError):
        pass  # what is wrong with it is said when it is read whole
    return bool(seen)


class _SeenEnough(Exception):
    """The document type or the root element has begun."""


def _decoded(data: bytes) -> str:
    is_wide = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return data.decode("utf-16" if is_wide else "utf-8-sig", "replace")


def in_order(models: Sequence[Model]) -> list[Model]:
    """The models, each after those it needs where none needs another in turn.

    Raises ToolFault for a requirement that no file meets.
    """
    offered = {uri for model in models for uri in model.uris}
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
        wanted = [{*model.needs, *model.spaces} & offered - {*model.uris} - done for model in waiting]
        ready = [m for m, missing in zip(waiting, wanted, strict=True) if not missing] or waiting[:1]
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
