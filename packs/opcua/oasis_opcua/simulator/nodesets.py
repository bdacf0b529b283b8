"""NodeSet2 files loaded into the simulated server, in the order their models need; what cannot be is explained."""

import logging
import re
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as Xml

from oasis.errors import ToolFault
from oasis_opcua.simulator.nodeset_files import Model, examine, in_order, older
from oasis_opcua.simulator.nodeset_shape import named, shaped, with_text

if TYPE_CHECKING:
    from asyncua.server.server import Server

MOST_NAMED = 5


@dataclass(frozen=True, slots=True)
class Loaded:
    """What was loaded: nodes by model URI, and what of the files is not there as they have it, a line each."""

    nodes: dict[str, int]
    notes: tuple[str, ...] = ()


async def load(server: "Server", paths: Sequence[Path]) -> Loaded:
    """Import the files. Raises ToolFault, with the node or element at fault, for one that cannot be imported."""
    models = in_order([examine(path) for path in paths])
    counts: dict[str, int] = {}
    notes: list[str] = [note for model in models for note in older(model, models)]
    for model in models:
        notes += shaped(model.root, model.path.name)
        with _heard() as lines:
            try:
                nodes: list[Any] = await server.import_xml(xmlstring=Xml.tostring(model.root, encoding="unicode"))
            except Exception as fault:  # asyncua raises whatever its parser stumbles over
                raise ToolFault(_explained(model, fault, lines)) from fault
        notes += [f"{model.path.name}: {note}" for line in lines if (note := _dangling(line))]
        counts[model.uris[0] if model.uris else model.path.name] = len(nodes)
    return Loaded(counts, tuple(notes))


def _dangling(line: str) -> str:
    """A note of references that lead to nodes that are not there, from what the importer says of them."""
    if "could not be imported" not in line:
        return ""
    pairs = re.findall(
        r"SourceNodeId=\w+\(Identifier='?(.*?)'?, N.*?TargetNodeId=\w+\(Identifier='?(.*?)'?, N", line, re.DOTALL
    )
    shown = ", ".join(f"{source} to {target}" for source, target in pairs[:MOST_NAMED])
    more = ", …" if len(pairs) > MOST_NAMED else ""
    return f"{len(pairs)} references lead to nodes that are not there and are left out: {shown}{more}"


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
    if node is None and (quoted := re.search(r"'([^']+)'$", str(fault))):
        node = with_text(model.root, quoted[1])
    at = f" It stopped at the node {named(node)}." if node is not None else ""
    return (
        f"{model.path.name} was not loaded: asyncua cannot import it ({type(fault).__name__}: {str(fault)[:300]}).{at} "
        "Mend or leave out that node, or name a further file that holds what it refers to."
    )
