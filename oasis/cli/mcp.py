"""`oasis mcp`: the MCP servers of the user's settings, and whether they work."""

import json as json_text
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from oasis.cli.options import AsJson, Project, settings_for

if TYPE_CHECKING:
    from oasis.core.tool import Tool
    from oasis.tools.mcp.server import Server
    from oasis.tools.mcp.toolset import Standing

app = typer.Typer(add_completion=False, rich_markup_mode=None, help="Show and try the MCP servers of your settings.")

_CHARS_A_TOKEN = 4


@app.callback(invoke_without_command=True)
def mcp(context: typer.Context) -> None:
    """List the MCP servers of your settings (docs/mcp.md)."""
    if not context.invoked_subcommand:
        list_servers()


@app.command("list")
def list_servers(project: Project = Path(), json: AsJson = False) -> None:
    """List the servers of your settings; nothing is started."""
    for server in _servers(project):
        row = {
            "name": server.name,
            "kind": "command" if server.command else "url",
            "place": server.place,
            "timeout_s": server.timeout_s,
            "read_only": list(server.read_only),
        }
        if json:
            typer.echo(json_text.dumps(row, ensure_ascii=False))
        else:
            reads = f"  only reads: {', '.join(server.read_only)}" if server.read_only else ""
            typer.echo(f"{server.name}  {server.place}  {server.timeout_s:g} s a call{reads}")


@app.command()
def test(
    name: Annotated[str, typer.Argument(metavar="NAME", help="One server; without it all of them.")] = "",
    project: Project = Path(),
    json: AsJson = False,
) -> None:
    """Try servers: start them, list their tools, end them.

    Exit code 1 where a server did not start or a tool was left out.
    """
    import asyncio

    from oasis.errors import ConfigError

    servers = _servers(project)
    chosen = [server for server in servers if not name or server.name == name]
    if name and not chosen:
        known = ", ".join(server.name for server in servers) or "none"
        raise ConfigError(f"There is no MCP server {name!r} in your settings. There are: {known}.")
    if asyncio.run(_test(chosen, json)):
        raise typer.Exit(1)


async def _test(servers: "list[Server]", as_json: bool) -> int:
    """Show every server and its tools; how many things were left out."""
    from oasis.agent.folders import spill_folder
    from oasis.tools.mcp.servers import connected
    from oasis.ui.clean import clean

    async with connected(servers, spill_folder()) as mcp:
        for standing in mcp.standing():
            _show(standing, [tool for tool in mcp.tools if tool.spec.name in standing.tools], as_json)
        for said in mcp.said:
            typer.echo(clean(said), err=True)
        return len(mcp.said)


def _show(server: "Standing", tools: "list[Tool]", as_json: bool) -> None:
    chars = sum(len(tool.spec.wire.decode()) for tool in tools)
    if as_json:
        row = {"name": server.name, "is_running": server.is_running, "chars": chars}
        typer.echo(json_text.dumps({**row, "tools": [_row(tool) for tool in tools]}))
        return
    if tools:
        cost = f"{chars:,} characters of every prompt, about {round(chars / _CHARS_A_TOKEN):,} tokens"
        typer.echo(f"{server.name}: {len(tools)} tool{'s' * (len(tools) != 1)}, {cost}")
    else:
        typer.echo(f"{server.name}: {'no tools' if server.is_running else 'does not run'}")
    for tool in tools:
        typer.echo(f"  {tool.spec.name}  ({tool.risk.value})  {tool.spec.description[:80]}".rstrip())


def _row(tool: "Tool") -> dict[str, Any]:
    return {**tool.spec.function()["function"], "risk": tool.risk.value}


def _servers(project: Path) -> "list[Server]":
    """The servers of the settings, by name; says where they would be set when there are none."""
    from platformdirs import user_config_path

    from oasis.config import FILE_NAME
    from oasis.tools.mcp.server import servers

    found = sorted(servers(settings_for(project).mcp), key=lambda server: server.name)
    if not found:
        place = user_config_path("oasis") / FILE_NAME
        typer.echo(f"No MCP servers are set. Add a table [mcp.NAME] to {place} (docs/mcp.md).", err=True)
    return found
