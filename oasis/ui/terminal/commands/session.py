"""/resume, /new, /export."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from oasis.core.items import Assistant, ToolOutput, User
from oasis.errors import OasisError, SessionFault
from oasis.ui.terminal.commands.about import counted
from oasis.ui.terminal.commands.base import Command
from oasis.ui.terminal.paint import one_line

if TYPE_CHECKING:
    from oasis.agent.session import Session
    from oasis.ui.terminal.terminal import Terminal

SHOWN_TURNS = 2
OFFERED = 9


async def resume(terminal: "Terminal", name: str) -> None:
    """Go on with a session and show its last turns. A session that cannot be resumed is told about."""
    try:
        session = await terminal.conversation.resume(name)
    except OasisError as fault:
        terminal.say(str(fault))
        return
    show_turns(terminal, session)
    terminal.redraw()


def show_turns(terminal: "Terminal", session: "Session") -> None:
    """Print the last turns of a session as they were."""
    feed = terminal.feed
    items = session.transcript.items
    starts = [n for n, item in enumerate(items) if isinstance(item, User)]
    first = starts[-SHOWN_TURNS] if len(starts) >= SHOWN_TURNS else 0
    if (earlier := len(starts) - SHOWN_TURNS) > 0:
        verb = "is" if earlier == 1 else "are"
        terminal.say(f"{counted(earlier, 'earlier message')} of yours {verb} not shown; /export writes them all.")
    for item in items[first:]:
        match item:
            case User():
                feed.person(item.text)
            case Assistant():
                if item.text.strip():
                    feed.message(item.text)
            case ToolOutput():
                number = terminal.drawer.put(item.name, item.text)
                feed.note(f"{terminal.brush.signs.dot} {item.name} ({item.status}) #{number}")
            case _:
                pass


async def _resume(terminal: "Terminal", argument: str) -> None:
    if argument:
        await resume(terminal, argument)
        return
    listed = _listed(terminal)
    if not listed:
        terminal.say("There is no other session of this project.")
        return
    picked = await terminal.desk.pick("Which session goes on? (Esc: none)", [text for _, text in listed])
    if picked is None:
        terminal.say("/resume ID goes on with an older one; Tab completes it.")
    else:
        await resume(terminal, listed[picked][0])


def _listed(terminal: "Terminal") -> list[tuple[str, str]]:
    """The newest other sessions of the project: id, and what there is to know it by."""
    from oasis.agent.kept import load  # noqa: PLC0415
    from oasis.agent.sessions import first_task  # noqa: PLC0415

    found: list[tuple[str, str]] = []
    for path in _files(terminal):
        if len(found) == OFFERED:
            break
        try:
            kept = load(path, to_show=True)
        except SessionFault:
            continue
        task = one_line(first_task(kept), terminal.brush.width)
        found.append((path.stem, f"{path.stem}  {counted(kept.turns, 'turn')}  {task}"))
    return found


def _files(terminal: "Terminal") -> list[Path]:
    from oasis.agent.sessions import about, session_files  # noqa: PLC0415

    talk = terminal.conversation
    own = talk.session.path if talk.session else None
    project = str(talk.project)
    return [path for path in session_files() if path != own and about(path).get("project") == project]


def _ids(terminal: "Terminal") -> Sequence[str]:
    return ["last", *(path.stem for path in _files(terminal)[:20])]


async def _new(terminal: "Terminal", argument: str) -> None:
    await terminal.conversation.begin()
    terminal.say("A new session begins with your next message.")


async def _export(terminal: "Terminal", argument: str) -> None:
    talk = terminal.conversation
    written = talk.export(argument)
    name = written.relative_to(talk.project) if written.is_relative_to(talk.project) else written
    terminal.say(f"Wrote {name}.")


def _names(terminal: "Terminal") -> Sequence[str]:
    session = terminal.conversation.session
    return [f"{session.id}.md", f"{session.id}.json"] if session else ()


COMMANDS = (
    Command("resume", "[ID|last]", "go on with another session of this project", _resume, _ids, is_for_idle=True),
    Command("new", "", "begin a new session (/clear too)", _new, is_for_idle=True),
    Command(
        "export",
        "[FILE]",
        "write this session as Markdown, or JSON where the name ends in .json, without secrets",
        _export,
        _names,
    ),
)
