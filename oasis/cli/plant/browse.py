"""`oasis plant browse`: what is below something, as a tree."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from oasis.cli.plant.options import PARTLY, AsJson, prints_json

if TYPE_CHECKING:
    from rich.tree import Tree

    from oasis.plant.connections import Connections
    from oasis.plant.driver import Budget, Found


def browse(
    url: Annotated[str, typer.Argument(metavar="URL", help="Of the device or server.")],
    item: Annotated[str, typer.Argument(metavar="[ITEM]", help="Where to begin; default: at the top.")] = "",
    depth: Annotated[
        int | None,
        typer.Option(min=1, max=100, metavar="N", help="Levels; default: one, below an item what its scan gives."),
    ] = None,
    seconds: Annotated[float, typer.Option(min=0.1, max=3600, metavar="SECONDS", help="Stop after so long.")] = 30.0,
    requests: Annotated[
        int, typer.Option(min=1, max=1_000_000, metavar="N", help="Stop after so many requests.")
    ] = 600,
    json: AsJson = None,
) -> None:
    """Show what a device or server holds, level by level. Reads only.

    Exit code 3 when it stopped before the end, for its budget.
    """
    import asyncio

    asyncio.run(_browse(url, item, depth, (requests, seconds), prints_json(json)))


async def _browse(url: str, item: str, depth: int | None, most: tuple[int, float], as_json: bool) -> None:
    from rich.tree import Tree

    from oasis.cli.plant.targets import connected
    from oasis.plant.driver import Budget
    from oasis.ui.plant import rows
    from oasis.ui.plant.page import cell, console
    from oasis.ui.plant.progress import progress

    budget = Budget(*most)
    async with connected() as connections:
        driver = connections.open(url)
        tree = Tree(cell(f"{driver.url} {item}".strip(), "bold"))
        async with progress(budget):
            below, stopped = await _level(connections, driver.url, item, depth, budget, tree)
    if as_json:
        typer.echo(rows.line({"v": rows.VERSION, "url": driver.url, "below": below, "stopped": stopped or None}))
    else:
        console().print(tree)
        if stopped:
            typer.echo(f"Stopped before the end: {stopped}.", err=True)
    if stopped:
        raise typer.Exit(PARTLY)


async def _level(
    connections: "Connections", url: str, item: str, depth: int | None, budget: "Budget", tree: "Tree"
) -> tuple[list[dict[str, Any]], str]:
    """One level and those below it, into `tree`; as JSON, and why it is incomplete."""
    from oasis.ui.plant import rows

    done = await connections.open(url).scan([item] if item else [], budget)
    stopped = done.stopped
    names = {str(found.fields.get("name", "")) for found in done.found}
    is_whole = any(_above(found) in names for found in done.found)
    placed: dict[str, tuple[Tree, dict[str, Any]]] = {}
    below: list[dict[str, Any]] = []
    for found in done.found:
        level = str(found.fields.get("name", "")).count("/") if _above(found) in names else 0
        if depth and level >= depth:
            continue
        row = rows.found(found)
        above, at = placed.get(_above(found), (tree, {"below": below}))
        branch = above.add(_label(found))
        placed.setdefault(str(found.fields.get("name", "")), (branch, row))
        is_itself = found.item == item or found.item.partition("?")[0] == url.partition("?")[0]
        if depth and depth > 1 and not is_whole and not is_itself and not budget.stopped:
            row["below"], why = await _below(connections, url, found.item, depth - 1, budget, branch)
            stopped = stopped or why
        at.setdefault("below", []).append(row)
    return below, stopped or budget.stopped


def _above(found: "Found") -> str:
    """The path of what a thing is below, in a scan that gave a whole subtree; "." at its top."""
    return str(found.fields.get("name", "")).rpartition("/")[0] or "."


async def _below(
    connections: "Connections", url: str, item: str, depth: int, budget: "Budget", tree: "Tree"
) -> tuple[list[dict[str, Any]], str]:
    """The levels below a thing that was found; none where it is nothing that can be scanned."""
    from oasis.errors import ToolFault
    from oasis.plant.targets import is_url

    where, item = (item, "") if is_url(item) else (url, item)
    try:
        return await _level(connections, where, item, depth, budget, tree)
    except ToolFault:
        return [], ""


def _label(found: "Found") -> Any:
    from oasis.ui.plant.page import cell

    fields = "  ".join(f"{name} {value}" for name, value in found.fields.items() if value)
    return cell(f"{found.item}  {fields}".rstrip())
