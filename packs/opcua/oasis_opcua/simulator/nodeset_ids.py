"""Ids and names of a NodeSet file, as the server numbers its namespaces (OPC UA Part 6, F.3)."""

import base64
import re
import uuid
from collections.abc import Mapping, Sequence
from typing import Any
from xml.etree import ElementTree as Xml

from oasis_opcua.simulator.nodeset_files import BASE, SCHEMA
from oasis_opcua.untyped import ua

_NODE = re.compile(r"(?:ns=(?P<index>\d{1,9});|nsu=(?P<uri>[^;]*);)?(?P<kind>[isgb])=(?P<id>.*)", re.DOTALL)
_NAME = re.compile(r"(\d{1,9}):(.*)", re.DOTALL)


class Ids:
    """Reads the ids of one file. `spaces` are its NamespaceUris; `indexes` the server's, by URI."""

    def __init__(self, root: Xml.Element, spaces: Sequence[str], indexes: Mapping[str, int]) -> None:
        self._spaces = (BASE, *spaces)
        self._indexes = {BASE: 0, **indexes}
        self._aliases = {
            a.get("Alias", ""): (a.text or "").strip() for a in root.findall(f"{SCHEMA}Aliases/{SCHEMA}Alias")
        }
        self._read: dict[str, Any] = {}

    def wire(self, text: str | None) -> Any:
        """The NodeId of a text or of an alias. Raises ValueError, in words."""
        text = (text or "").strip()
        if (wire := self._read.get(text)) is None:
            wire = self._read[text] = self._parsed(text)
        return wire

    def text(self, wire: Any) -> str:
        """A NodeId as the file writes it."""
        return next((text for text, read in self._read.items() if read == wire), wire.to_string())

    def name(self, text: str) -> Any:
        """The QualifiedName of a BrowseName."""
        found = _NAME.fullmatch(text)
        return ua.QualifiedName(found[2], self.index(int(found[1]))) if found else ua.QualifiedName(text, 0)

    def index(self, number: int) -> Any:
        """The server's index of a namespace of the file. Raises ValueError for one that the file does not name."""
        if number >= len(self._spaces):
            raise ValueError(f"namespace {number} is used, and the file's NamespaceUris names {len(self._spaces) - 1}")
        return ua.Int16(self._indexes[self._spaces[number]])

    def _parsed(self, text: str) -> Any:
        found = _NODE.fullmatch(text) or _NODE.fullmatch(self._aliases.get(text, ""))
        if not found:
            if (number := getattr(ua.ObjectIds, text, None)) is not None and text.isidentifier():
                return ua.NodeId(number)
            raise ValueError(f"{text[:80]!r} is neither a NodeId nor an alias of the file")
        if found["uri"] is not None:
            if found["uri"] not in self._indexes:
                raise ValueError(f"{text[:80]!r} is in a namespace that the files do not name")
            index = ua.Int16(self._indexes[found["uri"]])
        else:
            index = self.index(int(found["index"] or 0))
        try:
            return ua.NodeId(_identifier(found["kind"], found["id"]), index)
        except ValueError as fault:
            raise ValueError(f"{text[:80]!r} is no NodeId: {fault}") from fault


def _identifier(kind: str, text: str) -> Any:
    match kind:
        case "i":
            number = int(text)
            if not 0 <= number < 1 << 32:
                raise ValueError("a number of 32 bits without sign is needed")
            return number
        case "g":
            return uuid.UUID(text)
        case "b":
            return base64.b64decode(text, validate=True)
        case _:
            return text
