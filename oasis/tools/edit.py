"""`edit`: replace one text in a file; every byte outside of what changes stays."""

from dataclasses import dataclass
from pathlib import Path

from oasis import resources
from oasis.core.tool import Arguments, Outcome, Preview, Risk, Tool
from oasis.errors import ToolFault
from oasis.tools import atomic, diff, encoding, instructions, lines, match
from oasis.tools.clip import clip_line
from oasis.tools.encoding import Form
from oasis.tools.lines import Lines
from oasis.tools.match import Span
from oasis.tools.restyle import restyle
from oasis.tools.workspace import Workspace
from oasis.tools.write import encoded

MAX_SHOWN_DIFF_CHARS = 2_000
MAX_SHOWN_LINE_CHARS = 300


def tool(workspace: Workspace) -> Tool:
    async def preview(arguments: Arguments) -> Preview:
        change = _planned(workspace, arguments)
        name = workspace.shown(change.path)
        plain = Preview(f"Edit {name}", name, diff.unified(name, change.before, change.after))
        return instructions.marked(workspace, change.path, plain)

    async def run(arguments: Arguments) -> Outcome:
        change = _planned(workspace, arguments)
        atomic.replace(change.path, change.data, workspace.shown(change.path))
        workspace.saw(change.path, change.data)
        return Outcome(_report(workspace.shown(change.path), change))

    return Tool(resources.tool_spec("edit"), Risk.WRITE, preview, run)


@dataclass(frozen=True, slots=True)
class Change:
    """A file about to be edited: texts with LF before and after, its bytes, and what the model should know."""

    path: Path
    before: str
    after: str
    data: bytes
    notes: tuple[str, ...]
    places: int


def _planned(workspace: Workspace, arguments: Arguments) -> Change:
    path = workspace.to_write(arguments["path"])
    name = workspace.shown(path)
    if not path.exists():
        workspace.to_read(arguments["path"])
    data = workspace.load(path)
    form = encoding.detect(data)
    if form is None:
        raise ToolFault(f"{name} is binary; edit works on text.")
    raw = form.decode(data[len(form.bom) :])
    text = Lines.of(encoding.shown(raw))
    old, new = (lines.to_lf(arguments[part]).removeprefix("\ufeff") for part in ("old", "new"))
    spans, is_loose = _places(name, text.lf, old, bool(arguments.get("all")))
    notes = _notes(workspace, path, data, is_loose)
    exact = Lines.of(raw)
    splices: list[tuple[Span, str]] = []
    for span in spans:
        hit = text.lf[span.start : span.end]
        changed, part = _changed(span, hit, restyle(hit, old, new) if is_loose else new)
        splices.append((changed, part.replace("\n", _line_end(exact, span))))
    edited = _spliced(data, form, exact, splices, name)
    if edited == data:
        raise ToolFault(f"{name} is unchanged: new is the same as what stands there.")
    after = lines.to_lf(encoding.shown(form.decode(edited[len(form.bom) :])))
    return Change(path, text.lf, after, edited, notes, len(spans))


def _places(name: str, text: str, old: str, everywhere: bool) -> tuple[list[Span], bool]:
    """Where to edit, and whether white space had to be passed over. Raises ToolFault for none or too many."""
    if not old:
        raise ToolFault("old is empty. Give the text to replace; write makes a new file.")
    spans, is_loose = match.exact(text, old), False
    if not spans:
        spans, is_loose = match.loose(text, old), True
    if not spans:
        raise ToolFault(_not_found(name, text, old))
    if len(spans) > 1 and not everywhere:
        where = ", ".join(str(text.count("\n", 0, span.start) + 1) for span in spans[:10])
        more = " and more" if len(spans) > 10 else ""
        raise ToolFault(
            f"Not edited: old is in {name} {len(spans)} times, at lines {where}{more}. "
            "Add a line before or after to old so that it is there once, or set all=true."
        )
    return spans, is_loose


def _not_found(name: str, text: str, old: str) -> str:
    if pasted := match.pasted(old):
        return f"Not edited: old is not in {name}. {pasted}"
    number, there = match.nearest(text, old)
    if not there:
        return f"Not edited: old is not in {name}, nor anything like it. Search for a word of it, then read there."
    shown = "\n".join(clip_line(line, 300) for line in there)
    return (
        f"Not edited: old is not in {name}. Nearest, from line {number}:\n{shown}\n"
        f"[first difference: {match.difference(there, old)}]"
    )


def _notes(workspace: Workspace, path: Path, data: bytes, is_loose: bool) -> tuple[str, ...]:
    notes: list[str] = []
    if is_loose:
        notes.append("old differed in white space; the file's own was kept")
    if workspace.staleness(path, data).startswith(workspace.CHANGED):
        notes.append("the file was changed by someone else since you read it")
    return tuple(notes)


def _changed(span: Span, hit: str, replacement: str) -> tuple[Span, str]:
    """The part of the span that really changes, so that what both share keeps its bytes."""
    most = min(len(hit), len(replacement))
    head = next((n for n in range(most) if hit[n] != replacement[n]), most)
    rest = most - head
    tail = next((n for n in range(rest) if hit[-1 - n] != replacement[-1 - n]), rest)
    return Span(span.start + head, span.end - tail), replacement[head : len(replacement) - tail]


def _spliced(data: bytes, form: Form, text: Lines, splices: list[tuple[Span, str]], name: str) -> bytes:
    """`data` with each span, in rising order, replaced."""
    pieces: list[bytes] = []
    kept_to, raw_at, byte_at = 0, 0, len(form.bom)
    for span, part in splices:
        start, end = text.raw_at(span.start), text.raw_at(span.end)
        first = byte_at + len(form.encode(text.raw[raw_at:start]))
        last = first + len(form.encode(text.raw[start:end]))
        pieces += [data[kept_to:first], encoded(form, part, name)]
        kept_to, raw_at, byte_at = last, end, last
    return b"".join([*pieces, data[kept_to:]])


def _line_end(text: Lines, span: Span) -> str:
    """The line end of what old matched, else of what is around it, else of the file."""
    start, end = text.raw_at(span.start), text.raw_at(span.end)
    for part in (text.raw[start:end], text.raw[max(0, start - 4_000) : end + 4_000]):
        if found := lines.style(part, ""):
            return found
    return lines.style(text.raw)


def _report(name: str, change: Change) -> str:
    shown = diff.unified(name, change.before, change.after, 1, MAX_SHOWN_LINE_CHARS).split("\n", 2)[-1]
    if len(shown) > MAX_SHOWN_DIFF_CHARS:
        shown = shown[:MAX_SHOWN_DIFF_CHARS] + "\n…"
    places = "1 place" if change.places == 1 else f"{change.places} places"
    return "\n".join([shown, f"[{'; '.join([f'{name} edited in {places}', *change.notes])}]"])
