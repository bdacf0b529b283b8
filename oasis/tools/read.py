"""`read`: a file's text, or what is in a folder."""

import codecs
import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from oasis import resources
from oasis.core.tool import Arguments, Outcome, Preview, Risk, Tool
from oasis.errors import ToolFault
from oasis.tools import encoding, lines, walk
from oasis.tools.clip import MAX_CHARS
from oasis.tools.encoding import Form
from oasis.tools.workspace import MAX_LOADED_BYTES, Workspace

MAX_LINES = 400
MAX_LINE_CHARS = 2_000
MAX_ENTRIES = 300
_BLOCK_BYTES = 1 << 18


def tool(workspace: Workspace) -> Tool:
    async def preview(arguments: Arguments) -> Preview:
        return Preview(f"Read {arguments['path']}", workspace.shown(workspace.to_read(arguments["path"])))

    async def run(arguments: Arguments) -> Outcome:
        path = workspace.to_read(arguments["path"])
        try:
            if path.is_dir():
                return Outcome(_listing(workspace, path))
            return Outcome(_file(workspace, path, arguments))
        except OSError as fault:
            raise ToolFault(f"{workspace.shown(path)} cannot be read: {fault.strerror or fault}.") from fault

    return Tool(resources.tool_spec("read"), Risk.READ, preview, run)


@dataclass(slots=True)
class Window:
    """A part of a text: whole lines from `first` on, or one line from `column` on."""

    first: int
    column: int
    max_lines: int
    shown: list[str]
    clipped: list[int]
    chars: int = 0
    total_lines: int = 0
    open_chars: int = 0
    go_on: tuple[int, int] | None = None
    ends_with_newline: bool = True


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
    window = Window(first, column, min(arguments.get("lines", MAX_LINES), 5_000), [], [])
    for block in _blocks(path, form):
        _take(window, block)
    _close(window)
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


def _take(window: Window, block: str) -> None:
    """Go through a block: count its lines, keep those inside the window."""
    start = 0
    while start < len(block):
        end = block.find("\n", start)
        if window.go_on and end >= 0:
            window.total_lines += block.count("\n", start)
            tail = block.rfind("\n") + 1
            window.open_chars = len(block) - tail
            return
        stop = len(block) if end < 0 else end
        _piece(window, block[start:stop])
        window.open_chars += stop - start
        if end >= 0:
            _end_line(window)
        start = stop + 1 if end >= 0 else stop


def _piece(window: Window, piece: str) -> None:
    """Keep what a line's limit and the window's leave of the next piece of the current line."""
    number = window.total_lines + 1
    if number < window.first or window.go_on:
        return
    at = window.open_chars
    if at == 0:
        if len(window.shown) >= window.max_lines or window.chars >= MAX_CHARS:
            window.go_on = (number, 1)
            return
        window.shown.append("")
    skip = window.column - 1 if number == window.first else 0
    alone = window.max_lines == 1 or skip
    room = min(MAX_CHARS - window.chars, (MAX_CHARS if alone else MAX_LINE_CHARS) - len(window.shown[-1]))
    wanted = piece[max(0, skip - at) :]
    window.shown[-1] += wanted[:room]
    window.chars += min(len(wanted), room)
    if len(wanted) > room and number not in window.clipped:
        window.clipped.append(number)


def _end_line(window: Window) -> None:
    if window.open_chars == 0:
        _piece(window, "")
    window.total_lines += 1
    window.chars += 1
    window.open_chars = 0


def _close(window: Window) -> None:
    if window.open_chars:
        window.ends_with_newline = False
        window.total_lines += 1


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
    if window.go_on and last < window.total_lines:
        foot.append(f"more: from={window.go_on[0]}")
    return "\n".join([head, *window.shown, f"[{'; '.join(foot) or 'end of file'}]"])


def _listing(workspace: Workspace, folder: Path) -> str:
    entries = walk.entries(workspace.root, folder)
    shown = [e.name + "/" if e.is_dir() else f"{e.name} {e.stat().st_size:,}" for e in entries[:MAX_ENTRIES]]
    more = f"; {len(entries) - MAX_ENTRIES} more, search with a glob" if len(entries) > MAX_ENTRIES else ""
    return "\n".join([f"[folder {workspace.shown(folder)}]", *shown, f"[{len(entries)} entries, sizes in bytes{more}]"])
