"""What a server's tool gave, as the model reads it: clean, bounded, and closed by a line of Oasis' own."""

import asyncio
import json
from pathlib import Path

import mcp_types as types

from oasis.core.items import Status
from oasis.core.tool import Outcome
from oasis.tools.clip import one_line
from oasis.tools.mcp.plain import cut
from oasis.tools.spill import new_file, told


async def outcome(result: types.CallToolResult, server: str, spill: Path) -> Outcome:
    """The text of `result`; what is too long for a prompt is kept whole in a file of `spill`."""
    return await asyncio.to_thread(_spelled, result, server, spill)


def _spelled(result: types.CallToolResult, server: str, spill: Path) -> Outcome:
    text = "\n".join(part for part in map(_text, result.content) if part)
    if not text and result.structured_content is not None:
        text = json.dumps(result.structured_content, ensure_ascii=False, indent=1)
    raw = new_file(spill, "mcp")
    try:
        raw.write_bytes(text.encode("utf-8", "replace"))
        shown = told(raw)
    finally:
        raw.unlink(missing_ok=True)
    failed = ["it says that this failed"] if result.is_error else []
    said = shown.closed(f"from the MCP server {server}", *failed, *shown.notes)
    return Outcome(said, Status.ERROR if result.is_error else Status.OK)


def _text(part: types.ContentBlock) -> str:
    """One part of a result as text. Pictures and sounds are named, not sent."""
    match part:
        case types.TextContent():
            return part.text
        case types.ImageContent() | types.AudioContent():
            return f"({one_line(cut(part.mime_type, 60))}, {len(part.data) * 3 // 4:,} bytes, not shown)"
        case types.ResourceLink():
            return f"({one_line(cut(part.name, 100))}: {one_line(cut(str(part.uri), 500))})"
        case types.EmbeddedResource():
            inner = part.resource
            if isinstance(inner, types.TextResourceContents):
                return inner.text
            return f"({one_line(cut(str(inner.uri), 500))}, {len(inner.blob) * 3 // 4:,} bytes, not shown)"
