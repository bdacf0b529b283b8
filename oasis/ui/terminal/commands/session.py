"""/resume, /new, /export."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from oasis.errors import SessionFault
from oasis.ui.terminal.commands.base import Command
from oasis.ui.terminal.listing import counted
from oasis.ui.terminal.paint import one_line
from oasis.ui.terminal.resuming import resume

if TYPE_CHECKING:
    from oasis.ui.terminal.workplace import Workplace

OFFERED = 9


async def _resume(place: "Workplace", argument: str) -> None:
    if argument:
        await resume(place, argument)
        return
    listed = _listed(place)
    if not listed:
        place.say("There is no other session of this project.")
        return
    picked = await place.desk.pick("Which session goes on? (Esc: none)", [text for _, text in listed])
    if picked is None:
        place.say("/resume ID goes on with an older one; Tab completes it.")
    else:
        await resume(place, listed[picked][0])


def _listed(place: "Workplace") -> list[tuple[str, str]]:
    """The other sessions of the project that were used last: id, and what there is to know it by."""
    from oasis.agent.kept import load  # noqa: PLC0415
    from oasis.agent.sessions import first_task  # noqa: PLC0415

    found: list[tuple[str, str]] = []
    for path in _files(place):
        if len(found) == OFFERED:
            break
        try:
            kept = load(path, to_show=True)
        except SessionFault:
            continue
        task = one_line(first_task(kept), place.brush.width)
        found.append((path.stem, f"{path.stem}  {counted(kept.turns, 'turn')}  {task}"))
    return found


def _files(place: "Workplace") -> list[Path]:
    from oasis.agent.sessions import about, session_files  # noqa: PLC0415

    talk = place.conversation
    own = talk.session.path if talk.session else None
    project = str(talk.project)
    return [path for path in session_files() if path != own and about(path).get("project") == project]


def _ids(place: "Workplace") -> Sequence[str]:
    return ["last", *(path.stem for path in _files(place)[:20])]


async def _new(place: "Workplace", argument: str) -> None:
    await place.conversation.begin()
    place.say("A new session begins with your next message.")


async def _export(place: "Workplace", argument: str) -> None:
    from oasis.agent.export import as_json, as_markdown, save  # noqa: PLC0415
    from oasis.agent.masking import known_secrets  # noqa: PLC0415

    talk, session = place.conversation, place.conversation.session
    if session is None:
        raise SessionFault("There is nothing to export yet: the session begins with your first message.")
    target = (talk.project / (argument or f"{session.id}.md")).resolve()
    key = talk.equipped.settings.api_key
    made = as_json if target.suffix == ".json" else as_markdown
    save(target, made(session.path, [*known_secrets(os.environ), *([key] if key else [])]))
    name = target.relative_to(talk.project) if target.is_relative_to(talk.project) else target
    place.say(f"Wrote {name}.")


def _names(place: "Workplace") -> Sequence[str]:
    session = place.conversation.session
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
