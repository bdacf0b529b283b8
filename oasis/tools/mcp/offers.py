"""What a server offers, as it stands in the head: names made safe and unique, texts cleaned, sizes capped.

All of it depends on the server's own list alone, so another server changes nothing here.
"""

import hashlib
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from oasis.core.tool import ToolSpec
from oasis.tools.clip import one_line
from oasis.tools.mcp.plain import cut, plain
from oasis.tools.mcp.schema import cleaned
from oasis.tools.mcp.server import Server

MAX_NAME_CHARS = 64
MAX_DESCRIPTION_CHARS = 800
MAX_SPEC_CHARS = 4_000
MAX_TOOLS = 64
MAX_SERVER_CHARS = 40_000
"""About 10,000 tokens in every prompt; what comes after in order of names is left out, and said."""
_NAMED = 5


@dataclass(frozen=True, slots=True)
class Listed:
    """A tool as the server lists it."""

    name: str
    description: str
    schema: object


@dataclass(frozen=True, slots=True)
class Offer:
    """A tool as the model sees it, and the name the server knows it by."""

    tool: str
    spec: ToolSpec


def offers(server: Server, listed: Sequence[Listed], taken: Collection[str] = ()) -> tuple[list[Offer], list[str]]:
    """The tools of one server in order of its names, and what there is to say of those left out.

    `taken`: names that other tools have.
    """
    used = {name.casefold() for name in taken}
    made: list[Offer] = []
    faults: dict[str, list[str]] = {}
    room = MAX_SERVER_CHARS
    for tool in _distinct(listed, faults):
        try:
            spec = _spec(_name(server, tool.name, used), tool)
        except ValueError as fault:
            faults.setdefault(str(fault), []).append(tool.name)
            continue
        chars = len(spec.wire.decode())
        if len(made) == MAX_TOOLS or chars > room:
            why = f"a server may have {MAX_TOOLS} tools and {MAX_SERVER_CHARS:,} characters in the head"
            faults.setdefault(why, []).append(tool.name)
            continue
        room -= chars
        used.add(spec.name.casefold())
        made.append(Offer(tool.name, spec))
    return made, [_said(server, why, names) for why, names in faults.items()]


def _distinct(listed: Sequence[Listed], faults: dict[str, list[str]]) -> list[Listed]:
    """One tool a name, in order of names. Of several the one that sorts first, whatever the order they came in."""
    kept: dict[str, Listed] = {}
    for tool in sorted(listed, key=lambda tool: (tool.name, tool.description, repr(tool.schema))):
        if tool.name in kept:
            faults.setdefault("another one has the same name", []).append(tool.name)
        else:
            kept[tool.name] = tool
    return list(kept.values())


def _name(server: Server, tool: str, used: Collection[str]) -> str:
    """`server_tool` of letters, digits and `_`; with eight digits of a hash where that is too long or taken."""
    safe = re.sub(r"[^A-Za-z0-9_]", "_", tool)
    name = f"{server.prefix}_{safe}"
    if safe.strip("_") and len(name) <= MAX_NAME_CHARS and name.casefold() not in used:
        return name
    mark = hashlib.sha256(f"{server.name}\0{tool}".encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{name[: MAX_NAME_CHARS - 9]}_{mark}"


def _spec(name: str, tool: Listed) -> ToolSpec:
    """Raises ValueError, in words, for what cannot be made small enough."""
    description = plain(tool.description, MAX_DESCRIPTION_CHARS)
    for is_terse in (False, True):
        spec = ToolSpec(name, description, cleaned(tool.schema, is_terse=is_terse))
        if len(spec.wire.decode()) <= MAX_SPEC_CHARS:
            return spec
    raise ValueError(f"its schema is longer than {MAX_SPEC_CHARS:,} characters")


def _said(server: Server, why: str, names: Sequence[str]) -> str:
    listed = ", ".join(one_line(cut(name, 60)) for name in names[:_NAMED])
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"MCP server {server.name}: left out {listed}{more}: {why}."
