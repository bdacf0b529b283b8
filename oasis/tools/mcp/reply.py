"""What a server's tool gave, as the model reads it: clean, bounded, and closed by a line of Oasis' own."""

import asyncio
import contextlib
import json
from pathlib import Path

import mcp_types as types

from oasis.core.items import Status
from oasis.core.tool import Outcome
from oasis.tools import output
from oasis.tools.clip import one_line
from oasis.tools.mcp.plain import cut

MAX_KEPT_BYTES = 256 << 20


async def outcome(result: types.CallToolResult, server: str, spill: Path) -> Outcome:
    """The text of `result`; what is too long for a prompt is kept whole in a file of `spill`."""
    return await asyncio.to_thread(_spelled, result, server, spill)


def _spelled(result: types.CallToolResult, server: str, spill: Path) -> Outcome:
    text = "\n".join(part for part in map(_text, result.content) if part)
    if not text and result.structured_content is not None:
        text = json.dumps(result.structured_content, ensure_ascii=False, indent=1)
    raw = _new_file(spill)
    clean = raw.with_suffix(".txt")
    try:
        raw.write_bytes(text.encode("utf-8", "replace"))
        chars, lost = output.cleaned(raw, clean)
        head, tail = output.ends(clean, chars)
    finally:
        raw.unlink(missing_ok=True)
    notes = [f"from the MCP server {server}", *(["it says that this failed"] if result.is_error else []), *lost.notes()]
    body = head.rstrip("\n")
    if tail:
        left_out = chars - len(head) - len(tail)
        body = f"{body}\n[… {left_out:,} characters left out …]\n{tail.rstrip()}"
        notes.append(f"whole output: {clean.as_posix()} (read or search it)")
    else:
        clean.unlink()
    closing = f"[{'; '.join(notes)}]"
    return Outcome(f"{body}\n{closing}" if body else closing, Status.ERROR if result.is_error else Status.OK)


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


def _new_file(spill: Path) -> Path:
    """A new empty file of the owner's only; the oldest outputs make room."""
    spill.mkdir(parents=True, exist_ok=True, mode=0o700)
    _make_room(spill)
    number = 1 + len(list(spill.glob("mcp-*")))
    while True:
        raw = spill / f"mcp-{number}.raw"
        with contextlib.suppress(FileExistsError):
            if not raw.with_suffix(".txt").exists():
                raw.touch(mode=0o600, exist_ok=False)
                return raw
        number += 1


def _make_room(spill: Path) -> None:
    kept: list[tuple[float, int, Path]] = []
    for file in spill.glob("mcp-*"):
        with contextlib.suppress(OSError):
            kept.append((file.stat().st_mtime, file.stat().st_size, file))
    total_bytes = 0
    for _, size, file in sorted(kept, reverse=True):
        total_bytes += size
        if total_bytes > MAX_KEPT_BYTES:
            with contextlib.suppress(OSError):
                file.unlink()
