"""/status and /quit."""

from typing import TYPE_CHECKING

from oasis.ui.terminal.commands.base import Command
from oasis.ui.terminal.listing import counted, rows

if TYPE_CHECKING:
    from oasis.ui.terminal.workplace import Workplace


async def _status(place: "Workplace", argument: str) -> None:
    talk, status = place.conversation, place.status()
    session = talk.session
    told = [
        ("model", f"{status.model or 'none'}{f', {status.lane} lane' if status.lane else ''}"),
        ("project", str(talk.project)),
        ("session", session.id if session else "not begun; its file is made with the first message"),
        ("permissions", status.mode),
    ]
    if session is not None:
        usage = session.usage
        so_far = f"{counted(session.turns, 'turn')}, {counted(session.steps, 'step')}, epoch {session.transcript.epoch}"
        told.append(("so far", so_far))
        if usage.is_cache_known:
            new = f", {session.new_tokens:,} new" if session.new_tokens else ""
            told.append(
                ("prompt tokens", f"{usage.prompt_tokens:,} presented, {usage.computed_tokens:,} computed{new}")
            )
        if status.amplification is not None:
            told.append(("amplification", f"{status.amplification:.3f} (1.00 is the limit)"))
    if status.used is not None:
        told.append(("context", f"{status.used:,} of {status.limit:,} tokens" if status.limit else f"{status.used:,}"))
    told.append(("packs", ", ".join(status.packs) or "none"))
    told.append(("site file", f"{status.site or 'none'}, {'WRITING POSSIBLE' if status.can_write else 'no writing'}"))
    told.append(("state saved", "yes" if talk.connection and talk.connection.kv else "no"))
    place.feed.say(rows(told))


async def _quit(place: "Workplace", argument: str) -> None:
    place.end()


COMMANDS = (
    Command("status", "", "model, session, figures, permissions, plant (/cost too)", _status),
    Command("quit", "", "end the session; it can be resumed (/exit too)", _quit),
)
