"""`write`: a whole file or nothing."""

from dataclasses import dataclass
from pathlib import Path

from oasis import resources
from oasis.core.tool import Arguments, Outcome, Preview, Risk, Tool
from oasis.errors import ToolFault
from oasis.tools import atomic, diff, encoding, instructions, lines
from oasis.tools.encoding import Form
from oasis.tools.workspace import Workspace


def tool(workspace: Workspace) -> Tool:
    async def preview(arguments: Arguments) -> Preview:
        change = _planned(workspace, arguments)
        name = workspace.shown(change.path)
        title = f"{'Overwrite' if change.existed else 'Create'} {name}"
        return instructions.marked(
            workspace, change.path, Preview(title, name, diff.unified(name, change.before, change.after))
        )

    async def run(arguments: Arguments) -> Outcome:
        change = _planned(workspace, arguments)
        atomic.replace(change.path, change.data, workspace.shown(change.path))
        workspace.saw(change.path, change.data)
        count = len(change.after.splitlines())
        before = len(change.before.splitlines())
        how = "overwritten" if change.existed else "created"
        lost = f"; it had {before} lines" if before > count else ""
        return Outcome(f"[{workspace.shown(change.path)} {how}: {count} lines, {len(change.data):,} bytes{lost}]")

    return Tool(resources.tool_spec("write"), Risk.WRITE, preview, run)


@dataclass(frozen=True, slots=True)
class Change:
    """A file about to be written: texts with LF before and after, and its bytes."""

    path: Path
    existed: bool
    before: str
    after: str
    data: bytes


def _planned(workspace: Workspace, arguments: Arguments) -> Change:
    path = workspace.to_write(arguments["path"])
    content = arguments["content"].removeprefix("\ufeff")
    after = lines.to_lf(content)
    if not path.exists():
        return Change(path, False, "", after, encoded(encoding.UTF8, content, workspace.shown(path)))
    data = workspace.load(path)
    if reason := workspace.staleness(path, data):
        raise ToolFault(f"{workspace.shown(path)} exists and {reason}. Read it first, or change a part with edit.")
    form = encoding.detect(data)
    if form is None:
        raise ToolFault(f"{workspace.shown(path)} is binary; it is not overwritten with text.")
    before = form.decode(data[len(form.bom) :])
    raw = after.replace("\n", lines.style(before))
    data = form.bom + encoded(form, raw, workspace.shown(path))
    return Change(path, True, lines.to_lf(encoding.shown(before)), after, data)


def encoded(form: Form, text: str, name: str) -> bytes:
    """`text` in the file's encoding. Raises ToolFault naming the first character that it has not."""
    try:
        return text.encode(form.codec)
    except UnicodeEncodeError as fault:
        character = text[fault.start]
        raise ToolFault(
            f"{name} is {form.name} and {character!r} (U+{ord(character):04X}) cannot be written in it. "
            "Use characters that the file's encoding has."
        ) from fault
