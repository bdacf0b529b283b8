"""The XML of device files as other people write it: any encoding, a declared document type, parts that are large.

Read with expat: no entity is expanded, nothing is fetched. Branches that no reader here asks for are left out while
they go by, so that a file of many megabytes becomes a small tree.
"""

import codecs
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element
from xml.parsers import expat

from oasis.errors import ToolFault

MOST_BYTES = 64 << 20
_LEFT_OUT = frozenset({"Profile", "Dictionary", "ImageData16x14", "ImageFile16x14", "ConfigData", "Data", "InitCmd"})
_DECLARED = re.compile(rb"""\A\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([A-Za-z0-9._:-]{1,40})["']""")
_BY_MARK = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
    (b"<\0?\0", "utf-16-le"),
    (b"\0<\0?", "utf-16-be"),
)
_FALLBACK = "cp1252"
"""Files that say UTF-8 and were written on a Windows machine without it."""


class _Entity(Exception):
    """The file declares an entity."""


def root_of(path: Path) -> Element:
    """The root of an XML file. Raises ToolFault for one that cannot be read, is too large or is no XML."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise ToolFault(f"{path.name} is larger than {MOST_BYTES >> 20} MiB; that is no ESI file.")
        data = path.read_bytes()
    except OSError as fault:
        raise ToolFault(f"The ESI file {path.name} cannot be read: {fault.strerror}.") from fault
    if not data.strip():
        raise ToolFault(f"{path.name} is empty.")
    try:
        return _parsed(_text(data))
    except _Entity:
        raise ToolFault(f"{path.name} declares entities; an ESI file has none, so it was not read.") from None
    except expat.ExpatError as fault:
        raise ToolFault(f"{path.name} is no XML: {fault}.") from fault


def _text(data: bytes) -> str:
    """The file's text: by its byte order mark, else by what it declares, else as UTF-8 or what Windows writes."""
    marked = next((name for mark, name in _BY_MARK if data.startswith(mark)), "")
    declared = _DECLARED.match(data)
    for name in (marked, declared[1].decode("ascii") if declared else "", "utf-8"):
        try:
            return data.decode(name or "utf-8").removeprefix("\ufeff").lstrip()
        except (LookupError, UnicodeError):
            continue
    return data.decode(_FALLBACK, "replace").lstrip()


def _parsed(text: str) -> Element:
    """The tree without the branches that are left out. Raises ExpatError, _Entity."""
    parser = expat.ParserCreate("utf-8", namespace_separator="}")
    parser.buffer_text = True
    builder = _Builder()
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.data
    parser.EntityDeclHandler = builder.entity
    parser.Parse(text.encode("utf-8", "replace"), True)
    return builder.close()


class _Builder:
    """Puts elements together; `_depth` counts within a branch that is left out."""

    def __init__(self) -> None:
        self._tree = ElementTree.TreeBuilder()
        self._depth = 0
        self.close: Callable[[], Element] = self._tree.close

    def start(self, name: str, attributes: dict[str, str]) -> None:
        tag = name.rpartition("}")[2]
        if self._depth or tag in _LEFT_OUT:
            self._depth += 1
            return
        self._tree.start(tag, {key.rpartition("}")[2]: value for key, value in attributes.items()})

    def end(self, name: str) -> None:
        if self._depth:
            self._depth -= 1
        else:
            self._tree.end(name.rpartition("}")[2])

    def data(self, text: str) -> None:
        if not self._depth:
            self._tree.data(text)

    def entity(self, *declared: Any) -> None:
        raise _Entity


def child(element: Element | None, tag: str) -> Element | None:
    """The first child with a tag."""
    return element.find(tag) if element is not None else None


def text(element: Element | None, tag: str) -> str:
    """The text of a child, empty where there is none."""
    found = child(element, tag)
    return (found.text or "").strip() if found is not None else ""


def name(element: Element | None) -> str:
    """The English name (LcId 1033) where there are several, else the first that is not empty; on one line."""
    names = [found for found in element.findall("Name") if (found.text or "").strip()] if element is not None else []
    chosen = next((found for found in names if found.get("LcId", "").strip() == "1033"), names[0] if names else None)
    return " ".join((chosen.text or "").split()) if chosen is not None else ""


def number(written: str | None) -> int:
    """A number as ESI files write it: 16, #x10, 0x10; 0 for what is none."""
    digits = (written or "").strip()
    try:
        return int(digits[2:], 16) if digits[:2].lower() in {"#x", "0x"} else int(digits or "0")
    except ValueError:
        return 0


def flag(written: str | None) -> bool:
    """A truth value as XML writes it."""
    return (written or "").strip().lower() in {"1", "true"}
