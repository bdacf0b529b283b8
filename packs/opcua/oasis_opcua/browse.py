"""Walking an address space in batches: one Browse request for many nodes, continuation points drained."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from oasis.plant.driver import Budget
from oasis_opcua import faults
from oasis_opcua.items import Node
from oasis_opcua.link import Link
from oasis_opcua.refusals import Refused
from oasis_opcua.texts import plain
from oasis_opcua.untyped import status_name, ua

MOST_NODES = 50_000
"""Nodes in one walk; one that would find more says so."""
MOST_NAME = 80
_CLASSES = {1: "object", 2: "variable", 4: "method", 8: "object type", 16: "variable type", 32: "reference type"} | {
    64: "data type",
    128: "view",
}
_HIERARCHICAL = ua.NodeId(ua.ObjectIds.HierarchicalReferences)
_ENCODING = ua.NodeId(ua.ObjectIds.HasEncoding)
_NEEDED = (
    ua.BrowseResultMask.NodeClass | ua.BrowseResultMask.BrowseName | ua.BrowseResultMask.TypeDefinition
)  # smaller replies than with everything


@dataclass(frozen=True, slots=True)
class Branch:
    """A node that was found. `path` are the browse names from where the walk began; `parent` is the node above it."""

    wire: Any
    kind: str
    path: tuple[str, ...]
    type: Any
    parent: Any

    @property
    def name(self) -> str:
        return self.path[-1]


@dataclass(frozen=True, slots=True)
class Walk:
    """What a walk found, in the order of levels. `stopped` is why it is truncated, empty when it is whole."""

    branches: tuple[Branch, ...]
    stopped: str = ""


async def walk(link: Link, roots: Sequence[Node], budget: Budget, depth: int = 64) -> Walk:
    """Every node below the roots, each once. Raises ToolFault for a root that the server does not have."""
    wires = [await link.wire(root) for root in roots]
    seen = set(wires)
    found: list[Branch] = []
    level: list[tuple[Any, tuple[str, ...], str]] = [(wire, (), "") for wire in wires]
    for below in range(depth):
        asked = [_description(wire, _HIERARCHICAL) for wire, _, _ in level]
        types = [place for place in level if place[2] == "data type" or not below]
        asked += [_description(wire, _ENCODING) for wire, _, _ in types]
        answers = await _answers(link, asked, budget)
        if not below:
            _check_roots(link, roots, answers)
        upcoming: list[tuple[Any, tuple[str, ...], str]] = []
        for (parent, path, _), (references, _) in zip([*level, *types], answers, strict=False):
            for reference in references:
                if reference.NodeId in seen:
                    continue
                if len(found) >= MOST_NODES:
                    return Walk(tuple(found), f"it found {MOST_NODES:,} nodes, the most of one scan")
                seen.add(reference.NodeId)
                branch = _branch(reference, parent, path)
                found.append(branch)
                if not getattr(reference.NodeId, "ServerIndex", 0):
                    upcoming.append((reference.NodeId, branch.path, branch.kind))
        if cut := _cut(answers, len(asked), budget):
            return Walk(tuple(found), cut)
        if not upcoming:
            break
        level = upcoming
    return Walk(tuple(found))


def _branch(reference: Any, parent: Any, path: tuple[str, ...]) -> Branch:
    kind = _CLASSES.get(int(reference.NodeClass), "node")
    name = plain(reference.BrowseName.Name, MOST_NAME)
    return Branch(reference.NodeId, kind, (*path, name), reference.TypeDefinition, parent)


def _description(wire: Any, references: Any) -> Any:
    return ua.BrowseDescription(
        NodeId=wire,
        BrowseDirection=ua.BrowseDirection.Forward,
        ReferenceTypeId=references,
        IncludeSubtypes=True,
        NodeClassMask=0,
        ResultMask=_NEEDED,
    )


async def _answers(link: Link, asked: Sequence[Any], budget: Budget) -> list[tuple[list[Any], str]]:
    """References and status of each description, drained. What found no continuation point is asked again, fewer at
    once; fewer answers than descriptions: the budget is spent."""

    async def send(part: Sequence[Any]) -> list[Any]:
        results: list[Any] = await link.session.browse(ua.BrowseParameters(NodesToBrowse=list(part)))
        return await _drained(link, part, results, budget)

    return await link.in_parts("browse", asked, send, budget)


async def _drained(
    link: Link, part: Sequence[Any], results: Sequence[Any], budget: Budget
) -> list[tuple[list[Any], str]]:
    """The whole of each result of one Browse request."""
    whole = [(list(result.References or ()), status_name(result.StatusCode.value)) for result in results]
    points = [(n, result.ContinuationPoint) for n, result in enumerate(results) if result.ContinuationPoint]
    while points:
        if not budget.spend():
            await _release(link, [point for _, point in points])
            for n, _ in points:
                whole[n] = (whole[n][0], "truncated")
            return whole
        parameters = ua.BrowseNextParameters(
            ReleaseContinuationPoints=False, ContinuationPoints=[point for _, point in points]
        )
        more: list[Any] = await link.session.browse_next(parameters)
        for (n, _), result in zip(points, more, strict=True):
            status = whole[n][1] if result.StatusCode.is_good() else "truncated"
            whole[n] = ([*whole[n][0], *(result.References or ())], status)
        points = [(n, r.ContinuationPoint) for (n, _), r in zip(points, more, strict=True) if r.ContinuationPoint]
    late = [n for n, (_, status) in enumerate(whole) if status == "BadNoContinuationPoints"]
    if late and len(late) < len(part):
        again = [part[n] for n in late]
        if budget.spend():
            results = await link.session.browse(ua.BrowseParameters(NodesToBrowse=again))
            for n, answer in zip(late, await _drained(link, again, results, budget), strict=True):
                whole[n] = answer
    return whole


async def _release(link: Link, points: Sequence[Any]) -> None:
    """Give continuation points back, so that the server does not hold them until the session ends."""
    parameters = ua.BrowseNextParameters(ReleaseContinuationPoints=True, ContinuationPoints=list(points))
    await link.session.browse_next(parameters)


def _cut(answers: Sequence[tuple[list[Any], str]], asked: int, budget: Budget) -> str:
    """Why this level of the walk is not whole; empty when it is."""
    if len(answers) < asked:
        return f"truncated: {budget.stopped or 'its budget is spent'}"
    cut = [status for _, status in answers if status in ("truncated", "BadNoContinuationPoints")]
    if cut:
        why = budget.stopped or faults.status("BadNoContinuationPoints")
        return f"truncated: {len(cut)} nodes have more references than were read ({why})"
    return ""


def _check_roots(link: Link, roots: Sequence[Node], answers: Sequence[tuple[list[Any], str]]) -> None:
    """An unknown node is a fault: its list of children would be empty, as that of a node without any."""
    for root, (_, status) in zip(roots, answers, strict=False):
        if status.startswith("Bad") and status != "BadNoContinuationPoints":
            raise Refused(f"{link.where}: {root}: {faults.status(status)}.", status)
