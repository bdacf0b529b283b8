"""What a server says it is."""

from typing import Any

from oasis_opcua.about import value_of
from oasis_opcua.link import Link
from oasis_opcua.texts import plain
from oasis_opcua.untyped import ua

# Part 6, Annex A: Server.ServerArray, and Server.ServerStatus.BuildInfo with its parts
_ASKED = {"application": 2254, "product": 2262, "name": 2261, "version": 2264, "build": 2265}


async def said(link: Link) -> str:
    """Application URI, product, version and build; neither namespaces nor their order."""
    nodes = [ua.NodeId(number) for number in _ASKED.values()]
    answers: list[Any] = await link.read(nodes, ua.AttributeIds.Value)
    parts = {name: value_of(answer) for name, answer in zip(_ASKED, answers, strict=True)}
    servers: Any = parts["application"]
    application = str(servers[0]) if servers else ""
    shown = [application, str(parts["name"] or parts["product"] or "")]
    shown += [f"version {parts['version']}"] if parts["version"] else []
    shown += [f"build {parts['build']}"] if parts["build"] else []
    return ", ".join(plain(part, 80) for part in shown if part)
