"""Going on with a session: its last turns are shown as they were."""

from typing import TYPE_CHECKING

from oasis.core.items import Assistant, ToolOutput, User
from oasis.errors import OasisError
from oasis.ui.terminal.listing import counted

if TYPE_CHECKING:
    from oasis.agent.session import Session
    from oasis.ui.terminal.workplace import Workplace

SHOWN_TURNS = 2


async def resume(place: "Workplace", name: str) -> None:
    """Go on with a session and show its last turns. A session that cannot be resumed is told about."""
    try:
        session = await place.conversation.resume(name)
    except OasisError as fault:
        place.say(str(fault))
        return
    show_turns(place, session)
    place.redraw()


def show_turns(place: "Workplace", session: "Session") -> None:
    """Print the last turns of a session as they were."""
    feed = place.feed
    items = session.transcript.items
    starts = [n for n, item in enumerate(items) if isinstance(item, User)]
    first = starts[-SHOWN_TURNS] if len(starts) >= SHOWN_TURNS else 0
    if (earlier := len(starts) - SHOWN_TURNS) > 0:
        verb = "is" if earlier == 1 else "are"
        place.say(f"{counted(earlier, 'earlier message')} of yours {verb} not shown; /export writes them all.")
    for item in items[first:]:
        match item:
            case User():
                feed.person(item.text)
            case Assistant():
                if item.text.strip():
                    feed.writing.message(item.text)
            case ToolOutput():
                number = place.drawer.put(item.name, item.text)
                feed.note(f"{place.brush.signs.dot} {item.name} ({item.status}) #{number}")
            case _:
                pass
