"""Scanning a server: what it is and offers, or what lies below some of its nodes."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from oasis.plant.driver import Budget, Found, Scan
from oasis.plant.values import Point, spelled
from oasis_opcua import browse, items
from oasis_opcua.about import PROPERTIES, About, Atlas
from oasis_opcua.address import Address
from oasis_opcua.browse import Branch
from oasis_opcua.endpoints import Server
from oasis_opcua.items import BASE, Node
from oasis_opcua.link import Link
from oasis_opcua.reader import of_value
from oasis_opcua.structures import opened
from oasis_opcua.untyped import ua

OBJECTS = Node(BASE, "i", "85")
SERVER = "2253"
MOST_SHOWN = 400
"""Variables of a scan whose type and value are read as well: as many as are shown."""
MOST_NAMES = 12
"""Names of a variable's numbers that stand in its line."""
_PROPERTY = ua.NodeId(ua.ObjectIds.PropertyType)


def of_server(address: Address, server: Server) -> list[Found]:
    """The server and its endpoints, as discovery gives them."""
    found = [Found("server", address.url, {"name": server.name, "application": server.application})]
    base = replace(address, policy="", mode="SignAndEncrypt")
    for endpoint in server.endpoints:
        if not endpoint.is_usable:
            found.append(Found("endpoint", str(endpoint), {"use": "none: its policy is broken or unknown"}))
            continue
        options = replace(base, policy=endpoint.policy, mode=endpoint.mode if endpoint.mode != "None" else base.mode)
        found.append(Found("endpoint", options.url, {"users": " or ".join(endpoint.users)}))
    return found


def forwarded(address: Address, server: Server) -> tuple[str, ...]:
    """What is said where the server calls itself otherwise than it was reached: behind a forwarded port."""
    own = {endpoint.url for endpoint in server.endpoints}
    if not own or any(_place(url) == _place(address.wire) for url in own):
        return ()
    return (
        f"The server calls itself {', '.join(sorted(own))[:200]}; the address given here is used instead "
        "(a forwarded port, or another network).",
    )


async def top(link: Link, atlas: Atlas, budget: Budget) -> tuple[list[Found], tuple[str, ...], str]:
    """Identity, namespaces and the first level of nodes; notes; why it stopped."""
    found = [
        Found("namespace", items.spelled_uri(uri), {"index now": str(index)})
        for index, uri in enumerate(link.namespaces)
        if uri != BASE
    ]
    walked = await browse.walk(link, [OBJECTS], budget, depth=1)
    branches = [b for b in walked.branches if str(link.node(b.wire)) != f"i={SERVER}"]
    found += (await _described(link, atlas, branches, budget))[0]
    limits = ", ".join(f"{name} {most}" for name, most in sorted(link.stated.items()))
    notes = [f"session: {link.endpoint}"]
    notes += [f"nodes in one request: {limits}"] if limits else []
    notes.append("Scan with items (nodes) to see what lies below them.")
    return found, tuple(notes), walked.stopped


async def below(link: Link, atlas: Atlas, asked: Sequence[str], budget: Budget) -> Scan:
    """Every node below the items."""
    roots = [items.parse(text).node for text in asked]
    walked = await browse.walk(link, roots, budget)
    found, folded = await _described(link, atlas, walked.branches, budget)
    notes: list[str] = []
    variables = sum(branch.kind == "variable" for branch in walked.branches)
    if variables > MOST_SHOWN:
        notes.append(
            f"types and values of the first {MOST_SHOWN} of {variables:,} variables were read; scan deeper nodes"
        )
    if folded:
        notes.append(f"{folded} nodes that say unit, range or names stand in their variables' lines")
    if not found and not walked.stopped:
        notes.append("nothing lies below; read it as an item for its value")
    return Scan(tuple(found), tuple(notes), walked.stopped)


async def _described(link: Link, atlas: Atlas, branches: Sequence[Branch], budget: Budget) -> tuple[list[Found], int]:
    """The branches as found, the first variables with type, unit and value; and how many nodes were left out, since
    what they say stands with the variable above them."""
    variables = [branch for branch in branches[: MOST_SHOWN * 2] if branch.kind == "variable"]
    above = {branch.wire for branch in variables}
    parts = {b.wire: b for b in branches if b.type == _PROPERTY and b.name in PROPERTIES and b.parent in above}
    shown = [branch.wire for branch in variables if branch.wire not in parts][:MOST_SHOWN]
    abouts = await atlas.learn(shown, budget)
    folded = {wire for wire, b in parts.items() if (about := abouts.get(b.parent)) and b.name in about.says}
    shown = [branch.wire for branch in variables if branch.wire not in folded][:MOST_SHOWN]
    abouts = await atlas.learn(shown, budget)
    values = await link.read(shown, ua.AttributeIds.Value, budget)
    data = dict(zip(shown, await opened(link, atlas, values), strict=False))
    found = [
        _found(link, branch, abouts.get(branch.wire), data.get(branch.wire))
        for branch in branches
        if branch.wire not in folded
    ]
    return found, len(folded)


def _found(link: Link, branch: Branch, about: About | None, data: Any) -> Found:
    """One node; `about` and `data` where it is a variable that was read."""
    node = link.node(branch.wire)
    fields = {"name": "/".join(branch.path)}
    if about is not None:
        shown = [f"{number} {name}" for number, name in list(about.names.items())[:MOST_NAMES]]
        more = ["…"] if len(about.names) > MOST_NAMES else []
        fields["type"] = ", ".join([str(about), *shown, *more])
        if data is not None:
            readings = of_value(link, Point(str(node)), items.Item("value", node), data, about)
            text = ", ".join(spelled(r.value) if r.value is not None else r.status for r in readings[:4])
            rest = f", … ({len(readings)})" if len(readings) > 4 else ""
            fields["value"] = f"{text[:160]}{rest} {about.unit}".rstrip()
    return Found(branch.kind, str(node), fields)


def _place(url: str) -> str:
    return url.removeprefix("opc.tcp://").partition("/")[0].lower()
