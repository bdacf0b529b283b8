"""`read`: a file's text, or what is in a folder."""

import codecs
import contextlib
import io
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from oasis import resources
from oasis.core.tool import Arguments, Outcome, Preview, Risk, Tool
from oasis.errors import ToolFault
from oasis.tools import encoding, lines, walk
from oasis.tools.clip import MAX_CHARS, one_line
from oasis.tools.encoding import Form
from oasis.tools.window import Window
from oasis.tools.workspace import MAX_LOADED_BYTES, Workspace

MAX_LINES = 400
MAX_ENTRIES = 300
_BLOCK_BYTES = 1 << 18


def tool(workspace: Workspace) -> Tool:
    async def preview(arguments: Arguments) -> Preview:
        name = workspace.shown(workspace.to_read(arguments["path"]))
        return Preview(f"Read {name}", name)

    async def run(arguments: Arguments) -> Outcome:
        path = workspace.to_read(arguments["path"])
        try:
            if path.is_dir():
                return Outcome(_listing(workspace, path))
            return Outcome(_file(workspace, path, arguments))
        except OSError as fault:
            raise ToolFault(f"{workspace.shown(path)} cannot be read: {fault.strerror or fault}.") from fault

    return Tool(resources.tool_spec("read"), Risk.READ, preview, run)


def _file(workspace: Workspace, path: Path, arguments: Arguments) -> str:
    first, column = arguments.get("from", 1), arguments.get("column", 1)
    head = _sample(path)
    name = workspace.shown(path)
    if not head:
        workspace.saw(path, head)
        return f"[{name} is empty]"
    form = encoding.detect(head)
    if form is None:
        return f"[{name} is binary, {path.stat().st_size:,} bytes; it begins with {head[:16].hex(' ')}]"
    window = Window(first, column, min(arguments.get("lines", MAX_LINES), MAX_CHARS))
    for block in _blocks(path, form):
        window.take(block)
    window.close()
    if first > window.total_lines:
        raise ToolFault(f"{name} has {window.total_lines} lines; from={first} is after its end.")
    _note_seen(workspace, path, head, window)
    ends = lines.style_name(form.decode(head[len(form.bom) : 1 << 16]))
    return _spelled(name, window, ", ".join(p for p in (form.name, ends) if p))


def _sample(path: Path) -> bytes:
    """Enough of the file to know its encoding: all of it where it can be changed."""
    with path.open("rb") as file:
        return file.read() if path.stat().st_size <= MAX_LOADED_BYTES else file.read(MAX_LOADED_BYTES // 8)


def _note_seen(workspace: Workspace, path: Path, data: bytes, window: Window) -> None:
    if len(data) == path.stat().st_size:
        whole = range(window.first, window.first + len(window.shown))
        is_cut = bool(window.clipped) or window.column > 1
        workspace.saw(path, data, range(0) if is_cut else whole, window.total_lines)


def _blocks(path: Path, form: Form) -> Iterator[str]:
    """The file's text with LF only, in blocks that do not end inside a CRLF."""
    errors = "surrogateescape" if form.codec == "utf-8" else "replace"
    decode = io.IncrementalNewlineDecoder(codecs.getincrementaldecoder(form.codec)(errors), translate=True).decode
    with path.open("rb") as file:
        file.seek(len(form.bom))
        while data := file.read(_BLOCK_BYTES):
            yield encoding.shown(decode(data))
    yield encoding.shown(decode(b"", final=True))


def _spelled(name: str, window: Window, kind: str) -> str:
    last = window.first + len(window.shown) - 1
    notes = [f"{name} lines {window.first}-{last} of {window.total_lines}", kind]
    if last == window.total_lines and not window.ends_with_newline:
        notes.append("no line end after the last line")
    head = f"[{'; '.join(notes)}]"
    foot: list[str] = []
    for number in window.clipped[:3]:
        line = window.shown[number - window.first]
        column = (window.column if number == window.first else 1) + len(line)
        foot.append(f"line {number} goes on: from={number} column={column} lines=1, or search it")
    if len(window.clipped) > 3:
        foot.append(f"{len(window.clipped) - 3} more lines are clipped")
    if window.go_on:
        foot.append(f"more: from={window.go_on}")
    return "\n".join([head, *window.shown, f"[{'; '.join(foot) or 'end of file'}]"])


def _listing(workspace: Workspace, folder: Path) -> str:
    entries = walk.entries(workspace.root, folder)
    shown = [_entry(entry) for entry in entries[:MAX_ENTRIES]]
    more = f"; {len(entries) - MAX_ENTRIES} more, search with a glob" if len(entries) > MAX_ENTRIES else ""
    return "\n".join([f"[folder {workspace.shown(folder)}]", *shown, f"[{len(entries)} entries, sizes in bytes{more}]"])


def _entry(entry: os.DirEntry[str]) -> str:
    """One name of a listing, on one line whatever the name is. Links are shown and not followed."""
    name = one_line(entry.name)
    with contextlib.suppress(OSError):
        if entry.is_symlink():
            return f"{name} -> {one_line(Path(entry.path).readlink().as_posix())}"
        if entry.is_dir(follow_symlinks=False):
            return f"{name}/"
        found = entry.stat(follow_symlinks=False)
        return f"{name} {found.st_size:,}" if stat.S_ISREG(found.st_mode) else f"{name} (device, pipe or socket)"
    return f"{name} (cannot be looked at)"
