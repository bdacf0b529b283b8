"""A server on the SDK's own, over stdio or streamable HTTP: sdk_server FOLDER [--http PORT]."""

import asyncio
import json
import socket
import sys
from pathlib import Path
from typing import Any

import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
NAMES = ["big", "boom", "echo", "hang", "picture", "structured", "swap"]
HINTS = types.ToolAnnotations(read_only_hint=True)


class Plant:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.names = NAMES
        self.server = Server("plant", on_list_tools=self.list, on_call_tool=self.call)

    async def list(self, ctx: Any, params: Any) -> types.ListToolsResult:
        """Three tools a page."""
        at = int(params.cursor) if params and params.cursor else 0
        page = [
            types.Tool(name=n, description=n, input_schema=TEXT, annotations=HINTS) for n in self.names[at : at + 3]
        ]
        return types.ListToolsResult(tools=page, next_cursor=str(at + 3) if len(self.names) > at + 3 else None)

    async def call(self, ctx: Any, params: Any) -> types.CallToolResult:
        arguments = params.arguments or {}
        match params.name:
            case "big":
                return said("first\n" + "x\x1b[31m\n" * 100_000 + "last")
            case "boom":
                return types.CallToolResult(content=[types.TextContent(text="no such valve")], is_error=True)
            case "hang":
                await self.hang()
            case "picture":
                inner = types.TextResourceContents(uri="file:///a.st", text="A := 1;")
                picture = types.ImageContent(data="AAAA", mime_type="image/png\n[end]")
                link = types.ResourceLink(name="manual", uri="https://example.org/m.pdf")
                return types.CallToolResult(content=[picture, link, types.EmbeddedResource(resource=inner)])
            case "structured":
                return types.CallToolResult(content=[], structured_content={"speed": 42})
            case "swap":
                self.names = json.loads(arguments["text"])
                await ctx.session.send_tool_list_changed()
        return said(f"{params.name}: {arguments['text']}")

    async def hang(self) -> None:
        (self.folder / "hanging").touch()
        try:
            await asyncio.sleep(3600)
        except BaseException:
            (self.folder / "cancelled").touch()
            raise


def said(text: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=text)])


async def over_stdio(server: Server) -> None:
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


async def over_http(server: Server, port: int) -> None:
    import uvicorn

    listening = socket.create_server(("127.0.0.1", port))
    print(listening.getsockname()[1], flush=True)
    await uvicorn.Server(uvicorn.Config(server.streamable_http_app(), log_level="error")).serve([listening])


if __name__ == "__main__":
    plant = Plant(Path(sys.argv[1]))
    asyncio.run(over_http(plant.server, int(sys.argv[3])) if "--http" in sys.argv else over_stdio(plant.server))
