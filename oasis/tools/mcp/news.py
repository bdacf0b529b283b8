"""What the model is told of servers whose tools are no longer those in the head."""

from collections.abc import Sequence

from oasis.core.tool import ToolSpec

MAX_NAMED = 8


def difference(before: Sequence[ToolSpec], now: Sequence[ToolSpec]) -> str:
    """What is new, gone and changed, by name, on one line; empty where nothing is."""
    old, new = {spec.name: spec for spec in before}, {spec.name: spec for spec in now}
    parts = (
        ("new", [name for name in new if name not in old]),
        ("gone", [name for name in old if name not in new]),
        ("changed", [name for name in new if name in old and new[name] != old[name]]),
    )
    return "; ".join(f"{what}: {listed(names)}" for what, names in parts if names)


def changed(server: str, said: str) -> str:
    """`said`: a difference, empty where there is none any more."""
    if not said:
        return f"The MCP server {server} has the tools again that it had at the beginning."
    return (
        f"The MCP server {server} changed its tools ({said}). Yours stay as they are until the conversation is "
        "compacted or a new session begins; new ones cannot be called before, gone ones give an error."
    )


def is_down(server: str) -> str:
    return f"The MCP server {server} does not run now. A call to one of its tools tries to start it."


def is_not_connected(names: Sequence[str]) -> str:
    return f"Not connected in this run: {listed(names)}. A call to one of them gives an error."


def listed(names: Sequence[str]) -> str:
    """The first of the names, and how many more there are."""
    more = f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else ""
    return f"{', '.join(names[:MAX_NAMED])}{more}"
